"""An error at the start of a crawl is one line in the log, not a traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from .dedup.errors import ConfigError, DedupError

_PACKAGE = __name__.rpartition(".")[0]
_TOLD = "(logged)"


def speak_plainly() -> None:
    """Log this package's own errors as their text alone when they end a crawl.

    Scrapy lets an exception that stops a crawl at its start fall through to asyncio, before 2.14 to
    Twisted, which logs it with a traceback, Twisted twice. Ours say what to do next; forty lines of
    frames would hide that.
    """
    for name in ("asyncio", "twisted"):
        logging.getLogger(name).addFilter(_text_only)


def mark_told(error: DedupError) -> None:
    """Note that the log has an error already."""
    error.add_note(_TOLD)


def _text_only(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if not isinstance(error, DedupError):
        return True
    if _TOLD in getattr(error, "__notes__", ()):
        return False
    mark_told(error)
    record.name, record.msg, record.args, record.exc_info = _PACKAGE, str(error), None, None
    record.levelno, record.levelname = logging.ERROR, logging.getLevelName(logging.ERROR)
    return True


@contextmanager
def name_setting(setting: str) -> Iterator[None]:
    """Turn the :class:`ValueError` of who reads a setting into one that names it."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{setting}: {error}") from None
