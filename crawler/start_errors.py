"""An error at the start of a crawl is one line in the log, not a traceback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from .dedup.errors import ConfigError, DedupError

_PACKAGE = __name__.rpartition(".")[0]


def speak_plainly() -> None:
    """Log this package's own errors as their text alone when they end a crawl.

    Scrapy lets an exception that stops a crawl at its start fall through to asyncio, which logs it
    with a traceback. Ours say what to do next; forty lines of frames would hide that.
    """
    logging.getLogger("asyncio").addFilter(_text_only)


def _text_only(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, DedupError):
        record.name, record.msg, record.args, record.exc_info = _PACKAGE, str(error), None, None
    return True


@contextmanager
def naming(setting: str) -> Iterator[None]:
    """Turn the :class:`ValueError` of who reads a setting into one that names it."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{setting}: {error}") from None
