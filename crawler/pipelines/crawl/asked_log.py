"""What the log says of dropped pages at the end of a crawl."""

from __future__ import annotations

import logging
from collections.abc import Set as AbstractSet
from typing import Final

from ...wording import counted

logger = logging.getLogger(__name__)

_SHOWN: Final = 10  # URLs that the log lists


def tell_asked(asked: int, kept: int) -> None:
    """Log how many pages were requested again, and how many of them are kept."""
    if asked:
        logger.info(
            "Requested %s again whose original had changed, was gone or was not seen, "
            "or whose site is better known by now: %d kept",
            counted(asked, "dropped page"),
            kept,
        )


def tell_missed(missed: AbstractSet[str], *, are_all: bool) -> None:
    """Log URLs of pages that could not be requested again."""
    if missed:
        shown = sorted(missed)[:_SHOWN]
        logger.warning(
            "%s%s: no kept page has the text of %s, and none could be requested again: "
            "%s%s. `scrapy dedup orphans` lists all",
            "" if are_all else "At least ",
            counted(len(missed), "orphan"),
            "it" if len(missed) == 1 else "them",
            ", ".join(map(repr, shown)),
            ", …" * (len(missed) > _SHOWN),
        )


def tell_forgotten(forgotten: int, most: int) -> None:
    """Log how many pages were not remembered, as there was room for `most` of them."""
    if forgotten:
        logger.warning(
            "%s more than DEDUP_ASK_AGAIN=%d waited for their originals and could not be "
            "remembered: `scrapy dedup orphans` lists those whose text no kept page has",
            counted(forgotten, "dropped page"),
            most,
        )
