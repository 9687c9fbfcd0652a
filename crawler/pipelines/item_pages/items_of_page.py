"""Tells items of one page apart that different requests have brought."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter

from ...items import Page
from ...latest import Latest
from .carried import carried_by, code_of
from .item_texts import values_in

if TYPE_CHECKING:
    from scrapy import Request

_MOST: Final = 200_000  # hashes, three for each page with one item, some 100 bytes each


class ItemsOfPage:
    """Remembers the items of a crawl, and what their requests asked for and brought along.

    A form answers many requests with one page, and a spider may read the page of a seller for each
    product. Such items are different ones, although their pages are the same.
    """

    def __init__(self, *page_fields: str) -> None:
        self._page_fields = page_fields  # the same for all items of a page
        self._seen: Latest[int, None] = Latest(_MOST)

    def note_item(self, url: str, item: Any, request: Request) -> bool:
        """Note an item of the page at `url`; whether it is another one than those before.

        That takes two differences. A date may differ in items that are the same otherwise, and
        another list may have a request for the same item. A :class:`~...items.Page` is never
        another one, for all of it is of its page.
        """
        if type(item) is Page:  # a subclass may have other fields
            return False
        page = hash(url)
        of_item = of_request = page  # if the values of an item cannot be read, it is no other
        with suppress(Exception):
            values = dict(ItemAdapter(item))
            asked = [id(code_of(request.callback)), request.meta.get("rule"), request.body]
            asked += [request.cookies, sorted(_find_brought(values, request))]
            kept = [pair for pair in values.items() if pair[0] not in self._page_fields]
            of_item, of_request = hash((url, repr(kept))), hash((url, repr(asked)))
        is_other = page in self._seen and not {of_item, of_request} & self._seen.keys()
        for mark in page, of_item, of_request:
            self._seen[mark] = None
        return is_other


def _find_brought(values: dict[str, Any], request: Request) -> set[str]:
    """The values that came along with a request; numbers in its meta only if the item has them."""
    numbers = {str(one) for one in request.meta.values() if type(one) is int}
    return _as_text(*carried_by(request)) | (numbers & _as_text(values))


def _as_text(*values: Any) -> set[str]:
    return {str(one) for one in values_in(*values) if isinstance(one, (str, int))}
