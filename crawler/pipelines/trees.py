"""Trees that Scrapy has made of its responses, for items that carry their text or bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from scrapy.http import HtmlResponse

from ..chrome import Parsed

if TYPE_CHECKING:
    from scrapy.http import Response


class ResponseTrees:
    """Finds the tree of an item's page where the spider, or its link extractor, has made one.

    It is that of the response's selector. A response is known by its URL for as long as somebody
    else has it.
    """

    def __init__(self) -> None:
        self._responses: WeakValueDictionary[str, HtmlResponse] = WeakValueDictionary()

    def note(self, response: Response) -> None:
        """Take notice of a response."""
        if isinstance(response, HtmlResponse):
            self._responses[response.url] = response

    def of(self, url: str, html: str | bytes) -> Parsed | None:
        """The page at `url` as Scrapy has parsed it; None if it has not, or if `html` differs."""
        response = self._responses.get(url)
        # Not the public attribute, which would parse a page that nobody has looked at for attacks.
        selector = getattr(response, "_cached_selector", None)
        if response is None or selector is None:
            return None
        if html != (response.body if isinstance(html, bytes) else response.text):
            return None
        return Parsed(response.text, selector.root)
