"""Whether an item belongs to the page of its response."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container
from contextlib import suppress
from html import unescape
from typing import Any, Final

from scrapy.http import Response, TextResponse

from ...chrome import MainText
from ...chrome.main_text import UNSPACED
from ...latest import Latest
from .carried import BegunItem, carried_by
from .item_page import ItemPage, Missing
from .item_texts import PROSE, WORD, contains, texts_in, values_in, words_of
from .values import holds_html

_UNSEEN: Final = re.compile(r"<(/?)(?:script|style|template)\b", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})")  # as JSON may write any letter
_LONG: Final = 5  # letters of a word that is hardly a part of another by chance
_OFTEN: Final = 4  # items that have a label, at least
_MOST: Final = 10_000  # texts that are counted
_LONGEST_CODE: Final = 300  # characters
_MOST_HASHES: Final = 200_000  # of short texts that kept items have, some 100 bytes each


class Labels:
    """Counts texts of items that their pages lack, and tells which are a spider's own labels.

    Most of these items have a label, such as the name of the shop, and so it says nothing of any.
    """

    def __init__(self) -> None:
        self._items = 0
        self._counts: Counter[str] = Counter()

    def leave_out(self, texts: Collection[str]) -> list[str]:
        """Count the texts of an item that its page lacks; return those that are no labels."""
        self._items += 1
        self._counts.update(texts)
        if len(self._counts) > _MOST:
            self._counts = Counter(dict(self._counts.most_common(_MOST // 2)))
        return [one for one in texts if not self._is_label(self._counts[one])]

    def _is_label(self, count: int) -> bool:
        return count >= _OFTEN and 2 * count > self._items


class OwnTexts:
    """Tells items of copies apart by short texts that their pages do not show.

    A shell that a browser fills is the same for every item, and so is "nothing found" for each word
    that a spider looks for. A text of a kept item, such as a label, makes no other item.
    """

    def __init__(self) -> None:
        self._seen: Latest[int, None] = Latest(_MOST_HASHES)

    def note_kept(self, item: Any, response: Response) -> None:
        """Note the texts of an item whose page is kept."""
        self._note(*_short_texts(item, response))

    def is_other(self, item: Any, found: MainText | str, response: Response) -> bool:
        """Whether an item whose page, with this main text, is a copy is another one than before."""
        if not holds_html(response):
            return False
        text = found if isinstance(found, str) else f"{found.title}\n{found.heading}\n{found.text}"
        folded = text.casefold()
        strange = [one for one in _short_texts(item, response) if not _has_words(folded, one)]
        # The page is only searched where that may decide.
        if all(hash(one) in self._seen for one in strange):
            return False
        shown = _see_text(response).casefold()
        words = frozenset(WORD.findall(shown))
        lacking = frozenset(
            one
            for one in strange
            if not (one in shown if UNSPACED.search(one) else _is_mostly_in(one, words))
        )
        if hash(lacking) in self._seen or all(hash(one) in self._seen for one in lacking):
            return False
        self._note(lacking)
        return True

    def _note(self, *texts: str | frozenset[str]) -> None:
        for mark in map(hash, texts):
            self._seen[mark] = None


def _short_texts(item: Any, response: Response) -> frozenset[str]:
    """The short texts of an item, with codes that a start request brought: no page has those."""
    texts, request = texts_in(item), response.request
    if request is not None and request.meta.get("is_start_request"):
        with suppress(Exception):  # of a type that fails
            held, brought = (
                {words_of(one) for one in values_in(values) if _may_be_code(one)}
                for values in (item, [*carried_by(request)])
            )
            texts |= held & brought - {""}
    return frozenset(one for one in texts if len(one.split()) < PROSE)


def _may_be_code(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_CODE  # the words of HTML take long


def why_elsewhere(
    item: Any, page: ItemPage, found: MainText | str, response: Response, labels: Labels
) -> Missing | None:
    """Why an item is not of the page of its response, which has this main text; None if it is."""
    if isinstance(found, MainText):
        title, heading, text = found.title, found.heading, found.text
    else:  # of another extractor, or of a file
        text = found
        title = response.css("title").get("") if holds_html(response) else ""
        heading = response.css("h1").get("") if holds_html(response) else ""
    if page.begun is not None:
        is_here = _has_begun(page.begun, f"{heading}\n{text}", response, labels)
        return None if is_here else Missing.OTHER_PAGE
    if page.of_response and holds_html(response):
        lacking = find_lacking(item, f"{title}\n{heading}\n{text}", response)
        if lacking and (labels.leave_out(lacking) or _is_in_script(lacking, response)):
            return Missing.OTHER_TEXT
    return None


def _has_begun(begun: BegunItem, text: str, response: Response, labels: Labels) -> bool:
    """Whether a page with this main text is the one of an item that a list began."""
    words = words_of(text)
    if begun.own:
        return any(contains(words, one) for one in begun.own)
    if holds_html(response):
        words = words_of(_see_text(response))
    return any(contains(words, one) for one in begun.labels) or not labels.leave_out(begun.labels)


def _is_in_script(texts: Collection[str], response: TextResponse) -> bool:
    """Whether a script has one of these texts as a value: then no spider has made it up."""
    values = "|".join(map(re.escape, texts))
    body = _unescape_all(response.text).casefold()
    return re.search(rf"""["'](?:{values})\\?["']""", body) is not None


def find_lacking(item: Any, text: str, response: TextResponse) -> frozenset[str]:
    """The texts of an item by which it is not from a page, whose main text with titles is `text`.

    All, if none is to be seen on the page, as where a browser renders it; else long ones that are
    nowhere in the response.
    """
    held, folded = texts_in(item), text.casefold()
    # Splitting the text takes ten times as long, and few items need it.
    strange = [one for one in held if not _has_words(folded, one)]
    if strange:
        found = frozenset(WORD.findall(folded))
        strange = [one for one in strange if not _is_mostly_in(one, found)]
    if strange and len(strange) == len(held):
        found = frozenset(WORD.findall(_see_text(response).casefold()))
        if not any(_is_mostly_in(one, found) for one in held):
            return held
    long = [one for one in strange if len(one.split()) >= PROSE]
    body = _unescape_all(response.text).casefold() if long else ""
    return frozenset(one for one in long if not _is_mostly_in(one, body))


def _see_text(response: TextResponse) -> str:
    """What a page shows, with its tags."""
    return unescape(_cut_unseen(response.text))


def _unescape_all(html: str) -> str:
    r"""HTML in which letters stand for themselves, in scripts too.

    >>> _unescape_all(r"<p>Caf&eacute;<script>'Caf\u00e9'</script>")
    "<p>Café<script>'Café'</script>"
    """
    return _ESCAPED.sub(lambda code: chr(int(code[1], 16)), unescape(html))


def _cut_unseen(html: str) -> str:
    """HTML without what its scripts, styles and templates hold, in time that grows as its length.

    >>> _cut_unseen("<p>Tea<script>let cups</script><p>Milk<style>")
    '<p>Tea </script><p>Milk'
    """
    parts, start, is_seen = [], 0, True
    for tag in _UNSEEN.finditer(html):
        parts += [html[start : tag.start()]] if is_seen else []
        start, is_seen = tag.start(), tag[1] == "/"
    return " ".join([*parts, html[start:]] if is_seen else parts)


def _has_words(text: str, words: str) -> bool:
    if UNSPACED.search(words):
        return words in text
    own = words.split()
    return any(len(word) >= _LONG for word in own) and all(word in text for word in own)


def _is_mostly_in(words: str, found: Container[str]) -> bool:
    own = set(words.split())
    return 2 * sum(word in found for word in own) > len(own)
