"""The item of the site spider, one HTML page, and what items of any type have in a field."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from itemadapter import ItemAdapter

from .chrome import MainText
from .chrome.page.encoding import as_builtin


@dataclass
class Page:
    """A page as it was fetched, its main text, and what the filter decided about it.

    ``url`` is the address after redirects, ``fetched_at`` a UTC time in ISO 8601, ``date`` when the
    page says that it was published, in its own words. ``canonical`` is an http(s) address or None,
    ``title`` has up to 1,000 characters. ``html`` and ``text`` stay out of the log,
    which prints every dropped item. ``main`` is the main text with what the filter wants to know
    of it besides, and ``file`` the bytes of a PDF or the like, of which the filter takes the text;
    both are no fields, so that feeds do not hold them.
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
    """What an item has in a field, None if nothing; a :class:`~collections.defaultdict` gets none.

    Of an instance of a class derived from str or bytes, its text.

    >>> from collections import defaultdict
    >>> value_of(item := defaultdict(list, url="/"), "text"), dict(item)
    (None, {'url': '/'})
    """
    fields = ItemAdapter(item)
    value = fields.get(name) if name in fields.field_names() else None
    return as_builtin(value) if isinstance(value, (str, bytes)) else value
