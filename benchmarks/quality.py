"""Precision, recall and F1 of every sketching method on texts whose true similarities are known.

    python benchmarks/quality.py --data FOLDER [--json] [--svg FILE] [--sets licenses tweets …]

FOLDER has a folder for each set:

- ``licenses``, ``news_mccormick``, ``html``: pairs are true at a threshold if the exact Jaccard
  coefficient of their word 5-shingles, of the words that all methods are given, reaches it;
- ``tweets``: pairs are true, at any threshold, if both are of one cluster.

A pair is found if the method makes it a candidate and its estimate reaches the threshold. Bands are
those that the index takes for the threshold, which find nearly all pairs, since candidates are
verified. datasketch, too, weighs misses more, as far as its documentation advises.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.sketch import environment
from benchmarks.tools.folders import lack_of, read_rows
from crawler.dedup.config import DedupConfig
from crawler.dedup.fingerprint import make_normaliser
from crawler.dedup.sketches import Sketcher, TwoStage
from crawler.dedup.sketches.lsh import fewest_bands
from crawler.dedup.sketches.method import SketchArray
from crawler.dedup.sketches.shingles import Shingler
from crawler.dedup.sketches.similarity import jaccard

if TYPE_CHECKING:
    from crawler.dedup.text.normaliser import Normaliser

Pair = tuple[int, int]
Scores = dict[Pair, float]
THRESHOLDS = (0.5, 0.8)
SETS = ("licenses", "news_mccormick", "html", "tweets")
LEAST = 0.4  # similarity of pairs in the truth
RECALL = (0.3, 0.7)  # datasketch's weights of false positives and negatives


@dataclass
class Texts:
    """A set of texts; truth maps pairs to their similarity, or to 1 where a label says so."""

    name: str
    texts: list[str]
    truth: Scores
    excluded: set[Pair] = field(default_factory=set)
    size: int = 5
    normaliser: Normaliser = field(default_factory=lambda: make_normaliser(DedupConfig()))

    @property
    def shingler(self) -> Shingler:
        return Shingler(size=self.size, normaliser=self.normaliser)


def load_texts(folder: Path, name: str) -> Texts:
    docs = read_rows(folder / name / ("pages.jsonl" if name == "html" else "docs.jsonl"))
    number = {doc["id"]: place for place, doc in enumerate(docs)}

    def pair(row: dict[str, Any]) -> Pair:
        a, b = sorted((number[row["a"]], number[row["b"]]))
        return a, b

    texts = [doc["gold_text" if name == "html" else "text"] for doc in docs]
    if name != "tweets":
        found, _ = by_shingles(Texts(name, texts, {}), LEAST)
        return Texts(name, texts, {two: value for two, value in found.items() if value >= LEAST})
    clusters: dict[str, list[int]] = {}
    for place, doc in enumerate(docs):
        clusters.setdefault(doc["cluster"], []).append(place)
    same: Scores = {two: 1.0 for members in clusters.values() for two in combinations(members, 2)}
    ambiguous = {pair(row) for row in read_rows(folder / name / "ambiguous_pairs.jsonl")}
    return Texts(name, texts, same, ambiguous, size=3, normaliser=SHORT)


# What docs/research/methods.md advises for short messages.
SHORT = make_normaliser(DedupConfig(ignore="case,marks,typography,urls,reposts"))


def pairs_sharing(keys: Iterable[Iterable[Any]], min_matches: int = 1) -> Iterator[Pair]:
    """Pairs of texts that share at least *min_matches* keys, or all keys of either."""
    holders: dict[Any, list[int]] = {}
    needed = []
    for number, own in enumerate(map(set, keys)):
        needed.append(min(min_matches, len(own)))
        for key in own:
            holders.setdefault(key, []).append(number)
    counts = Counter(two for holding in holders.values() for two in combinations(holding, 2))
    return ((a, b) for (a, b), count in counts.items() if count >= min(needed[a], needed[b]))


def by_sketch(
    texts: Texts, threshold: float, method: str, *, as_index: bool = False, **options: Any
) -> tuple[Scores, int]:
    """Estimates of all candidates of one of our methods, and bytes of sketch and keys a text.

    `as_index`, with `two-stage`: as an index verifies them.
    """
    if method in ("fast", "minwise", "one-permutation"):
        count = options.get("num_hashes", 200 if method == "minwise" else 256)
        chosen = fewest_bands(threshold, count)
        options |= {"bands": chosen.bands, "rows": chosen.rows}
    sketcher = Sketcher(method=method, size=texts.size, normaliser=texts.normaliser, **options)
    sketches = sketcher.sketch_many(texts.texts)
    keys = [sketcher.keys(sketch).tolist() for sketch in sketches]
    size = sum(sketch.nbytes + 4 * len(own) for sketch, own in zip(sketches, keys, strict=True))
    if sketcher.method.tables is not None:
        keys = [list(enumerate(own)) for own in keys]
    found = {
        (a, b): max(
            sketcher.estimate(sketches[a], sketches[b]).similarity,
            sketcher.estimate(sketches[b], sketches[a]).similarity,
        )
        for a, b in pairs_sharing(keys, sketcher.method.min_matches)
    }
    if as_index:
        found = dict(as_in_index(sketcher.method, sketches, found))
    return found, size // len(texts.texts)


def as_in_index(
    method: TwoStage, sketches: Sequence[SketchArray], found: Iterable[Pair]
) -> Iterator[tuple[Pair, float]]:
    """The candidates whose simhashes are near enough, and the resemblance that these estimate."""
    hashes = [method.simhash_part(sketch) for sketch in sketches]
    for a, b in found:
        similarity = method.second.estimate(hashes[a], hashes[b]).similarity
        if similarity >= method.least_similarity:
            yield (a, b), similarity


def by_shingles(texts: Texts, threshold: float) -> tuple[Scores, int]:
    """The Jaccard coefficient of all shingles."""
    shingles = [texts.shingler(text) for text in texts.texts]
    found = {
        (a, b): jaccard(shingles[a], shingles[b])
        for a, b in pairs_sharing(own.tolist() for own in shingles)
    }
    return found, sum(own.nbytes for own in shingles) // len(shingles)


def by_datasketch(texts: Texts, threshold: float) -> tuple[Scores, int]:
    """MinHash of 256 values, and the bands that the library chooses for recall."""
    from datasketch import MinHash, MinHashLSH

    grams = [
        [" ".join(words[i : i + texts.size]).encode() for i in range(len(words) - texts.size + 1)]
        or [" ".join(words).encode()]
        for words in (texts.normaliser.words(text) for text in texts.texts)
    ]
    sketches = MinHash.bulk(grams, num_perm=256)
    index = MinHashLSH(threshold=threshold, num_perm=256, weights=RECALL)
    found: Scores = {}
    for number, sketch in enumerate(sketches):
        for other in index.query(sketch):
            found[other, number] = sketches[other].jaccard(sketch)
        index.insert(number, sketch)
    return found, 256 * 8


def by_text_profile(texts: Texts, threshold: float) -> tuple[Scores, int]:
    """TextProfileSignature of Nutch and Solr: equal hashes of the frequent words."""

    def signature(text: str) -> str:
        counts = Counter(word for word in re.findall(r"[^\W_]+", text.lower()) if len(word) > 2)
        quantum = max(2, round(max(counts.values(), default=0) * 0.01))
        if max(counts.values(), default=0) == 1:
            quantum = 1
        kept = sorted(
            ((count // quantum * quantum, word) for word, count in counts.items()), reverse=True
        )
        profile = "\n".join(f"{word} {count}" for count, word in kept if count >= quantum)
        return hashlib.md5(profile.encode(), usedforsecurity=False).hexdigest()

    return dict.fromkeys(pairs_sharing([signature(text)] for text in texts.texts), 1.0), 16


METHODS: dict[str, Callable[[Texts, float], tuple[Scores, int]]] = {
    "exact Jaccard": by_shingles,
    "fast": partial(by_sketch, method="fast"),
    "minwise": partial(by_sketch, method="minwise"),
    "one-permutation": partial(by_sketch, method="one-permutation"),
    "smallest": partial(by_sketch, method="smallest"),
    "modulo 3, resemblance": partial(by_sketch, method="modulo", score="resemblance"),
    "modulo 3, containment": partial(by_sketch, method="modulo"),
    "supershingles": partial(by_sketch, method="supershingles"),
    "simhash 64": partial(by_sketch, method="simhash"),
    "two-stage": partial(by_sketch, method="two-stage", as_index=True),
    "two-stage, any distance": partial(by_sketch, method="two-stage"),
    "datasketch, 256 + LSH": by_datasketch,
    "TextProfileSignature": by_text_profile,
}


@dataclass(frozen=True)
class Result:
    """How well one method found the true pairs of one set at one threshold."""

    set: str
    method: str
    threshold: float
    precision: float
    recall: float
    f1: float
    seconds: float
    bytes_a_text: int


def score(texts: Texts, found: Scores, threshold: float) -> tuple[float, float, float]:
    true = {two for two, similarity in texts.truth.items() if similarity >= threshold}
    true -= texts.excluded
    positive = {two for two, similarity in found.items() if similarity >= threshold}
    positive -= texts.excluded
    hits = len(true & positive)
    precision = hits / len(positive) if positive else 1.0
    recall = hits / len(true) if true else 1.0
    return precision, recall, 2 * hits / (len(true) + len(positive)) if true or positive else 1.0


def measure(texts: Texts, method: str, threshold: float) -> tuple[Result, Scores]:
    start = time.process_time()
    found, size = METHODS[method](texts, threshold)
    seconds = time.process_time() - start
    quality = score(texts, found, threshold)
    return Result(texts.name, method, threshold, *quality, seconds, size), found


def trace_curves(texts: Texts, found: dict[str, Scores]) -> dict[str, list[tuple[float, ...]]]:
    """For each method, (threshold, precision, recall) from 0.5 to 0.95."""
    steps = np.arange(0.5, 0.96, 0.025).tolist()
    return {
        method: [(step, *score(texts, scores, step)[:2]) for step in steps]
        for method, scores in found.items()
    }


def svg(sets: dict[str, dict[str, list[tuple[float, ...]]]]) -> str:
    """Precision and recall over the threshold, a row of two panels for each set."""
    colours = ("#000", "#e6194b", "#f58231", "#bfa100", "#3cb44b", "#008080", "#4363d8", "#911eb4",
               "#f032e6", "#9a6324", "#800000", "#808080", "#aaa")  # fmt: skip
    width, height, margin = 360, 220, 40
    parts = []
    for row, (name, lines) in enumerate(sets.items()):
        for column, what in enumerate(("precision", "recall")):
            left, top = margin + column * (width + margin), margin + row * (height + 2 * margin)
            parts.append(
                f'<text x="{left}" y="{top - 8}">{name}: {what}</text>'
                f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" '
                'stroke="#999"/>'
            )
            for tick in (0.5, 0.6, 0.7, 0.8, 0.9):
                x = left + (tick - 0.5) / 0.45 * width
                parts.append(f'<text x="{x:.0f}" y="{top + height + 14}">{tick}</text>')
            for tick in (0, 0.5, 1):
                y = top + (1 - tick) * height
                parts.append(f'<text x="{left - 24}" y="{y + 4:.0f}">{tick}</text>')
            for colour, points in zip(colours, lines.values(), strict=False):
                path = " ".join(
                    f"{left + (point[0] - 0.5) / 0.45 * width:.1f},"
                    f"{top + (1 - point[1 + column]) * height:.1f}"
                    for point in points
                )
                parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}"/>')
    methods = next(iter(sets.values()))
    for line, (colour, method) in enumerate(zip(colours, methods, strict=False)):
        x, y = 2 * (width + margin) + 2 * margin, margin + 12 + 16 * line
        parts.append(f'<text x="{x}" y="{y}" fill="{colour}">{method}</text>')
    right, bottom = 2 * (width + margin) + 240, len(sets) * (height + 2 * margin) + margin
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" '
        f'font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path, help="draw precision and recall over the threshold")
    options = parser.parse_args()
    if lack := lack_of(options.data, options.sets):
        parser.error(f"argument --data: {lack}")
    results, pictures = [], {}
    if not options.json:
        print(" · ".join(f"{name} {version}" for name, version in environment().items()))
    for name in options.sets:
        texts = load_texts(options.data, name)
        loosest: dict[str, Scores] = {}
        if not options.json:
            print(f"\n{name}: {len(texts.texts)} texts, word {texts.size}-shingles")
            print(f"{'':24}{'P, R, F1 at .5':>20}{'P, R, F1 at .8':>20}{'ms/text':>9}{'bytes':>7}")
        for method in options.methods:
            here = []
            for threshold in THRESHOLDS:
                result, found = measure(texts, method, threshold)
                here.append(result)
                loosest.setdefault(method, found)
            results += here
            if not options.json:
                figures = "".join(
                    f"{one.precision:8.3f} {one.recall:.3f} {one.f1:.3f}" for one in here
                )
                cost = here[-1].seconds / len(texts.texts) * 1000
                print(f"{method:24}{figures}{cost:9.2f}{here[-1].bytes_a_text:7}")
        pictures[name] = trace_curves(texts, loosest)
    if options.json:
        rows = [vars(result) for result in results]
        print(json.dumps({"environment": environment(), "results": rows}, indent=2))
    if options.svg:
        options.svg.write_text(svg(pictures), encoding="utf-8")


if __name__ == "__main__":
    main()
