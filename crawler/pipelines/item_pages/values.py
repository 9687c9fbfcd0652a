"""Values of item fields of any type: texts and URLs."""

from __future__ import annotations

from typing import Any, Final, TypeGuard

from lxml import etree
from parsel import Selector, SelectorList
from scrapy.http import HtmlResponse, JsonResponse, Response, TextResponse, XmlResponse

from ...chrome.page.encoding import begins_as_html
from ...dedup.ranks import only_value

PLAIN_TYPES: Final = ("text/plain", "text/markdown", "text/x-markdown")


def holds_html(response: Response) -> TypeGuard[TextResponse]:
    """Whether a response is an HTML page.

    What a service such as Splash has rendered is of a class of its own: it has a text, which is
    HTML.
    """
    if isinstance(response, HtmlResponse):
        return True
    is_other = isinstance(response, (JsonResponse, XmlResponse)) or is_plain_text(response)
    if is_other or not begins_as_html(response.body):
        return False
    return isinstance(getattr(response, "text", None), str)


def is_plain_text(response: Response) -> bool:
    """Whether a response is plain text, which Markdown is, too."""
    said = (response.headers.get("Content-Type") or b"").decode("latin-1").lower()
    return isinstance(response, TextResponse) and said.startswith(PLAIN_TYPES)


def is_blank(html: Any) -> bool:
    """Whether HTML is missing, or empty."""
    return html is None or (isinstance(html, (str, bytes)) and (not html or html.isspace()))


def text_of(value: Any) -> str | None:
    """A text, or the text of a selector; None for anything else."""
    value = only_value(value)
    if isinstance(value, SelectorList):
        return "\n".join(text for one in value if (text := text_of(one)))
    if isinstance(value, Selector):
        root = value.root
        value = str(root.xpath("string()")) if isinstance(root, etree._Element) else root
    return value if isinstance(value, str) else None


def joined_text(value: Any) -> str | None:
    """A text, or one of several such as paragraphs; None for anything else.

    >>> joined_text("Tea"), joined_text(["Tea", "Cake"]), joined_text([1, 2])
    ('Tea', 'Tea\\nCake', None)
    """
    if value and type(value) in (list, tuple) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    return text_of(value)


def url_of(value: Any) -> str | None:
    """A URL, also as an object such as Pydantic's HttpUrl; None for anything else.

    >>> from urllib.parse import urlsplit
    >>> url_of(["https://example.com/"]), url_of(urlsplit("https://example.com/a")), url_of(7)
    ('https://example.com/', 'https://example.com/a', None)
    """
    value = only_value(value)
    if hasattr(value, "geturl"):  # a result of urllib.parse
        value = value.geturl()
    elif hasattr(value, "scheme") and hasattr(value, "host"):  # Pydantic, yarl, httpx
        value = str(value)
    return text_of(value)
