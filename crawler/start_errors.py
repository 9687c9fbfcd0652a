"""An error at the start of a crawl is one line in the log, without a traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from .dedup.errors import ConfigError, DedupError

_PACKAGE = __name__.rpartition(".")[0]
_TOLD = "(logged)"


def speak_plainly() -> None:
    """Log only the message of this package's errors if they end a crawl.

    Scrapy passes an exception at the start of a crawl to asyncio, before 2.14 to Twisted, which
    logs it with a traceback, Twisted twice. Our messages say what to do, and forty lines of frames
    would hide that.
    """
    for name in ("asyncio", "twisted"):
        logging.getLogger(name).addFilter(_text_only)


def mark_told(error: DedupError) -> None:
    """Note that an error has already been logged."""
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
def name_setting(setting: str, expected: str) -> Iterator[None]:
    """Turn a :class:`ValueError` into an error that names the setting, and what it expects."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{setting} expects {expected}: {error}") from None
