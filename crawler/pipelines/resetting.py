"""``DEDUP_RESET``: start a crawl with an empty index, after a confirmation."""

from __future__ import annotations

import asyncio
import logging
import sys

from ..dedup.archive.database import archive_path, clear_archive
from ..dedup.config import DedupConfig
from ..dedup.errors import ConfigError
from ..dedup.store.namespaces import clear_index
from ..dedup.store.server.connect import server_name
from ..wording import counted

logger = logging.getLogger(__name__)


async def reset_if_asked(config: DedupConfig) -> None:
    """Delete the index and its archived texts if ``DEDUP_RESET`` says so.

    Raises :class:`ConfigError` if that is not confirmed, or there is no terminal to ask on.
    """
    if config.reset == "no":
        return
    if config.reset == "ask":
        _ask_person(
            f"Delete the index {config.namespace!r}, {server_name(config)}, and start anew?"
        )
    deleted = await clear_index(config)
    await asyncio.to_thread(clear_archive, archive_path(config))
    logger.info("The index %r is deleted (%s)", config.namespace, counted(deleted, "key"))


def _ask_person(question: str) -> None:
    if not sys.stdin.isatty():
        raise ConfigError(
            "DEDUP_RESET asks before it deletes an index, and nobody is here to answer: set "
            "DEDUP_RESET=yes to delete it without asking"
        )
    # Waiting for the answer holds nothing up: the crawl has not begun.
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ConfigError("DEDUP_RESET: nothing was deleted, and nothing is crawled")
