"""What pages have shown of one feature of a site's URLs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .parts import PREFIX, is_session_like

_MOST: Final = 64  # of a kind that are remembered; it takes far fewer to learn a rule
_MOST_SECTIONS: Final = 4096
_MOST_STORED: Final = 16  # values that others are told
_LONGEST_STORED: Final = 40


@dataclass(slots=True)
class Evidence:
    """That a feature of URLs makes no difference to their texts.

    ``values`` has by value (None: the feature is not there) the contents that were the same with
    it as without. ``sections`` are the parts of the site where that was seen. ``told`` values were
    seen by earlier crawls, and one page has to confirm them; what a person has ``added`` needs no
    evidence.
    """

    contents: set[int] = field(default_factory=set)
    alone: int = 0  # times that it was the only difference
    values: dict[str | None, set[int]] = field(default_factory=dict)
    sections: set[str] = field(default_factory=set)
    told: int = 0
    added: bool = False

    def note(self, content: int, section: str, *values: str | None, alone: bool) -> None:
        """Note that a content was the same with these values."""
        if len(self.contents) < _MOST:
            self.contents.add(content)
        if len(self.sections) < _MOST_SECTIONS:
            self.sections.add(section)
        self.alone += alone
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

    def holds(self, name: str, value: str | None, section: str) -> bool:
        """Whether it says of a value, also one never seen, that it makes no difference.

        Values that come back, as `de` in `?lang=de`, are tried twice each. Of those that are new on
        each page some are enough. A rule proves itself in each section of a site, so that whoever
        fills one section makes no rules for others.
        """
        if self.added:
            return True
        if name != PREFIX and section not in self.sections:
            return False
        if len(self.values.get(value, ())) >= (2 if name[:1] == "?" else 1):
            return True
        tried = max(len(self.values), self.told)
        if value and is_session_like(value):
            return tried >= 3
        return tried >= (8 if name[:1] == "?" else 4)

    def to_dict(self) -> dict[str, Any]:
        """What others are told of it."""
        short = [value for value in self.values if value and len(value) <= _LONGEST_STORED]
        return {
            "pages": len(self.contents),
            "values": max(len(self.values), self.told),
            "examples": short[:_MOST_STORED],
        }


def values_told(told: Mapping[str, Any]) -> int:
    """With how many values another crawl has seen a rule hold, 1 if it does not say."""
    values = told.get("values")
    return values if isinstance(values, int) and values > 0 else 1
