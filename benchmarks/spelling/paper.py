"""The tables of the DSound paper (IARIA 2015, 978-1-61208-408-4), with our texts.

benchmarks/typos.py prints them beside the paper's figures.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from rapidfuzz.distance import Levenshtein

from benchmarks.tools.folders import read_rows
from crawler.dedup import jaccard, shingle_hashes
from crawler.dedup.spelling.correction import correct_towards
from crawler.dedup.spelling.dictionary import load_dictionary
from crawler.dedup.spelling.phonetics import CODES

SIZES = (3, 4, 5)
# Table II: common and not matching shingles of 3, 4, 5 words, without and with the approach.
TABLE_2 = {
    "common, without": (254, 252, 247),
    "not matching, without": (26, 34, 42),
    "common, with": (265, 263, 262),
    "not matching, with": (7, 11, 12),
}
# Table IV: precision, recall, F-score.
TABLE_4 = {
    "dsound": (0.837, 0.618, 0.711),
    "soundex": (0.783, 0.543, 0.641),
    "phonex": (0.764, 0.518, 0.617),
    "phonix": (0.796, 0.571, 0.665),
    "metaphone": (0.798, 0.562, 0.660),
}
WORDS_A_SOURCE = 1500


def shingle_jaccard(a: str, b: str, size: int) -> float:
    return jaccard(shingle_hashes(a, size=size), shingle_hashes(b, size=size))


def table_2(pairs: list[dict[str, Any]]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Common and not matching shingles of the Gettysburg Address, clean and mistyped or misread."""
    found = {}
    for pair in pairs:
        if not pair["id"].endswith("gettysburg"):
            continue
        counts: dict[str, tuple[int, ...]] = {}
        fixed = correct_towards(pair["noisy"], pair["clean"])
        for when, text in (("without", pair["noisy"]), ("with", fixed)):
            both = []
            for size in SIZES:
                a, b = shingle_hashes(pair["clean"], size=size), shingle_hashes(text, size=size)
                common = len(set(a.tolist()) & set(b.tolist()))
                both.append((common, len(a) + len(b) - 2 * common))
            counts[f"common, {when}"] = tuple(common for common, _ in both)
            counts[f"not matching, {when}"] = tuple(rest for _, rest in both)
        found[pair["id"]] = counts
    return found


def figure_3(pairs: list[dict[str, Any]]) -> dict[str, tuple[float, ...]]:
    """Mean share of common shingles of all pairs, without and with each code."""
    found = {
        "without": tuple(
            mean(shingle_jaccard(p["clean"], p["noisy"], k) for p in pairs) for k in SIZES
        )
    }
    for name in CODES:
        fixed = [correct_towards(pair["noisy"], pair["clean"], name=name) for pair in pairs]
        found[name] = tuple(
            mean(shingle_jaccard(p["clean"], text, k) for p, text in zip(pairs, fixed, strict=True))
            for k in SIZES
        )
    return found


def table_4(data: Path) -> dict[str, dict[str, tuple[float, ...]]]:
    """Precision, recall and F of each code on misspelled words of each source.

    A code suggests the dictionary words of its bucket. As in the paper, that is right if the
    correct word is among them (their number is given as well); ``first`` takes the closest only.
    """
    words = load_dictionary().words
    sources = defaultdict(list)
    for row in read_rows(data / "misspellings" / "words.jsonl"):
        for source in row["sources"]:
            sources[source].append((row["misspelling"], row["correct"]))
    chooser = random.Random(1)
    tests = {
        source: chooser.sample(all_, min(WORDS_A_SOURCE, len(all_)))
        for source, all_ in sorted(sources.items())
    }
    found: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for name, code in CODES.items():
        buckets = defaultdict(list)
        for word in words:
            buckets[code(word)].append(word)
        for source, test in tests.items():
            offered = [(buckets.get(code(wrong), []), wrong, right) for wrong, right in test]
            suggested = sum(1 for bucket, _, _ in offered if bucket)
            right = sum(1 for bucket, _, correct in offered if correct in bucket)
            first = sum(
                1
                for bucket, wrong, correct in offered
                if bucket and min(bucket, key=lambda w: Levenshtein.distance(w, wrong)) == correct
            )
            found[source][name] = (
                *precision_recall(right, suggested, len(test)),
                precision_recall(first, suggested, len(test))[2],
                mean(len(bucket) for bucket, _, _ in offered),
            )
    return dict(found)


def precision_recall(right: int, suggested: int, asked: int) -> tuple[float, float, float]:
    precision, recall = right / max(1, suggested), right / asked
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def lines(report: dict[str, Any]) -> Iterator[str]:
    """Tables II and IV and Figure 3 of *report*, beside those of the paper."""
    yield "\nTable II: shingles of 3, 4, 5 words, Gettysburg Address"
    for text, counts in {"the paper": TABLE_2, **report["table 2"]}.items():
        yield f"{text:18}" + "  ".join(f"{what} {list(of)}" for what, of in counts.items())
    yield "\nFigure 3: mean share of common shingles (J3, J4, J5); the paper: 16 percent better"
    for name, values in report["figure 3"].items():
        yield f"{name:12}" + "".join(f"{value:8.3f}" for value in values)
    yield "\nTable IV: P, R, F (right if among those of the same code), F of the closest, bucket"
    for name, paper in TABLE_4.items():
        yield f"{'the paper':12}{name:12}" + "".join(f"{value:8.3f}" for value in paper)
    for source, codes in report["table 4"].items():
        for name, values in codes.items():
            yield f"{source:12}{name:12}" + "".join(f"{value:8.3f}" for value in values)
