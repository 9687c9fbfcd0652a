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
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise, permutations
from pathlib import Path
from statistics import mean
from typing import Any

from quality import Texts, exactly, load, rows, score
from rapidfuzz.distance import Levenshtein
from sketch import environment
from typos_noise import mistyped, scanned
from typos_svg import svg

from crawler.dedup import jaccard, shingle_hashes
from crawler.dedup.phonetics import CODES
from crawler.dedup.spelling.dictionary import dictionary
from crawler.dedup.spelling.page import Page
from crawler.dedup.typos import ContextCorrector, corrector, hybrid

SIZES = (3, 4, 5)
FOUND = (0.3, 0.4, 0.5)
UNRELATED = 0.02
OWN = ("none", "typos", "scans", "bad-scans")
CORRECTORS = ("none", "dsound", "soundex", "metaphone", *OWN[1:])
RATES = (0, 0.02, 0.05, 0.1, 0.2)
LIBRARIES = ("doublemetaphone", "jellyfish", "rapidfuzz", "symspellpy", "wordfreq")
# Table II: common and not matching shingles of 3, 4, 5 words, without and with the approach.
PAPER_TABLE_2 = {
    "common, without": (254, 252, 247),
    "not matching, without": (26, 34, 42),
    "common, with": (265, 263, 262),
    "not matching, with": (7, 11, 12),
}
# Table IV: precision, recall, F-score.
PAPER_TABLE_4 = {
    "dsound": (0.837, 0.618, 0.711),
    "soundex": (0.783, 0.543, 0.641),
    "phonex": (0.764, 0.518, 0.617),
    "phonix": (0.796, 0.571, 0.665),
    "metaphone": (0.798, 0.562, 0.660),
}
WORDS_A_SOURCE = 1500


def j(a: str, b: str, size: int) -> float:
    return jaccard(shingle_hashes(a, size=size), shingle_hashes(b, size=size))


def table_2(pairs: list[dict[str, Any]]) -> dict[str, dict[str, tuple[int, ...]]]:
    """Common and not matching shingles of the Gettysburg Address, clean and mistyped or misread."""
    found = {}
    for pair in pairs:
        if not pair["id"].endswith("gettysburg"):
            continue
        counts: dict[str, tuple[int, ...]] = {}
        fixed = hybrid(pair["noisy"], pair["clean"])
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
    found = {"without": tuple(mean(j(p["clean"], p["noisy"], k) for p in pairs) for k in SIZES)}
    for name in CODES:
        fixed = [hybrid(pair["noisy"], pair["clean"], name=name) for pair in pairs]
        found[name] = tuple(
            mean(j(p["clean"], text, k) for p, text in zip(pairs, fixed, strict=True))
            for k in SIZES
        )
    return found


def table_4(data: Path) -> dict[str, dict[str, tuple[float, ...]]]:
    """Precision, recall and F of each code on misspelled words of each source.

    A code suggests the dictionary words of its bucket. As in the paper, that is right if the
    correct word is among them (their number is given as well); ``first`` takes the closest only.
    """
    words = dictionary().words
    sources = defaultdict(list)
    for row in rows(data / "misspellings" / "words.jsonl"):
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
                *measures(right, suggested, len(test)),
                measures(first, suggested, len(test))[2],
                mean(len(bucket) for bucket, _, _ in offered),
            )
    return dict(found)


def measures(right: int, suggested: int, asked: int) -> tuple[float, float, float]:
    precision, recall = right / max(1, suggested), right / asked
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def correction(name: str) -> Callable[[str], str]:
    return (lambda text: text) if name == "none" else corrector(name)


def own(pairs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """How close each corrector brings the pairs, and what it does to clean texts."""
    unrelated = [
        (a, b)
        for a, b in permutations(range(len(pairs)), 2)
        if j(pairs[a]["clean"], pairs[b]["clean"], 3) <= UNRELATED
    ]
    found = {}
    for name in CORRECTORS:
        correct = correction(name)
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
        different = [jaccard(shingles[3][a][0], shingles[3][b][1]) for a, b in unrelated]
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


def altered(texts: list[str]) -> dict[str, float]:
    """What ``typos`` does to clean texts: how many it touches, what share of the words it changes.

    Halves of words that it joins are counted apart.
    """
    correct = ContextCorrector()
    total = changed = joined = touched = 0
    for text in texts:
        total += len(Page(text, dictionary()).words)
        steps = [corrections for _, corrections in correct.steps(text)]
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
    for row in rows(data / "misspellings" / "words.jsonl"):
        misspellings[row["correct"]].append(row["misspelling"])
    news = [row["text"] for row in rows(data / "news_mccormick" / "docs.jsonl")][-30:]
    ways: dict[str, Callable[[str, float], str]] = {
        "mistyped": lambda text, rate: mistyped(text, rate, misspellings, chooser),
        "scanned": lambda text, rate: scanned(text, rate, chooser),
    }
    found = {}
    for rate in RATES:
        for way, spoil in ways.items() if rate else {"clean": lambda text, _: text}.items():
            spoiled = [spoil(text, rate) for text in news]
            similar = {
                name: mean(j(correct(a), correct(b), 3) for a, b in zip(news, spoiled, strict=True))
                for name, correct in ((name, correction(name)) for name in OWN)
            }
            fresh = loaded()
            cost = milliseconds(spoiled, fresh)
            found[f"{way} {rate:.0%}"] = {"J3": tuple(similar.values()), "ms": cost}
    return found


def loaded() -> ContextCorrector:
    """A corrector that remembers no word yet, with all that it needs in memory."""
    correct = ContextCorrector()
    correct("The thhree of them had not been to the sea, and so they went to it by the road.")
    return correct


def milliseconds(texts: list[str], first: Callable[[str], str]) -> tuple[float, float]:
    """CPU time for 1,000 words: a stream of texts seen for the first time, and seen again."""
    words = sum(len(text.split()) for text in texts)
    times = [time.process_time()]
    for _ in range(2):
        for text in texts:
            first(text)
        times.append(time.process_time())
    cold, warm = (1e6 * (b - a) / words for a, b in pairwise(times))
    return cold, warm


def precision(texts: Texts, name: str) -> dict[str, float]:
    """Precision, recall, F1 of a set at 0.8, by exact Jaccard of the corrected texts."""
    correct = correction(name)
    changed = Texts(texts.name, [correct(text) for text in texts.texts], texts.truth)
    return dict(
        zip(("precision", "recall", "f1"), score(texts, exactly(changed, 0.8)[0], 0.8), strict=True)
    )


def lines(report: dict[str, Any]) -> Iterator[str]:
    yield " · ".join(f"{name} {version}" for name, version in report["environment"].items())
    yield "\nTable II: shingles of 3, 4, 5 words, Gettysburg Address"
    for text, counts in {"the paper": PAPER_TABLE_2, **report["table 2"]}.items():
        yield f"{text:18}" + "  ".join(f"{what} {list(of)}" for what, of in counts.items())
    yield "\nFigure 3: mean share of common shingles (J3, J4, J5); the paper: 16 percent better"
    for name, values in report["figure 3"].items():
        yield f"{name:12}" + "".join(f"{value:8.3f}" for value in values)
    yield "\nTable IV: P, R, F (right if among those of the same code), F of the closest, bucket"
    for name, paper in PAPER_TABLE_4.items():
        yield f"{'the paper':12}{name:12}" + "".join(f"{value:8.3f}" for value in paper)
    for source, codes in report["table 4"].items():
        for name, values in codes.items():
            yield f"{source:12}{name:12}" + "".join(f"{value:8.3f}" for value in values)
    yield "\nPage by page: J3 J4 J5 · pairs with J3 ≥ .3, .4, .5 · of unrelated · closest · by kind"
    for name, one in report["own"].items():
        kinds = ", ".join(f"{kind} {value:.3f}" for kind, value in one["J3 by kind"].items())
        yield (
            f"{name:12}{' '.join(f'{value:.3f}' for value in one['mean'])} · {one['found']} · "
            f"{one['false pairs']} · {one['closest unrelated']:.3f} · {kinds}"
        )
    yield "\nClean words that `typos` alters"
    for name, shares in report["altered"].items():
        yield f"{name:12}" + ", ".join(f"{what} {value:.4g}" for what, value in shares.items())
    yield "\nms for 1,000 words with `typos`, seen first and again; seconds to load"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--svg", type=Path, help="draw how close the pairs come")
    options = parser.parse_args()
    start = time.process_time()
    fresh = loaded()
    loading = time.process_time() - start
    pairs = list(rows(options.data / "typo_pairs" / "pairs.jsonl"))
    clean, noisy = ([pair[side] for pair in pairs] for side in ("clean", "noisy"))
    sets = {name: load(options.data, name) for name in ("licenses", "html")}
    cost = {
        "loading": (loading,),
        "clean pairs": milliseconds(clean, fresh),
        "noisy pairs": milliseconds(noisy, fresh),
    }
    for name, texts in sets.items():
        cost[name] = milliseconds(texts.texts, fresh)
    libraries = {name: importlib.metadata.version(name) for name in LIBRARIES}
    report = {
        "environment": environment() | libraries,
        "table 2": table_2(pairs),
        "figure 3": figure_3(pairs),
        "table 4": table_4(options.data),
        "own": own(pairs),
        "altered": {"clean pairs": altered(clean)}
        | {name: altered(texts.texts) for name, texts in sets.items()},
        "cost": cost,
        "made up": made_up(options.data),
        "sets": {name: {way: precision(texts, way) for way in OWN} for name, texts in sets.items()},
    }
    print(json.dumps(report, indent=2) if options.json else "\n".join(lines(report)))
    if options.svg:
        options.svg.write_text(svg(pairs, report["own"]), encoding="utf-8")


if __name__ == "__main__":
    main()
