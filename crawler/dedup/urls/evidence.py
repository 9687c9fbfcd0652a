"""Evidence that one feature of a site's URLs makes no difference to their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .parts import PREFIX, UrlKind, is_session_like

_MOST: Final = 64  # contents, and values, that are remembered; far fewer are enough for a rule
_MOST_KINDS: Final = 4096
_GENERAL: Final = 3  # named pages that have to show a rule before it holds for all
_NEW_VALUES: Final = 8  # values of an argument that are tried before unseen ones are believed
_MOST_STORED: Final = 16  # values that are shared with other crawls
_LONGEST_STORED: Final = 40

Form = tuple[Any, ...]
"""The skeleton and the other features of a form's URLs."""


@dataclass(slots=True)
class RuleEvidence:
    """Evidence that a feature of URLs makes no difference to their texts.

    ``values`` has for each value (None: without the feature) the contents that were the same with
    another value; ``tested`` has for each kind of URL the values that have shown this.
    ``ways_back`` are those of forms to log in that named the page where their links stood, by form.
    ``told`` is the number of values that earlier crawls saw, which one page has to confirm. A rule
    that a person has ``added`` needs no evidence. ``is_session`` says which values are session ids.
    """

    contents: set[int] = field(default_factory=set)
    alone: int = 0  # how often it was the only difference
    ways_back: dict[Form, set[str | None]] = field(default_factory=dict)
    values: dict[str | None, set[int]] = field(default_factory=dict)
    tested: dict[UrlKind, set[str | None]] = field(default_factory=dict)
    named: Counter[str] = field(default_factory=Counter)  # how many unnumbered kinds, by section
    sections: set[str] = field(default_factory=set)  # of the tested kinds
    told: int = 0
    added: bool = False
    is_session: Callable[[str], bool] = is_session_like

    def note_content(self, content: int, kind: UrlKind, *values: str | None, alone: bool) -> None:
        """Note a content that was the same with each of these values."""
        if len(self.contents) < _MOST:
            self.contents.add(content)
        self.alone += alone
        if len(self.tested) < _MOST_KINDS or kind in self.tested:
            if kind not in self.tested and not kind.is_numbered:
                self.named[kind.section] += 1
            self.sections.add(kind.section)
            tested = self.tested.setdefault(kind, set())
            if len(tested) < _MOST:
                tested.update(values)
        for value in values:
            if len(self.values) < _MOST or value in self.values:
                seen = self.values.setdefault(value, set())
                if len(seen) < _MOST:
                    seen.add(content)

    def note_way_back(self, form: Form, value: str | None) -> None:
        """Note that a form to log in leads back to the page with its link."""
        if len(self.ways_back) < _MOST or form in self.ways_back:
            values = self.ways_back.setdefault(form, set())
            if len(values) < _NEW_VALUES:
                values.add(value)

    def is_enough(self) -> bool:
        """Whether it is enough for a rule, be it for a form to log in only."""
        return self.is_shown() or any(map(self.holds_for, self.ways_back))

    def holds_for(self, form: Form) -> bool:
        """Whether it is enough for URLs that may be of this form, which leads back to eight pages.

        Other pages, such as lists of comments that are mostly empty, need more than one content.
        """
        return len(self.ways_back.get(form, ())) >= _NEW_VALUES or self.is_shown()

    def is_shown(self) -> bool:
        """Whether contents are enough: three, or two if values look like sessions."""
        if self.added or (self.told and self.contents):
            return True
        sessions = sum(1 for value in self.values if value and self.is_session(value))
        return len(self.contents) >= (2 if sessions >= 3 else 3)

    def covers_value(self, name: str, value: str | None, kind: UrlKind) -> bool:
        """Whether by this rule a value makes no difference, even one never seen.

        Values that recur, as `de` in `?lang=de`, are each tried twice. Where values are new on each
        page, a few of them stand for all. Each kind of URL has to show a rule by itself, so that
        nobody who fills one section of a site makes rules for others, nor lists for entries.
        """
        if self.added:
            return True
        if not self._is_tested(name, value, kind):
            return False
        if len(self.values.get(value, ())) >= (2 if name[:1] == "?" else 1):
            return True
        tried = max(len(self.values), self.told)
        if value and self.is_session(value):
            return tried >= 3
        return tried >= (_NEW_VALUES if name[:1] == "?" else 4)

    def is_guessed(self, value: str | None) -> bool:
        """Whether a value is covered only because others before it made no difference."""
        is_known = self.added or value in self.values
        return not is_known and value is not None and not self.is_session(value)

    def _is_tested(self, name: str, value: str | None, kind: UrlKind) -> bool:
        if name == PREFIX:
            return kind.section in self.sections
        tested = self.tested.get(kind)
        if tested is None:
            return self.is_general(kind)
        if name[:1] != "?" or value in tested or len(tested) >= _GENERAL:
            return True
        return self.told >= _NEW_VALUES or bool(value and self.is_session(value))

    def is_general(self, kind: UrlKind) -> bool:
        """Whether enough named pages have shown it for it to hold for others beside them.

        Numbered pages are of few kinds, so each kind has to show it.
        """
        return not kind.is_numbered and self.named[kind.section] >= _GENERAL

    def to_dict(self) -> dict[str, Any]:
        """The form in which it is shared with other crawls."""
        short = [value for value in self.values if value and len(value) <= _LONGEST_STORED]
        return {
            "pages": len(self.contents),
            "values": max(len(self.values), self.told),
            "examples": short[:_MOST_STORED],
        }


def read_values(told: Mapping[str, Any]) -> int:
    """The number of values with which a rule held for another crawl; 1 if it does not say."""
    values = told.get("values")
    return values if isinstance(values, int) and values > 0 else 1
