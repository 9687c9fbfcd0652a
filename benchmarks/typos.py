"""Correction of typos before shingling: the DSound paper's tables, then this project's own way.

    python benchmarks/typos.py --data FOLDER [--json] [--svg FILE]

FOLDER has ``typo_pairs/pairs.jsonl`` (clean, noisy, kind), ``misspellings/words.jsonl``
(misspelling, correct, sources) and the sets ``licenses`` and ``html`` of benchmarks/quality.py.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import permutations, product
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compiled import as_shipped
from benchmarks.quality import Texts, by_shingles, load_texts, score
from benchmarks.sketch import environment
from benchmarks.spelling import paper
from benchmarks.spelling.noise import mistyped, scanned
from benchmarks.spelling.paper import SIZES, shingle_jaccard
from benchmarks.spelling.svg import svg
from benchmarks.tools.folders import folder_with, read_rows
from crawler.dedup import jaccard, shingle_hashes
from crawler.dedup.sketches.hashing import ShingleArray
from crawler.dedup.spelling.correction import ContextCorrector, Corrector, load_corrector
from crawler.dedup.spelling.dictionary import load_dictionary
from crawler.dedup.spelling.page_words import PageWords

FOUND = (0.3, 0.4, 0.5)
UNRELATED = 0.02
THRESHOLD = 0.8
CHARACTERS = (5, 7, 9)
STRICT = (0.8, 0.85, 0.9)
OWN = ("none", "typos", "scans", "bad-scans")
CORRECTORS = ("none", "dsound", "soundex", "metaphone", *OWN[1:])
WORDS_A_PAGE = 1000
ROUNDS = 5
RATES = (0, 0.02, 0.05, 0.1, 0.2)
LIBRARIES = ("doublemetaphone", "jellyfish", "rapidfuzz", "symspellpy", "wordfreq")


def load_correction(name: str) -> Callable[[str], str]:
    return (lambda text: text) if name == "none" else load_corrector(name)


def list_unrelated(pairs: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Places of clean texts that have nothing to do with each other."""
    return [
        (a, b)
        for a, b in permutations(range(len(pairs)), 2)
        if shingle_jaccard(pairs[a]["clean"], pairs[b]["clean"], 3) <= UNRELATED
    ]


def own(pairs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """How close each corrector brings the pairs, and what it does to clean texts."""
    found = {}
    for name in CORRECTORS:
        correct = load_correction(name)
        clean = [correct(pair["clean"]) for pair in pairs]
        noisy = [correct(pair["noisy"]) for pair in pairs]
        shingles = {
            size: [
                (shingle_hashes(a, size=size), shingle_hashes(b, size=size))
                for a, b in zip(clean, noisy, strict=True)
            ]
            for size in SIZES
        }
        similar = {size: [jaccard(a, b) for a, b in shingles[size]] for size in SIZES}
        different = [
            jaccard(shingles[3][a][0], shingles[3][b][1]) for a, b in list_unrelated(pairs)
        ]
        found[name] = {
            "mean": tuple(mean(similar[size]) for size in SIZES),
            "found": tuple(sum(one >= least for one in similar[3]) for least in FOUND),
            "false pairs": tuple(sum(one >= least for one in different) for least in FOUND),
            "closest unrelated": max(different),
            "each J3": similar[3],
            "J3 by kind": {
                kind: mean(
                    one for one, p in zip(similar[3], pairs, strict=True) if p["kind"] == kind
                )
                for kind in sorted({pair["kind"] for pair in pairs})
            },
        }
    return found


def measure_characters(pairs: list[dict[str, Any]], texts: Texts) -> dict[str, dict[str, Any]]:
    """The same with shingles of characters, uncorrected and corrected.

    Precision and recall are those of the pairs of *texts* whose resemblance is known.
    """
    true = {pair for pair, similarity in texts.truth.items() if similarity >= THRESHOLD}
    found = {}
    for size, name in product(CHARACTERS, ("none", "typos")):
        correct = load_correction(name)

        def shingles(text: str) -> ShingleArray:
            return shingle_hashes(correct(text), unit="char", size=size)  # noqa: B023

        clean = [shingles(pair["clean"]) for pair in pairs]
        noisy = [shingles(pair["noisy"]) for pair in pairs]
        similar = [jaccard(a, b) for a, b in zip(clean, noisy, strict=True)]
        different = [jaccard(clean[a], noisy[b]) for a, b in list_unrelated(pairs)]
        known = [shingles(text) for text in texts.texts]
        alike = {(a, b): jaccard(known[a], known[b]) for a, b in texts.truth}
        found[f"{size}, {name}"] = {
            "mean": mean(similar),
            "found": tuple(sum(one >= least for one in similar) for least in FOUND),
            "closest unrelated": max(different),
            "precision, recall": {
                least: (len(true & near) / len(near), len(true & near) / len(true))
                for least in STRICT
                if (near := {pair for pair, one in alike.items() if one >= least})
            },
        }
    return found


def count_altered(texts: list[str]) -> dict[str, float]:
    """What ``typos`` does to clean texts: how many it touches, what share of the words it changes.

    Halves of words that it joins are counted apart.
    """
    correct = ContextCorrector()
    total = changed = joined = touched = 0
    for text in texts:
        total += len(PageWords(text, load_dictionary()))
        steps = [corrections for _, corrections in correct.correct_in_steps(text)]
        touched += any(steps)
        joined += 2 * sum(map(len, steps[:1]))
        changed += sum(map(len, steps[1:]))
    return {
        "texts": len(texts),
        "touched": touched,
        "words": total,
        "altered": changed / total,
        "halves joined": joined / total,
    }


def made_up(data: Path) -> dict[str, dict[str, tuple[float, ...]]]:
    """News with made-up errors at known rates: mean J3 with each corrector, and what it costs."""
    chooser = random.Random(20)
    misspellings = defaultdict(list)
    for row in read_rows(data / "misspellings" / "words.jsonl"):
        misspellings[row["correct"]].append(row["misspelling"])
    news = [row["text"] for row in read_rows(data / "news_mccormick" / "docs.jsonl")][-30:]
    ways: dict[str, Callable[[str, float], str]] = {
        "mistyped": lambda text, rate: mistyped(text, rate, misspellings, chooser),
        "scanned": lambda text, rate: scanned(text, rate, chooser),
    }
    found = {}
    for rate in RATES:
        for way, spoil in ways.items() if rate else {"clean": lambda text, _: text}.items():
            spoiled = [spoil(text, rate) for text in news]
            similar = {
                name: mean(
                    shingle_jaccard(correct(a), correct(b), 3)
                    for a, b in zip(news, spoiled, strict=True)
                )
                for name, correct in ((name, load_correction(name)) for name in OWN)
            }
            found[f"{way} {rate:.0%}"] = {
                "J3": tuple(similar.values()),
                "ms": milliseconds(spoiled),
            }
    return found


def load_fresh(name: str) -> Corrector:
    """A corrector that remembers no word yet, with all that it needs in memory."""
    correct = load_corrector.__wrapped__(name)
    correct("The thhree of them had not been to the sea, and so they went to it by the road.")
    return correct


def milliseconds(texts: list[str], name: str = "typos") -> tuple[float, float]:
    """CPU time for 1,000 words: pages of about as many, seen for the first time and seen again.

    Of each page the smallest of ROUNDS: other programs on the machine only ever add to it.
    """
    pages = list(join_texts(texts))
    least = [[float("inf")] * 2 for _ in pages]
    for _ in range(ROUNDS):
        correct = load_fresh(name)
        for seen in range(2):
            for times, page in zip(least, pages, strict=True):
                start = time.process_time()
                correct(page)
                times[seen] = min(times[seen], time.process_time() - start)
    words = sum(len(text.split()) for text in texts)
    first, again = (1e6 * sum(times) / words for times in zip(*least, strict=True))
    return first, again


def join_texts(texts: list[str]) -> Iterator[str]:
    """*texts* one after another, as pages of at least WORDS_A_PAGE words."""
    page: list[str] = []
    for number, text in enumerate(texts, 1):
        page.append(text)
        if number == len(texts) or len(" ".join(page).split()) >= WORDS_A_PAGE:
            yield "\n".join(page)
            page = []


def measure_set(texts: Texts, name: str) -> dict[str, float]:
    """Precision, recall, F1 of a set at THRESHOLD, by exact Jaccard of the corrected texts."""
    correct = load_correction(name)
    changed = Texts(texts.name, [correct(text) for text in texts.texts], texts.truth)
    return dict(
        zip(
            ("precision", "recall", "f1"),
            score(texts, by_shingles(changed, THRESHOLD)[0], THRESHOLD),
            strict=True,
        )
    )


def lines(report: dict[str, Any]) -> Iterator[str]:
    yield " · ".join(f"{name} {version}" for name, version in report["environment"].items())
    yield from paper.lines(report)
    yield "\nPage by page: J3 J4 J5 · pairs with J3 ≥ .3, .4, .5 · of unrelated · closest · by kind"
    for name, one in report["own"].items():
        kinds = ", ".join(f"{kind} {value:.3f}" for kind, value in one["J3 by kind"].items())
        yield (
            f"{name:12}{' '.join(f'{value:.3f}' for value in one['mean'])} · {one['found']} · "
            f"{one['false pairs']} · {one['closest unrelated']:.3f} · {kinds}"
        )
    yield f"\nShingles of characters: J · pairs · closest unrelated · P, R of licences at {STRICT}"
    for name, one in report["characters"].items():
        quality = "  ".join(f"{p:.3f} {r:.3f}" for p, r in one["precision, recall"].values())
        closest = one["closest unrelated"]
        yield f"{name:12}{one['mean']:.3f} · {one['found']} · {closest:.3f} · {quality}"
    yield "\nClean words that `typos` alters"
    for name, shares in report["altered"].items():
        yield f"{name:12}" + ", ".join(f"{what} {value:.4g}" for what, value in shares.items())
    yield "\nms for 1,000 words, with `typos` unless said, seen first and again; seconds to load"
    for name, cost in report["cost"].items():
        yield f"{name:12}" + " ".join(f"{value:.2f}" for value in cost)
    yield f"\nNews with made-up errors: mean J3 with {', '.join(OWN)}; ms for 1,000 words"
    for name, values in report["made up"].items():
        parts = ("".join(f"{value:8.3f}" for value in part) for part in values.values())
        yield f"{name:14}" + " ·".join(parts)
    yield "\nPrecision, recall, F1 at 0.8, exact Jaccard of 5-shingles against uncorrected truth"
    for name, quality in report["sets"].items():
        for corrected, values in quality.items():
            yield f"{name:12}{corrected:12}" + "".join(f"{v:8.4f}" for v in values.values())


class Report(dict[str, Any]):
    """Parts that are measured when they are asked for, so that each is printed as soon as it is."""

    def __init__(self, parts: dict[str, Callable[[], Any]]) -> None:
        super().__init__()
        self.parts = parts

    def __missing__(self, name: str) -> Any:
        self[name] = self.parts[name]()
        return self[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=folder_with("typo_pairs"), required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path, help="draw how close the pairs come")
    options = parser.parse_args()
    as_shipped()
    start = time.process_time()
    load_fresh("typos")
    loading = time.process_time() - start
    pairs = read_rows(options.data / "typo_pairs" / "pairs.jsonl")
    clean, noisy = ([pair[side] for pair in pairs] for side in ("clean", "noisy"))
    sets = {name: load_texts(options.data, name) for name in ("licenses", "html")}
    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}

    def cost() -> dict[str, Any]:
        return {
            "loading": (loading,),
            "clean pairs": milliseconds(clean),
            "noisy pairs": milliseconds(noisy),
            "by scans": milliseconds(noisy, "scans"),
            "by bad-scans": milliseconds(noisy, "bad-scans"),
            **{name: milliseconds(texts.texts) for name, texts in sets.items()},
        }

    def alterations() -> dict[str, Any]:
        found = {name: count_altered(texts.texts) for name, texts in sets.items()}
        return {"clean pairs": count_altered(clean), **found}

    report = Report(
        {
            "environment": lambda: environment() | libraries,
            "table 2": lambda: paper.table_2(pairs),
            "figure 3": lambda: paper.figure_3(pairs),
            "table 4": lambda: paper.table_4(options.data),
            "own": lambda: own(pairs),
            "characters": lambda: measure_characters(pairs, sets["licenses"]),
            "altered": alterations,
            "cost": cost,
            "made up": lambda: made_up(options.data),
            "sets": lambda: {
                name: {way: measure_set(texts, way) for way in OWN} for name, texts in sets.items()
            },
        }
    )
    if options.json:
        print(json.dumps({name: report[name] for name in report.parts}, indent=2))
    else:
        for line in lines(report):
            print(line, flush=True)
    if options.svg:
        options.svg.write_text(svg(pairs, report["own"]), encoding="utf-8")


if __name__ == "__main__":
    main()
