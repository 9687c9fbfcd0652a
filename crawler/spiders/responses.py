"""What a response says of itself, and the item made of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .. import chrome
from ..dedup.identity import resolved
from ..items import Page

if TYPE_CHECKING:
    from scrapy.http import Headers, Response


def page_of(response: Response, document: chrome.Document, content: chrome.MainText) -> Page:
    """The item of a page that was parsed."""
    canonical = chrome.canonical(document)
    page = Page(
        url=response.url,
        fetched_at=datetime.now(UTC).isoformat(timespec="seconds"),
        status=response.status,
        title=content.title,
        canonical=resolved(response.url, canonical) if canonical else None,
        date=chrome.published(document),
        text=content.text,
        html=response.body.decode(document.encoding, "replace"),
    )
    page.main = content
    return page


def header_of(headers: Headers, name: bytes) -> str:
    """The value of a header, empty without one."""
    return (headers.get(name) or b"").decode("latin-1")


def media_type(header: str) -> str:
    """The type without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return header.partition(";")[0].strip().lower()
