"""What a request carries from the page that yielded it: items are begun there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from itemadapter import ItemAdapter

from .item_texts import PROSE, contains, texts_in
from .values import holds_html

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

CARRIED: Final = "dedup_carried"
"""Key in a request's meta: the texts it carries, and what is known about its siblings."""
GIVEN: Final = "dedup_given"
"""Key in a request's meta: the names of the callback arguments that it brings itself."""

_MOST: Final = 10_000  # texts of one page's requests that are compared
# Keys of a meta in which Scrapy puts texts.
_OF_SCRAPY: Final = frozenset(
    {"bindaddress", "download_slot", "link_text", "proxy", "redirect_reasons", "redirect_urls"}
)
_OWN: Final = "dedup_"  # begins the keys of this package


class BegunItem(NamedTuple):
    """The texts that an item had when its request was yielded; none if that tells nothing.

    One of its `own` has to be in the main text of its page. Several requests have the same
    `labels`, such as a category. If an item has nothing else, its page has to show one.
    """

    own: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()


class Siblings:
    """The requests that one callback has yielded for one response.

    Those for another callback are no siblings. A list begins several items, each with texts of its
    own, and completes each on its own page: their requests are siblings. A product's request for
    its reviews has none. A feed or the answer of an API is also a list, however short: it is not
    the page of an item.
    """

    def __init__(self, response: Response) -> None:
        self._is_list = not holds_html(response)
        self._known: dict[Any, tuple[dict[str, Any], set[str]]] = {}

    def note_request(self, request: Request) -> None:
        """Note in a request what it carries now: the callback will change the items."""
        request.meta.pop(GIVEN, None)  # of the response's request
        texts = texts_in(*carried_by(request))
        if not texts:
            request.meta.pop(CARRIED, None)
            return
        # All siblings have this very dict, so the first learns of the others; it can be pickled.
        shared = {"count": 0, "labels": [], "is_list": self._is_list}
        siblings, seen = self._known.setdefault(code_of(request.callback), (shared, set()))
        siblings["count"] += 1
        # What several have is a label, unless it is long.
        labels = {text for text in texts & seen if len(text.split()) < PROSE}
        siblings["labels"] += labels.difference(siblings["labels"])
        if len(seen) < _MOST:
            seen |= texts
        request.meta[CARRIED] = {"texts": sorted(texts), "siblings": siblings}


def note_given(request: Request) -> None:
    """Note the callback arguments of a request that is about to be scheduled."""
    request.meta[GIVEN] = tuple(request.cb_kwargs)


def drop_injected(request: Request) -> None:
    """Drop the callback arguments that were added on the way, when the callback has ended.

    With scrapy-poet these are page objects and items made of the response. A repeated request gets
    its own, and the whole response would stay in memory.
    """
    for name in request.cb_kwargs.keys() - _names_given(request):
        del request.cb_kwargs[name]


def _names_given(request: Request) -> Collection[str]:
    """The names of the callback arguments that a request brings: all, if it was not scheduled."""
    return set(request.meta.get(GIVEN, request.cb_kwargs))


def find_begun(item: Any, request: Request, *, is_named: bool) -> BegunItem | None:
    """The texts of an item that was begun on another page than the response of `request`.

    None if it was not. If the response has the texts, it is the item's page all the same: a list
    had told the item's title. `is_named` says that the item names the other page.
    """
    is_whole = is_named or is_carried(item, request)
    carried = request.meta.get(CARRIED)
    if carried is None:
        if request.meta.get("is_start_request") and is_whole:
            return BegunItem(texts_in(item) & texts_in(*carried_by(request)))
        return BegunItem() if is_whole else None
    held = texts_in(item)
    texts = frozenset(text for text in carried["texts"] if _is_held(text, held))
    if not (texts or is_whole):
        return None
    siblings = carried["siblings"]
    if siblings["count"] == 1 and not siblings["is_list"]:
        return BegunItem()
    labels = texts.intersection(siblings["labels"])
    return BegunItem(texts - labels, labels)


def _is_held(text: str, held: Collection[str]) -> bool:
    """Whether an item holds a text; one of several words also as a part of another.

    >>> _is_held("tea", ["green tea"]), _is_held("green tea", ["a cup of green tea"])
    (False, True)
    """
    return text in held or (" " in text and any(contains(one, text) for one in held))


def is_carried(item: Any, request: Request) -> bool:
    """Whether an item, or what it was copied from, came along with the request of its response.

    >>> from scrapy import Request
    >>> item = {"title": "Tea", "stars": None}
    >>> request = Request("http://a/reviews", cb_kwargs={"item": item})
    >>> is_carried(item, request), is_carried(item | {"stars": 5}, request), is_carried({}, request)
    (True, True, False)
    """
    carried = carried_by(request)
    held = (one.item if hasattr(one, "load_item") else one for one in carried)  # of a loader
    return any(_is_copied(one, item) for one in held if ItemAdapter.is_item(one))


def _is_copied(one: Any, item: Any) -> bool:
    """Whether an item has all values of another: the same objects, as a shallow copy has."""
    copied = ItemAdapter(item)
    given = [(name, value) for name, value in ItemAdapter(one).items() if value is not None]
    return bool(given) and all(copied.get(name) is value for name, value in given)


def carried_by(request: Request) -> Iterator[Any]:
    """The values that a request brings to its callback, without those added on the way."""
    if request.cb_kwargs:
        given = _names_given(request)
        yield from (value for name, value in request.cb_kwargs.items() if name in given)
    for name, value in request.meta.items():
        is_own = name in _OF_SCRAPY or str(name).startswith(_OWN)
        if not isinstance(value, (int, float)) and not is_own:
            yield value
    callback: Any = request.callback
    while isinstance(callback, partial):
        yield from callback.args
        yield from callback.keywords.values()
        callback = callback.func
    if getattr(callback, "__name__", "") == "<lambda>":
        yield from callback.__defaults__ or ()
        for cell in callback.__closure__ or ():
            with suppress(ValueError):  # the variable has no value yet
                yield cell.cell_contents


def code_of(callback: Any) -> Any:
    """The code of a callback, whatever a partial adds."""
    while isinstance(callback, partial):
        callback = callback.func
    return getattr(callback, "__code__", callback)
