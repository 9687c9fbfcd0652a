"""The texts in an item, and whether a page has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from itemadapter import ItemAdapter

from ...chrome.main_text import UNSPACED

PROSE: Final = 8  # words from which a text is no name, label or constant
_WORDS: Final = 12  # of longer texts, their beginning
_CHARACTERS: Final = 300  # in which these words are
_MOST: Final = 50  # texts of an item
_DEEP: Final = 4  # lists and items within each other
_BROAD: Final = 200  # values of one of them
_SHORT: Final = 3  # letters of the shortest text: two are the code of a language or a country
_CUT: Final = ("…", "...")  # ends a text that was cut off
WORD: Final = re.compile(r"\w+")
_DIGIT: Final = re.compile(r"\d")


def texts_in(*values: Any) -> frozenset[str]:
    """The beginnings of the texts in values, as words; no URLs, numbers, dates and codes.

    A word that a list has cut off ("Green te…") does not count.

    >>> sorted(texts_in({"title": "Green  Tea", "link": "http://a/b", "tags": ["Hot!", "en", "7"]}))
    ['green tea', 'hot']
    >>> sorted(texts_in("2026-11-29T08:40:11Z", "29 November 2026", "7f0e-a3b1", "Top 10 teas"))
    ['top 10 teas']
    """
    found = set[str]()
    with suppress(Exception):  # of a type that fails: what it carries is not known
        texts = (one for one in values_in(*values) if isinstance(one, str))
        found.update(islice(filter(None, map(_begin, texts)), _MOST))
    return frozenset(found)


def _begin(text: str) -> str:
    """The first words of a text; none if it is no text, but a URL or a code."""
    beginning = text[:_CHARACTERS]
    if beginning.endswith(_CUT):
        beginning = beginning.rstrip(".…").rpartition(" ")[0]
    words = " ".join(words_of(beginning).split()[:_WORDS])
    is_long = len(words) >= _SHORT or UNSPACED.search(words)
    is_url = "/" in beginning and len(beginning.split()) == 1
    return words if is_long and not is_url and not _is_code(words) else ""


def values_in(*values: Any) -> Iterator[Any]:
    """The values within lists and items, also of those within each other."""
    return _find_values(values, _DEEP)


def _find_values(value: Any, deep: int) -> Iterator[Any]:
    inner: Iterable[Any]
    if hasattr(value, "load_item"):  # a loader, which fills its item in the end
        inner = [value.item, getattr(value, "_values", None)]
    elif isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = value
    elif ItemAdapter.is_item(value):
        inner = ItemAdapter(value).values()
    else:
        yield value
        return
    if deep:
        for one in islice(inner, _BROAD):
            yield from _find_values(one, deep - 1)


def _is_code(words: str) -> bool:
    """Whether most words have digits, as in dates, prices and identifiers."""
    own = words.split()
    return 2 * sum(bool(_DIGIT.search(word)) for word in own) > len(own)


def words_of(text: str) -> str:
    """The words of a text, without punctuation and capital letters."""
    return " ".join(WORD.findall(text.casefold()))


def contains(text: str, words: str) -> bool:
    """Whether a text has these words in a row; both are as of :func:`words_of`.

    >>> contains("a cup of green tea", "green tea"), contains("a steam engine", "tea")
    (True, False)
    """
    if UNSPACED.search(words):
        return words in text
    return f" {words} " in f" {text} "
