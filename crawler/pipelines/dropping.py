"""The reasons to drop a page."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from scrapy.exceptions import DropItem

from ..dedup.verdict import CONTAINED, Kind, Verdict
from ..wording import similarity_in_words


class DroppedPage(DropItem):
    """A page was dropped because ``DEDUP_DROP`` names its verdict.

    Scrapy counts drops by class, in ``item_dropped_reasons_count/…``.
    """

    def __init__(self, verdict: Verdict, kind: str) -> None:
        # Scrapy logs the whole item with the reason: at DEBUG, for there may be many.
        super().__init__(describe_verdict(verdict, kind), log_level="DEBUG")
        self.verdict = verdict
        self.kind = kind


class ExactDuplicate(DroppedPage):
    """The normalised text of the page equals that of a kept page."""


class NearDuplicate(DroppedPage):
    """The similarity of the page to a kept page reaches ``DEDUP_THRESHOLD``."""


class ContainedPage(DroppedPage):
    """A longer page has at least the share ``DEDUP_CONTAINMENT`` of the page."""


_CLASSES = {Kind.EXACT: ExactDuplicate, Kind.NEAR: NearDuplicate}


def drop_reason(verdict: Verdict, drop: AbstractSet[str]) -> DroppedPage | None:
    """The reason to drop a page, or None to let it pass.

    An unchanged copy is dropped like before, by its ``standing``. An unchecked page passes,
    whatever `drop` contains: no page is lost for lack of an answer. A page that is contained in
    another passes until the crawl has seen the other.

    >>> drop_reason(Verdict(Kind.EXACT, "/print", "/"), {Kind.EXACT})
    ExactDuplicate("exact: '/print' of '/'")
    >>> drop_reason(Verdict(Kind.UNIQUE, "/"), {Kind.EXACT}) is None
    True
    """
    if verdict.kind is Kind.UNCHECKED:
        return None
    for kind in (verdict.kind, verdict.standing):
        if kind is not None and kind in drop:
            return _CLASSES.get(kind, DroppedPage)(verdict, kind)
    if CONTAINED in drop and verdict.container is not None:
        return ContainedPage(verdict, CONTAINED)
    return None


def describe_verdict(verdict: Verdict, kind: str | None) -> str:
    """One line about a page: its verdict, its original and their similarity."""
    # repr: a URL with a line break must not begin a line of the log.
    line = f"{kind}: {verdict.url!r}"
    if kind == CONTAINED and verdict.container is not None:
        other, share, _ = verdict.container
        return f"{line} in {other!r}, share {similarity_in_words(share, 3)}"
    if verdict.duplicate_of is not None:
        line += f" of {verdict.duplicate_of!r}"
    if kind is Kind.NEAR and verdict.similarity is not None:
        measured = (verdict.similarity, verdict.low or 0.0, verdict.high or 0.0)
        similarity, low, high = (similarity_in_words(value, 3) for value in measured)
        line += f", similarity {similarity} ({low} to {high})"
    return line
