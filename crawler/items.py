"""The item of the spider `site`, one HTML page, and the fields of items of any type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from itemadapter import ItemAdapter

from .chrome import MainText
from .chrome.page.encoding import as_builtin


@dataclass
class Page:
    """A page as fetched, its main text, and the verdict of the filter.

    ``url`` is the URL after redirects and ``fetched_at`` a UTC time in ISO 8601. ``date`` is the
    date of publication, as written in the page. ``canonical`` is an http(s) URL or None, and
    ``title`` has up to 1,000 characters. ``html`` and ``text`` are kept out of the log, which
    prints every dropped item. ``main`` is the main text with its details for the filter, and
    ``file`` the bytes of a file such as a PDF; neither is a field, so feeds do not contain them.
    """

    url: str
    fetched_at: str
    status: int
    title: str = ""
    canonical: str | None = None
    date: str | None = None
    text: str = field(default="", repr=False)
    html: str = field(default="", repr=False)
    dedup: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.main: MainText | None = None
        self.file: bytes | None = None


def value_of(item: Any, name: str) -> Any:
    """The value of an item's field, None if there is none.

    It adds nothing to a :class:`~collections.defaultdict`, and turns subclasses of str and bytes
    into plain ones.

    >>> from collections import defaultdict
    >>> value_of(item := defaultdict(list, url="/"), "text"), dict(item)
    (None, {'url': '/'})
    """
    return reader_of(item)(name)


def reader_of(item: Any) -> Callable[[str], Any]:
    """Make :func:`value_of` for one item: faster if several fields are read."""
    fields = ItemAdapter(item)
    names = fields.field_names()

    def read(name: str) -> Any:
        value = fields.get(name) if name in names else None
        return as_builtin(value) if isinstance(value, (str, bytes)) else value

    return read
