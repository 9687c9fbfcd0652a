"""The errors of this package, except the error about the spider's arguments."""

from __future__ import annotations


class DedupError(Exception):
    """Base class of all errors of this package. The message says what to do."""


class ConfigError(DedupError, ValueError):
    """A setting has an invalid name or value. The message names the setting."""


class InputError(DedupError, ValueError):
    """A file, URL or name that was given cannot be used."""


class ParameterMismatch(DedupError):
    """The index was made with other parameters than the current settings."""


class ServerError(DedupError):
    """The server that holds the index cannot be reached or cannot do its work."""


CLOSED = "the index was closed meanwhile"

# The libraries of each extra. A clone names these alone: its package has another name, and
# installing scrapy-neardup would compile the package once more.
EXTRAS = {
    "files": "mammoth pypdfium2",
    "report": "h11 jinja2 prometheus-client starlette uvicorn",
    "segment": "icu4py",
    "typos": "doublemetaphone jellyfish rapidfuzz symspellpy wordfreq",
}
_IS_INSTALLED = __name__.startswith("scrapy_neardup")


class MissingExtra(DedupError):
    """A library that an optional part needs is not installed."""

    def __init__(self, part: str, extra: str, cause: ImportError) -> None:
        what = f'"scrapy-neardup[{extra}]"' if _IS_INSTALLED else EXTRAS[extra]
        super().__init__(f"{part} needs pip install {what} ({cause})")
