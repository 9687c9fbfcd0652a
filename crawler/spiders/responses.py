"""The headers and types of responses, and the items made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from scrapy.http import HtmlResponse

from .. import chrome
from ..chrome.page.head import refresh_target
from ..dedup.identity import resolved
from ..files import FILE_TYPES, is_file
from ..items import Page
from ..pipelines.item_pages.values import PLAIN_TYPES, is_plain_text
from .arguments import host_of
from .links import encode_link

if TYPE_CHECKING:
    from scrapy.http import Headers, Response

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_DOCUMENT_TYPES: Final = FILE_TYPES.union(PLAIN_TYPES)
_ARCHIVE: Final = b"PK\x03\x04"
# Of Word files, some of which have document2.xml, and of EPUB.
_PARTS: Final = (b"word/document", b"META-INF/container.xml")
LONGEST_TITLE: Final = 1000  # characters of a title in an item
# Stopping a download costs the connection; up to this many bytes reading on is cheaper.
_READ_ON: Final = 64 * 1024
_TYPE_END = re.compile(r"[:;,\s]")
_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)
_UNKNOWN: Final = frozenset({"unknown/unknown", "application/unknown"})


def is_html(response: Response) -> bool:
    """Whether a response is an HTML page."""
    kind = media_type(header_of(response.headers, b"Content-Type"))
    # Without a type Scrapy has looked at the body, as browsers do.
    return kind in HTML_TYPES if kind else isinstance(response, HtmlResponse)


def is_document(response: Response) -> bool:
    """Whether a response is plain text, or a file whose text the filter reads."""
    if response.body.startswith(_ARCHIVE) and not any(part in response.body for part in _PARTS):
        return False  # such as a spreadsheet
    return is_plain_text(response) or is_file(response.body)


def is_worth_reading(headers: Headers, length: Any, *, takes_files: bool) -> bool:
    """Whether a response may be a page, or has a `length` that is cheaper to read than to stop."""
    # Scrapy would try to decompress a body that was cut off, and then retry.
    if b"Location" in headers or b"Content-Encoding" in headers:
        return True
    kind = media_type(header_of(headers, b"Content-Type"))
    wanted = HTML_TYPES | _DOCUMENT_TYPES if takes_files else HTML_TYPES
    return not kind or kind in wanted or (isinstance(length, int) and length <= _READ_ON)


def page_of_document(response: Response) -> Page:
    """The item of a response for which :func:`is_document` is true."""
    page = Page(url=response.url, fetched_at=_now(), status=response.status)
    if is_file(response.body):
        page.file = response.body
    else:
        page.text = response.text
    return page


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def hrefs_of(response: Response, document: chrome.Document, *, obeys_tags: bool) -> Iterator[str]:
    """Yield where a page leads; if it `obeys_tags`, without links that it asks not to follow."""
    for link in chrome.links(document):
        if not (link.nofollow and obeys_tags):
            yield encode_link(link.href, document.encoding)
    yield refresh_target(header_of(response.headers, b"Refresh"))


def base_of(response: Response, document: chrome.Document) -> str:
    """The base URL of the links of a page."""
    base = resolved(response.url, chrome.base(document) or "")
    # The page's own URL if its declared base has no host.
    return base if base and host_of(base) else response.url


def page_of(response: Response, document: chrome.Document, content: chrome.MainText | None) -> Page:
    """The item of a parsed page; without `content`, its text is extracted later."""
    base, named = base_of(response, document), chrome.canonical(document)
    page = Page(
        url=response.url,
        fetched_at=_now(),
        status=response.status,
        title=chrome.title(document)[:LONGEST_TITLE],
        canonical=_resolve_web_url(base, encode_link(named, document.encoding)) if named else None,
        date=chrome.published(document),
        text=content.text if content is not None else "",
        html=response.body.decode(document.encoding, "replace"),
    )
    page.main = content
    return page


def _resolve_web_url(base: str, url: str) -> str | None:
    """The absolute URL of a link; None unless it is http(s), because feeds must hold no scripts."""
    found = resolved(base, url)
    is_web = found is not None and found.lower().startswith(("http://", "https://"))
    return found if is_web and host_of(found or "") else None


def header_of(headers: Headers, name: bytes) -> str:
    """The value of a header, empty if missing."""
    return (headers.get(name) or b"").decode("latin-1")


def media_type(header: str) -> str:
    """The media type without its parameters, whatever separates them; empty if it says nothing.

    >>> media_type("Text/HTML; charset=utf-8"), media_type("text/html, text/html")
    ('text/html', 'text/html')
    >>> media_type("html"), media_type("*/*")
    ('', '')
    """
    kind = _TYPE_END.split(header.strip(), maxsplit=1)[0].lower()
    return kind if _TYPE.fullmatch(kind) and kind not in _UNKNOWN else ""
