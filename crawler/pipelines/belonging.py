"""Whether an item belongs to the page of its response."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any, Final

from scrapy.http import HtmlResponse, Response

from ..chrome import MainText
from ..chrome.main_text import UNSPACED
from .item_page import ItemPage, Missing
from .item_texts import PROSE, WORD, contains, texts_in, words_of

_SCRIPT: Final = re.compile(r"<(script|style|template)\b.*?</\1", re.DOTALL | re.IGNORECASE)
_LONG: Final = 5  # letters of a word that is hardly a part of another by chance


def why_elsewhere(
    item: Any, page: ItemPage, found: MainText | str, response: Response
) -> Missing | None:
    """Why an item is not of the page of its response, which has this main text; None if it is."""
    if isinstance(found, MainText):
        title, heading, text = found.title, found.heading, found.text
    else:  # of another extractor, or of a file
        is_html, text = isinstance(response, HtmlResponse), found
        title = response.css("title").get("") if is_html else ""
        heading = response.css("h1").get("") if is_html else ""
    if page.begun is not None:
        words = words_of(f"{heading}\n{text}")
        return None if any(contains(words, one) for one in page.begun) else Missing.OTHER_PAGE
    if page.of_response and isinstance(response, HtmlResponse):
        is_here = is_from(item, f"{title}\n{heading}\n{text}", response)
        return None if is_here else Missing.OTHER_TEXT
    return None


def is_from(item: Any, text: str, response: HtmlResponse) -> bool:
    """Whether an item can be from a page: `text` is its main text with title and heading.

    It is not if none of its texts is on the page, as where a browser renders it, or if a long one
    is nowhere in the response.
    """
    held, folded = texts_in(item), text.casefold()
    # Splitting the text takes ten times as long, and few items need it.
    strange = [one for one in held if not _has_long_words(folded, one)]
    if strange:
        found = frozenset(WORD.findall(folded))
        strange = [one for one in strange if not _is_mostly_in(one, found)]
    if strange and len(strange) == len(held):
        found = frozenset(WORD.findall(_SCRIPT.sub(" ", response.text).casefold()))
        if not any(_is_mostly_in(one, found) for one in held):
            return False
    long = [one for one in strange if len(one.split()) >= PROSE]
    body = response.text.casefold() if long else ""
    return all(_is_mostly_in(one, body) for one in long)


def _has_long_words(text: str, words: str) -> bool:
    if UNSPACED.search(words):
        return words in text
    long = [word for word in words.split() if len(word) >= _LONG]
    return bool(long) and all(word in text for word in long)


def _is_mostly_in(words: str, found: Container[str]) -> bool:
    own = set(words.split())
    return 2 * sum(word in found for word in own) >= len(own)
