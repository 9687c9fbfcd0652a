"""Text to sketch: speed and error beside other libraries, all taking turns in one run.

    python benchmarks/sketch.py [--hashes 128 256] [--words 50 90 500 5000 50000] [--json]

Compared are datasketch's fastest (``MinHash.bulk`` with xxh32), rensa, FastSketchLSH and gaoya, all
if installed (``pip install datasketch rensa FastSketchLSH gaoya``). Every library starts from
the text; those that take tokens get words cut by ``str.split`` and joined to 5-grams, which is
less than our normalising does. gaoya cannot sketch without inserting into its index.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compiled import as_shipped
from crawler.dedup.sketches import Sketcher
from crawler.dedup.sketches.shingles import shingle_hashes
from crawler.dedup.sketches.similarity import jaccard

SIZE = 5
WORDS_A_ROUND = 100_000
PEERS = ("datasketch", "rensa", "FastSketchLSH", "gaoya", "numpy", "xxhash")


@dataclass(frozen=True)
class Contestant:
    """One way from texts to sketches, and if it can be asked, from two sketches to a similarity."""

    name: str
    sketch: Callable[[list[str]], Any]
    similarity: Callable[[Any, Any], float] | None = None


def five_grams(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[start : start + SIZE]) for start in range(len(words) - SIZE + 1)]


def list_contestants(hashes: int) -> Iterator[Contestant]:
    ours = Sketcher(hashes, SIZE)

    def share_equal(a: Any, b: Any) -> float:
        return float(np.mean(np.asarray(a) == np.asarray(b)))

    try:
        from datasketch import MinHash
    except ImportError:
        pass
    else:
        yield Contestant(
            "datasketch bulk, xxh32",
            lambda texts: MinHash.bulk(
                [[gram.encode() for gram in five_grams(text)] for text in texts],
                num_perm=hashes,
                hashfunc=xxhash.xxh32_intdigest,
            ),
            lambda a, b: a.jaccard(b),
        )
    yield Contestant("ours, sketch_many", ours.sketch_many, share_equal)
    yield Contestant(
        "ours, one by one", lambda texts: [ours.sketch(text) for text in texts], share_equal
    )
    minwise = Sketcher(hashes, SIZE, method="minwise")
    yield Contestant("ours, minwise", minwise.sketch_many, share_equal)
    oneperm = Sketcher(hashes, SIZE, method="one-permutation")
    yield Contestant("ours, one-permutation", oneperm.sketch_many, share_equal)
    yield Contestant("only str.split and 5-grams", lambda texts: [five_grams(t) for t in texts])
    try:
        from rensa import RMinHash
    except ImportError:
        pass
    else:
        yield Contestant(
            "rensa R-MinHash",
            lambda texts: RMinHash.from_token_sets([five_grams(t) for t in texts], hashes, 1),
            lambda a, b: a.jaccard(b),
        )
    try:
        import FastSketchLSH
    except ImportError:
        pass
    else:
        sketch = FastSketchLSH.FastSimilaritySketch(hashes, 1)
        yield Contestant(
            "FastSketchLSH",
            lambda texts: list(sketch.batch([five_grams(t) for t in texts], num_threads=1)),
            share_equal,
        )
    try:
        from gaoya.minhash import MinHashStringIndex
    except ImportError:
        pass
    else:

        def insert(texts: list[str]) -> None:
            index = MinHashStringIndex(
                32, 0.8, hashes // 8, 8, analyzer="word", ngram_range=(SIZE, SIZE)
            )
            for number, text in enumerate(texts):
                index.insert_document(number, text)

        yield Contestant("gaoya, with its index", insert)


class Texts:
    """Random documents whose words are as frequent and as long as words are (Zipf)."""

    def __init__(self, seed: int = 1) -> None:
        self._draw = np.random.default_rng(seed)
        lengths = self._draw.choice(range(1, 13), 50_000, p=_LENGTHS)
        letters = self._draw.choice(list("etaoinshrdlucmfwypvbgkjqxz"), (50_000, 12))
        self._vocabulary = [
            "".join(row[:length]) for row, length in zip(letters, lengths, strict=True)
        ]

    def words(self, count: int) -> list[str]:
        ranks = self._draw.zipf(1.2, count) % len(self._vocabulary)
        return [self._vocabulary[rank] for rank in ranks.tolist()]

    def document(self, count: int) -> str:
        return " ".join(self.words(count))

    def near_copy(self, document: str, changed: float) -> str:
        words = document.split()
        for place in np.flatnonzero(self._draw.random(len(words)) < changed).tolist():
            words[place] = f"new{self._draw.integers(1 << 40)}"
        return " ".join(words)


# Share of running words of English text that have 1 to 12 letters (Norvig 2013), rounded.
_LENGTHS = np.array([3, 18, 21, 15, 11, 8, 8, 6, 4, 3, 2, 1]) / 100


def time_runners(
    texts: list[str], runners: list[Contestant], rounds: int
) -> dict[str, list[float]]:
    """Seconds of each contestant in each round; they take turns, so that noise hits all alike."""
    seconds: dict[str, list[float]] = {runner.name: [] for runner in runners}
    for number in range(rounds + 1):
        for runner in runners:
            start = time.process_time()
            runner.sketch(texts)
            if number:  # the first round warms up
                seconds[runner.name].append(time.process_time() - start)
    return seconds


def mean_error(runner: Contestant, texts: Texts, words: int, hashes: int, pairs: int) -> float:
    """Mean squared error in units of J(1-J)/k, over pairs from J = 0.3 to 0.95."""
    assert runner.similarity is not None
    documents, truths = [], []
    for number in range(pairs):
        a = texts.document(words)
        b = texts.near_copy(a, (0.01, 0.02, 0.05, 0.1)[number % 4])
        documents += [a, b]
        truths.append(jaccard(shingle_hashes(a), shingle_hashes(b)))
    sketches = runner.sketch(documents)
    scaled = [
        (runner.similarity(sketches[2 * n], sketches[2 * n + 1]) - j) ** 2 / (j * (1 - j) / hashes)
        for n, j in enumerate(truths)
        if 0 < j < 1
    ]
    return statistics.fmean(scaled)


def environment() -> dict[str, str]:
    found = {"python": platform.python_version(), "machine": platform.machine(), "cpu": "?"}
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        found["cpu"] = f"{models[0].split(':')[1].strip()} x {len(models)}" if models else "?"
    for name in PEERS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def main() -> None:
    as_shipped()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hashes", type=int, nargs="+", default=[128, 256])
    parser.add_argument("--words", type=int, nargs="+", default=[50, 90, 500, 5000, 50_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=1000, help="pairs for the error; 0: skip it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    report: dict[str, Any] = {"environment": environment(), "results": []}
    if not options.json:
        print(" · ".join(f"{name} {version}" for name, version in report["environment"].items()))
    for hashes in options.hashes:
        runners = list(list_contestants(hashes))
        for words in options.words:
            texts = Texts()
            documents = [texts.document(words) for _ in range(max(2, WORDS_A_ROUND // words))]
            seconds = time_runners(documents, runners, options.rounds)
            base = seconds[runners[0].name]
            if not options.json:
                print(f"\n{hashes} values, {words} words ({len(documents)} documents a round)")
                print(
                    f"{'':28} {'docs/s':>9} {'x ' + runners[0].name.split(',')[0]:>18} {'MSE':>6}"
                )
            for runner in runners:
                row = {
                    "hashes": hashes,
                    "words": words,
                    "name": runner.name,
                    "documents_per_second": len(documents)
                    / statistics.median(seconds[runner.name]),
                    "ratio": statistics.median(
                        b / s for b, s in zip(base, seconds[runner.name], strict=True)
                    ),
                    "error": None,
                }
                if runner.similarity and options.pairs and words <= 500:
                    row["error"] = mean_error(runner, Texts(2), words, hashes, options.pairs)
                report["results"].append(row)
                if not options.json:
                    error = "" if row["error"] is None else f"{row['error']:.2f}"
                    print(
                        f"{runner.name:28} {row['documents_per_second']:9,.0f} "
                        f"{row['ratio']:18.2f} {error:>6}"
                    )
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print("\nMSE in units of J(1-J)/k, which is that of k independent permutations.")


if __name__ == "__main__":
    main()
