"""Texts for tests: originals that share nothing, and copies at a known distance."""

from __future__ import annotations

import random


def article(seed: int, words: int = 600) -> list[str]:
    """Words of a text that shares no shingle with that of another seed."""
    chooser = random.Random(seed)
    return [f"{chooser.randrange(5000)}x{seed}" for _ in range(words)]


def changed(words: list[str], places: int, seed: int = 0) -> list[str]:
    """The same text with some words replaced, far enough apart to change five shingles each."""
    copy = list(words)
    start = random.Random(seed).randrange(8)
    for place in range(places):
        copy[start + place * 8] = f"other{seed}"
    return copy


def text(words: list[str]) -> str:
    return " ".join(words)
