"""Copies with criteria by which one is the best of several, and which of them is."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from crawler.dedup.ranks import CriteriaValues

NEWS = datetime(2026, 5, 1, tzinfo=UTC)


def key_of(order: Sequence[str], page: CriteriaValues) -> tuple[float, ...]:
    """What is to be smallest, written once more in another way."""
    never = float("inf")
    date = max(1, int(page.date.timestamp())) if page.date else None
    score = page.fields.get("score")
    keys = {
        "canonical": page.names_other,
        "earlier": never if date is None else date,
        "later": never if date is None else -date,
        "longest": -page.words,
        "https": not page.url.startswith("https:"),
        "shortest-url": len(page.url),
        "score": never if score is None else -float(score),
        "field:https": 0,
    }
    return tuple(keys[word] for word in order)


class Page(NamedTuple):
    """A copy: which of the texts it has, and what is known of it."""

    variant: int
    values: CriteriaValues


def draw_pages(chooser: random.Random, number: int, texts: int) -> list[Page]:
    pages = []
    for n, variant in enumerate(chooser.choices(range(texts), k=5)):
        url = f"{chooser.choice(['http', 'https'])}://h{number}/{n}" + chooser.choice(["", "/x"])
        date = chooser.choice([None, NEWS, NEWS + timedelta(days=chooser.randrange(9))])
        fields = {"score": chooser.choice([None, 1, 2.5, -3])}
        pages.append(Page(variant, CriteriaValues(url, chooser.random() < 0.4, 0, date, fields)))
    return pages
