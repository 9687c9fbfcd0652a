"""Finds where items without a page have a long text, so that the log can name the field."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from typing import Any, Final

from itemadapter import ItemAdapter

from ...dedup.config import DedupConfig
from .values import joined_text

_ITEMS: Final = 100  # the first ones, which are looked into
_LONG: Final = 200  # characters of a text that is no name or label
_TAG: Final = re.compile(r"</[a-zA-Z][a-zA-Z0-9]*\s*>")


class LongTexts:
    """Counts the fields with long texts of items that were not checked."""

    def __init__(self, config: DedupConfig) -> None:
        self._known = {config.url_field, config.html_field, config.text_field}
        self._items = 0
        self._counts: Counter[str] = Counter()
        self._lengths: Counter[str] = Counter()
        self._as_html: Counter[str] = Counter()

    def note_item(self, item: Any) -> None:
        """Note the fields of an item that have a long text."""
        if self._items >= _ITEMS:
            return
        self._items += 1
        with suppress(Exception):  # of a type that fails
            for name, value in ItemAdapter(item).items():
                text = joined_text(value) or ""
                if len(text) >= _LONG and name not in self._known:
                    self._counts[name] += 1
                    self._lengths[name] += len(text)
                    self._as_html[name] += _TAG.search(text) is not None

    def describe(self) -> str:
        """Name the field in which most of the items have a text, the longest; '' if none."""
        for name, _ in self._lengths.most_common():
            if 2 * self._counts[name] > self._items:
                is_html = 2 * self._as_html[name] > self._counts[name]
                what, setting = ("HTML", "HTML") if is_html else ("a long text", "TEXT")
                return (
                    f"Most of them have {what} in {name!r}: if that is their page, set "
                    f"DEDUP_{setting}_FIELD={name}. "
                )
        return ""
