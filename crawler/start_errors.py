"""An error at the start of a crawl is one line in the log, not a traceback."""

from __future__ import annotations

import logging

from .dedup.errors import DedupError


def speak_plainly() -> None:
    """Log this package's own errors as their text alone when they end a crawl.

    Scrapy lets an exception that stops a crawl at its start fall through to asyncio, which logs it
    with a traceback. Ours say what to do next; forty lines of frames would hide that.
    """
    logging.getLogger("asyncio").addFilter(_text_only)


def _text_only(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, DedupError):
        record.msg, record.args, record.exc_info = str(error), None, None
    return True
