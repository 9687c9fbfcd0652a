"""What the fields of items hold, of whatever type: texts, URLs, dates."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from typing import Any

from lxml import etree
from parsel import Selector, SelectorList
from scrapy.http import Response, TextResponse


def is_plain_text(response: Response) -> bool:
    """Whether a response says that it is plain text."""
    said = (response.headers.get("Content-Type") or b"").lower()
    return isinstance(response, TextResponse) and said.startswith(b"text/plain")


def is_blank(html: Any) -> bool:
    """Whether HTML is missing, or empty."""
    return html is None or (isinstance(html, (str, bytes)) and (not html or html.isspace()))


def only_value(value: Any) -> Any:
    """The one value of a list of one, as an item loader without TakeFirst() makes them.

    >>> only_value(["Tea"]), only_value(["Tea", "Cake"])
    ('Tea', ['Tea', 'Cake'])
    """
    return value[0] if type(value) in (list, tuple) and len(value) == 1 else value


def text_of(value: Any) -> str | None:
    """A text, also that of a selector; None for what is none."""
    value = only_value(value)
    if isinstance(value, SelectorList):
        return "\n".join(text for one in value if (text := text_of(one)))
    if isinstance(value, Selector):
        root = value.root
        value = str(root.xpath("string()")) if isinstance(root, etree._Element) else root
    return value if isinstance(value, str) else None


def url_of(value: Any) -> str | None:
    """A URL, also one that is an object, as Pydantic's HttpUrl; None for what is none.

    >>> from urllib.parse import urlsplit
    >>> url_of(["https://example.com/"]), url_of(urlsplit("https://example.com/a")), url_of(7)
    ('https://example.com/', 'https://example.com/a', None)
    """
    value = only_value(value)
    if hasattr(value, "geturl"):  # what urllib takes apart
        value = value.geturl()
    elif hasattr(value, "scheme") and hasattr(value, "host"):  # Pydantic, yarl, httpx
        value = str(value)
    return text_of(value)


def read_date(value: Any) -> datetime | None:
    """A date, in UTC where it names no zone; None for what is none, as are other calendars' years.

    >>> read_date("2026-05-01T12:00:00+02:00").isoformat()
    '2026-05-01T12:00:00+02:00'
    >>> read_date("Fri, 01 May 2026 10:00:00 GMT").isoformat()
    '2026-05-01T10:00:00+00:00'
    >>> read_date("last week"), read_date("1405-02-11")
    (None, None)
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    elif isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            try:
                value = parsedate_to_datetime(value)
            except (ValueError, IndexError, OverflowError):
                return None
    # ISO 8601 begins with 1583; Persian and Islamic years are lower, Buddhist ones higher.
    if not isinstance(value, datetime) or not 1583 <= value.year <= datetime.now(UTC).year + 1:
        return None
    return value if value.utcoffset() is not None else value.replace(tzinfo=UTC)
