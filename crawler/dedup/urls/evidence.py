"""What pages have shown of one feature of a site's URLs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .parts import PREFIX, UrlKind, is_session_like

_MOST: Final = 64  # of a kind that are remembered; it takes far fewer to learn a rule
_MOST_KINDS: Final = 4096
_GENERAL: Final = 3  # names of pages with which a rule is tested before it holds for all
_NEW_VALUES: Final = 8  # of an argument that made no difference, before new ones are believed
_MOST_STORED: Final = 16  # values that others are told
_LONGEST_STORED: Final = 40


@dataclass(slots=True)
class Evidence:
    """That a feature of URLs makes no difference to their texts.

    ``values`` has by value (None: the feature is not there) the contents that were the same with
    it as without; ``tested`` has for the kinds of URLs of which that was seen those of its values.
    ``told`` values were seen by earlier crawls, and one page has to confirm them; what a person has
    ``added`` needs no evidence.
    """

    contents: set[int] = field(default_factory=set)
    alone: int = 0  # times that it was the only difference
    values: dict[str | None, set[int]] = field(default_factory=dict)
    tested: dict[UrlKind, set[str | None]] = field(default_factory=dict)
    named: Counter[str] = field(default_factory=Counter)  # kinds that are not numbered, by section
    told: int = 0
    added: bool = False

    def note_content(self, content: int, kind: UrlKind, *values: str | None, alone: bool) -> None:
        """Note that a content was the same with these values."""
        if len(self.contents) < _MOST:
            self.contents.add(content)
        self.alone += alone
        if len(self.tested) < _MOST_KINDS or kind in self.tested:
            if kind not in self.tested and not kind.is_numbered:
                self.named[kind.section] += 1
            tested = self.tested.setdefault(kind, set())
            if len(tested) < _MOST:
                tested.update(values)
        for value in values:
            if len(self.values) < _MOST or value in self.values:
                seen = self.values.setdefault(value, set())
                if len(seen) < _MOST:
                    seen.add(content)

    def is_enough(self) -> bool:
        """Whether a rule can be made of it: three contents, or two with sessions as values."""
        if self.added or (self.told and self.contents):
            return True
        sessions = sum(1 for value in self.values if value and is_session_like(value))
        return len(self.contents) >= (2 if sessions >= 3 else 3)

    def covers_value(self, name: str, value: str | None, kind: UrlKind) -> bool:
        """Whether it says of a value, also one never seen, that it makes no difference.

        Values that come back, as `de` in `?lang=de`, are tried twice each. Of those that are new on
        each page some are enough. A rule proves itself for each kind of URL, so that whoever
        fills one section of a site makes no rules for others, and a list is not taken for an entry.
        """
        if self.added:
            return True
        if name != PREFIX and not self._is_tested(name, value, kind):
            return False
        if len(self.values.get(value, ())) >= (2 if name[:1] == "?" else 1):
            return True
        tried = max(len(self.values), self.told)
        if value and is_session_like(value):
            return tried >= 3
        return tried >= (_NEW_VALUES if name[:1] == "?" else 4)

    def is_guessed(self, value: str | None) -> bool:
        """Whether a value is covered only because others before it made no difference."""
        is_known = self.added or value in self.values
        return not is_known and value is not None and not is_session_like(value)

    def _is_tested(self, name: str, value: str | None, kind: UrlKind) -> bool:
        tested = self.tested.get(kind)
        if tested is None:
            return self.is_general(kind)
        if name[:1] != "?" or value in tested or len(tested) >= _GENERAL:
            return True
        return self.told >= _NEW_VALUES or bool(value and is_session_like(value))

    def is_general(self, kind: UrlKind) -> bool:
        """Whether so many names of pages have shown it that it holds for others beside them.

        Numbered pages have few kinds, each of which can show it.
        """
        return not kind.is_numbered and self.named[kind.section] >= _GENERAL

    def to_dict(self) -> dict[str, Any]:
        """What others are told of it."""
        short = [value for value in self.values if value and len(value) <= _LONGEST_STORED]
        return {
            "pages": len(self.contents),
            "values": max(len(self.values), self.told),
            "examples": short[:_MOST_STORED],
        }


def read_values(told: Mapping[str, Any]) -> int:
    """With how many values another crawl has seen a rule hold, 1 if it does not say."""
    values = told.get("values")
    return values if isinstance(values, int) and values > 0 else 1
