"""Texts for tests: originals that share nothing, copies at a known distance, and their luck."""

from __future__ import annotations

import random

from crawler.dedup.config import DedupConfig
from crawler.dedup.sketches.lsh import collision_probability


def article(seed: int, words: int = 600) -> list[str]:
    """Words of a text that shares no shingle with that of another seed."""
    draw, found = random.Random(seed).getrandbits, list[str]()
    while len(found) < words:  # as randrange draws, in a third of its time
        if (number := draw(13)) < 5000:
            found.append(f"{number}x{seed}")
    return found


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
