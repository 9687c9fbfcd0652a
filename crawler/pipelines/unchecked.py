"""Checks pages that passed unchecked, in this crawl or an earlier one, when the server answers."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from ..dedup.errors import ParameterMismatch
from ..wording import counted, left_unchecked
from .dropping import describe_verdict

if TYPE_CHECKING:
    from ..dedup import DuplicateIndex
    from .calls import Count

logger = logging.getLogger(__name__)


class Unchecked:
    """The spool of an index."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._foreign = 0  # lines for other indexes that have been logged

    async def replay_unchecked(self, index: DuplicateIndex) -> None:
        """Check the pages that passed unchecked, if the server answers now."""
        try:
            # In a thread, for there may be very many.
            waiting, foreign = await asyncio.to_thread(index.spooled)
        except OSError as error:
            logger.error(
                "Pages that passed unchecked cannot be read from DEDUP_DATA_DIR: %s", error
            )
            return
        if sum(foreign) > self._foreign:
            self._foreign = sum(foreign)
            logger.warning(
                "%s in crawls with another index, and wait in unchecked.jsonl "
                "(DEDUP_DATA_DIR). A crawl with that index (DEDUP_NAMESPACE, DEDUP_REDIS_URL) "
                "checks them. If it is deleted, or their lines are damaged, crawl them again and "
                "remove the file",
                left_unchecked(*foreign),
            )
        if not any(waiting):
            return
        checked = copies = 0
        told: list[str] = []
        try:
            async for verdict in index.replay(told.append):
                checked += 1
                self._count(f"dedup/replayed/{verdict.kind}")
                if verdict.duplicate_of is not None:
                    copies += 1
                    logger.info(
                        "Passed unchecked, but %s", describe_verdict(verdict, verdict.standing)
                    )
        except ParameterMismatch:
            logger.error(
                "%s, and the index was replaced by another: crawl again and "
                "remove unchecked.jsonl, which names what is missing, from DEDUP_DATA_DIR",
                left_unchecked(*waiting),
            )
            return
        except Exception as error:  # no error here may make the crawl fail
            pages, gone = waiting.pages - checked, waiting.gone - len(told)
            if pages or gone:
                logger.error(
                    "%s (%s); `scrapy dedup replay` checks that later",
                    left_unchecked(pages, gone),
                    error,
                )
            else:
                logger.error(
                    "What has been checked stays in unchecked.jsonl (DEDUP_DATA_DIR) and will be "
                    "checked once more: %s",
                    error,
                )
        if checked:
            logger.info(
                "Checked %s that had passed unchecked: %s",
                counted(checked, "page"),
                counted(copies, "copy", "copies"),
            )
