"""What 128 bytes for verification are worth, and what an index decides with them about a stream.

    python benchmarks/verification.py --data FOLDER [--seeds 5] [--json]

FOLDER has a folder ``licenses``, as for benchmarks/quality.py. Of all its pairs at Jaccard 0.4 and
above: the standard error of the estimates of those between 0.7 and 0.9, and the F1 of those
estimated at 0.8 and above. Then the texts are checked in their order by an index on a private
server, and by datasketch's MinHashLSH of 256 values, which verify its candidates: a text should be
dropped if it resembles one that was kept before it by 0.8. Means over seeds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.quality import RECALL, Scores, Texts, load_texts, score
from benchmarks.sketch import environment
from benchmarks.tools.folders import folder_with
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, estimate, jaccard
from crawler.dedup.sketches import Sketcher
from crawler.dedup.sketches.odd import compare_odd, odd_sketches
from crawler.dedup.sketches.shingles import Shingler

THRESHOLD = 0.8
BITS = 1024
Estimator = Callable[[int, int], float]


def by_values(texts: Texts, seed: int, count: int, bits: int | None) -> Estimator:
    """Estimates from values of the fast similarity sketch, of which so many bits are kept."""
    sketcher = Sketcher(num_hashes=count, seed=seed, normaliser=texts.normaliser)
    sketches = sketcher.sketch_many(texts.texts)
    return lambda a, b: estimate(sketches[a], sketches[b], bits=bits).similarity


def by_odd(texts: Texts, seed: int) -> Estimator:
    """Estimates from odd sketches, at the level of the text that came first."""
    shingler = Shingler(seed=seed, normaliser=texts.normaliser)
    sketches = [odd_sketches(shingler(text), BITS, THRESHOLD) for text in texts.texts]

    def similarity(a: int, b: int) -> float:
        found = compare_odd(sketches[a][0], sketches[b], bits=BITS)
        return found.similarity if found else 0.0

    return similarity


ESTIMATORS: dict[str, Callable[[Texts, int], Estimator]] = {
    "32 values of 32 bits": lambda texts, seed: by_values(texts, seed, 32, None),
    "256 values of 4 bits": lambda texts, seed: by_values(texts, seed, 256, 4),
    "1,024 values of 1 bit": lambda texts, seed: by_values(texts, seed, 1024, 1),
    "odd sketch of 1,024 bits": by_odd,
}


def judge_estimator(texts: Texts, exact: Scores, similarity: Estimator) -> tuple[float, float]:
    """The standard error between 0.7 and 0.9, and F1 at the threshold."""
    found = {pair: similarity(*pair) for pair in exact}
    errors = [found[pair] - true for pair, true in exact.items() if 0.7 <= true <= 0.9]
    return math.sqrt(statistics.fmean(np.square(errors))), score(texts, found, THRESHOLD)[2]


def by_datasketch(texts: Texts, seed: int) -> Iterator[bool]:
    """Whether datasketch drops each text: its index finds a kept one whose sketch is similar."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=256, weights=RECALL)
    kept: dict[int, MinHash] = {}
    for number, text in enumerate(texts.texts):
        words = list(texts.normaliser.words(text))
        grams = range(max(1, len(words) - texts.size + 1))
        sketch = MinHash(num_perm=256, seed=seed)
        sketch.update_batch([" ".join(words[i : i + texts.size]).encode() for i in grams])
        dropped = any(kept[one].jaccard(sketch) >= THRESHOLD for one in index.query(sketch))
        if not dropped:
            index.insert(number, sketch)
            kept[number] = sketch
        yield dropped


def by_index(texts: Texts, seed: int) -> Iterator[bool]:
    """Whether an index drops each text."""

    async def check() -> list[bool]:
        with tempfile.TemporaryDirectory() as folder:
            config = DedupConfig(data_dir=Path(folder), threshold=THRESHOLD, seed=seed)
            async with DuplicateIndex.open(config) as index:
                pages = ((str(number), text) for number, text in enumerate(texts.texts))
                verdicts = await index.check_many(pages)
        return [verdict.kind in (Kind.EXACT, Kind.NEAR) for verdict in verdicts]

    yield from asyncio.run(check())


def judge_stream(texts: Texts, dropped: Iterator[bool]) -> float:
    """F1 of the texts dropped, of those that resemble one that was kept before them."""
    before: dict[int, list[int]] = {}
    for (a, b), similarity in texts.truth.items():
        if similarity >= THRESHOLD:
            before.setdefault(max(a, b), []).append(min(a, b))
    kept: set[int] = set()
    hits = wrong = missed = 0
    for number, is_dropped in enumerate(dropped):
        is_copy = any(one in kept for one in before.get(number, ()))
        hits += is_copy and is_dropped
        wrong += is_dropped and not is_copy
        missed += is_copy and not is_dropped
        if not is_dropped:
            kept.add(number)
    return 2 * hits / (2 * hits + wrong + missed)


STREAMS = {"this index": by_index, "datasketch, 256 values": by_datasketch}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=folder_with("licenses"), required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = load_texts(options.data, "licenses")
    shingles = [texts.shingler(text) for text in texts.texts]
    exact = {(a, b): jaccard(shingles[a], shingles[b]) for a, b in texts.truth}
    seeds = range(1, options.seeds + 1)
    report = {"environment": environment(), "pairs": len(texts.truth), "verified": {}, "stream": {}}
    for name, make in ESTIMATORS.items():
        found = [judge_estimator(texts, exact, make(texts, seed)) for seed in seeds]
        error, f1 = (statistics.fmean(column) for column in zip(*found, strict=True))
        report["verified"][name] = {"error": error, "f1": f1}
    for name, drop in STREAMS.items():
        f1s = [judge_stream(texts, drop(texts, seed)) for seed in seeds]
        report["stream"][name] = statistics.fmean(f1s)
    if options.json:
        print(json.dumps(report, indent=2))
        return
    print(" · ".join(f"{name} {version}" for name, version in report["environment"].items()))
    print(f"\n{report['pairs']} pairs\n{'':28}{'error':>8}{'F1':>8}")
    for name, row in report["verified"].items():
        print(f"{name:28}{row['error']:8.3f}{row['f1']:8.3f}")
    print("\nAs a stream                         F1")
    for name, value in report["stream"].items():
        print(f"{name:28}{value:10.3f}")


if __name__ == "__main__":
    main()
