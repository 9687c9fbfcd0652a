"""Texts for tests: originals that share nothing, copies at a known distance, and their luck."""

from __future__ import annotations

import random

import numpy as np

from crawler.dedup.config import DedupConfig
from crawler.dedup.sketches.lsh import collision_probability

_NUMBERS = [str(number) for number in range(5000)]


def article(seed: int, words: int = 600) -> list[str]:
    """Words of a text that shares no shingle with that of another seed."""
    # As randrange draws, several times as fast: of each 32 bits the first 13, if they suit.
    drawn = np.frombuffer(random.Random(seed).randbytes(8 * words + 256), "<u4") >> 19
    return [f"{_NUMBERS[number]}x{seed}" for number in drawn[drawn < 5000][:words].tolist()]


def changed(words: list[str], places: int, seed: int = 0) -> list[str]:
    """The same text with some words replaced, far enough apart to change five shingles each."""
    copy = list(words)
    start = random.Random(seed).randrange(8)
    for place in range(places):
        copy[start + place * 8] = f"other{seed}"
    return copy


def text(words: list[str]) -> str:
    return " ".join(words)


def missed(jaccard: float) -> float:
    """How likely an index with a seed of its own does not find a copy like this."""
    return 1 - float(collision_probability(jaccard, *DedupConfig().banding))
