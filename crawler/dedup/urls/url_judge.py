"""Judges the URLs of a site before they are fetched, by its rules and by earlier URLs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from enum import Enum

from .evidence import RuleEvidence
from .known_urls import Firsts, Key, KnownUrls, hash_key
from .mattering import MatteringFeatures
from .parts import PREFIX, UrlParts
from .sessions import SessionValues
from .volatile import VOLATILE, Hole, VolatileParts

Compared = tuple[Key, str]
"""A page, by its strict key, and a feature in which two of its URLs were compared."""
SameValues = dict[Key, dict[str, str | None]]
"""By strict key, features with the one value that all fetched URLs with this key have."""


class Judgement(Enum):
    """What rules and earlier URLs say about a URL before it is fetched."""

    NEW = "new"  # no earlier URL is like it
    SUSPECT = "suspect"  # an earlier URL may have the same text
    SPARED = "spared"  # by the rules its text was fetched before


class UrlJudge:
    """Says whether the text of a URL was fetched before, or may have been. It learns no rule.

    Attributes
    ----------
    rules
        The evidence for each feature that makes no difference.
    found
        How many URLs were found.
    """

    def __init__(self) -> None:
        self.rules: dict[str, RuleEvidence] = {}
        self.found = 0
        self._mattering = MatteringFeatures()
        self._sessions = SessionValues()
        self._mattering_here: dict[Key, set[str]] = {}  # to pages, by their loose keys
        self.forget_urls()

    def forget_urls(self) -> None:
        """Forget all URLs. Rules stay, but spare less until URLs are known again."""
        self._urls = KnownUrls(self._loose_key, self._strict_key)
        self._volatile = VolatileParts()
        self._sessions.forget()

    @property
    def size(self) -> int:
        """How many URLs are remembered."""
        return self._urls.size

    def list_pages(self) -> list[UrlParts]:
        """The latest URLs that were fetched."""
        return self._urls.list_pages()

    @property
    def compared(self) -> int:
        """How many pages were fetched although others have the same text by the rules."""
        return self._urls.count_compared()

    @property
    def matters(self) -> set[str]:
        """The features that matter to any kind of URL."""
        return self._mattering.of_any

    def list_groups(self, parts: UrlParts) -> list[Hashable]:
        """Keys of a URL's groups: each feature that matters with its value, such as a user."""
        matters = self._mattering.of_kind(parts.kind)
        return [(parts.kind, *one) for one in parts.features if one[0] in matters]

    def _loose_key(self, parts: UrlParts) -> Key:
        """The key of URLs that may have the same text: skeleton and features that matter."""
        matters = self._mattering.of_kind(parts.kind)
        if not matters:
            return (parts.skeleton,)
        return (parts.skeleton, *(pair for pair in parts.features if pair[0] in matters))

    def _list_mattering(self, parts: UrlParts) -> AbstractSet[str]:
        """The features that matter to a URL's kind, or to its page."""
        matters = self._mattering.of_kind(parts.kind)
        if not self._mattering_here:
            return matters
        return matters | self._mattering_here.get(self._loose_key(parts), set())

    def list_pages_of(self, parts: UrlParts) -> dict[int, str]:
        """The pages that a URL may belong to, as numbers.

        Each comes with the feature that would then wrongly be said to matter, or ''.
        """
        key = self._loose_key(parts)
        pages = {hash_key(key): ""}
        for pair in key[1:]:
            pages[hash_key(tuple(one for one in key if one != pair))] = pair[0]
        if self._volatile.has_likely:
            pages |= dict.fromkeys(self.list_frames(parts), VOLATILE)
        return pages

    def _strict_key(self, parts: UrlParts) -> Key:
        """The key of URLs that have the same text according to the rules."""
        rules = self.rules
        if not rules:
            return (parts.skeleton, *parts.features)
        matters = self._list_mattering(parts)
        known = (one for one in parts.features if one[0] not in rules or one[0] in matters)
        return (parts.skeleton, *known)

    def note_found(self, parts: UrlParts, found_on: int = 0) -> Firsts:
        """Note a URL that was found on a page; returns in what it is the first."""
        self._sessions.note_found(parts, found_on)
        first = self._urls.note_found(parts)
        self.found += first.of_url
        return first._replace(of_page=first.of_page and not self._is_ripe(parts))

    def list_frames(self, parts: UrlParts) -> tuple[int, ...]:
        """Digests that a URL shares with URLs that differ from it in one part only."""
        return tuple(hole.frame for hole in self._list_holes(parts))

    def _is_ripe(self, parts: UrlParts) -> bool:
        return self._volatile.has_ripe and self._volatile.is_ripe(self._list_holes(parts))

    def _list_holes(self, parts: UrlParts) -> Iterator[Hole]:
        features = parts.features
        if self.rules:
            features = tuple(
                (name, value)
                for name, value in features
                if name not in self.rules or not self._covers(name, value, parts)
            )
        folders = dict(parts.features).get(PREFIX, "").split("/")[1:]
        for hole in self._volatile.list_holes(parts, features):
            first = hole.value.partition("/")[0]
            # A folder that is a page, too, is a user's, say: made for each link it has no page.
            if first not in folders or not self._urls.is_page(first):
                yield hole

    def note_request(self, parts: UrlParts, found_on: int = 0) -> None:
        """Note that a URL is requested."""
        self._urls.note_request(parts)
        if found_on:
            self._volatile.note_request(self._list_holes(parts), found_on)

    def is_requested(self, parts: UrlParts) -> bool:
        """Whether a URL was requested."""
        return self._urls.is_requested(parts)

    def judge_url(self, parts: UrlParts, found_on: int = 0) -> Judgement:
        """Judge a URL before it is fetched."""
        if self.find_rules(parts) is not None:
            return Judgement.SPARED
        is_suspect = self._urls.is_suspect(parts) or self._is_ripe(parts)
        if not is_suspect and found_on:
            is_suspect = self._volatile.has_asked(self._list_holes(parts))
        return Judgement.SUSPECT if is_suspect else Judgement.NEW

    def has_rival(self, parts: UrlParts) -> bool:
        """Whether a URL came that may have the same text."""
        return bool(self._urls.list_neighbours(parts)) or self._is_ripe(parts)

    def find_rules(self, parts: UrlParts) -> list[str] | None:
        """The rules which say that a URL's text was fetched before; None if they do not."""
        if not self.rules:
            return None
        for other in self._urls.list_fetched(parts):
            names = self._list_covered(parts, other)
            if names is not None:
                return names
        return [VOLATILE] if self._is_volatile(parts) else None

    def _is_volatile(self, parts: UrlParts) -> bool:
        return VOLATILE in self.rules and self._volatile.is_volatile(list(self._list_holes(parts)))

    def would_spare(self, parts: UrlParts, other: UrlParts) -> bool:
        """Whether the rules will spare a URL once the URL `other` was fetched."""
        is_alike = self._strict_key(parts) == self._strict_key(other)
        return is_alike and self._list_covered(parts, other) is not None

    def _list_covered(self, parts: UrlParts, other: UrlParts) -> list[str] | None:
        """The rules that cover all differences of two URLs; None if one is not covered."""
        names = parts.list_differences(other)
        if PREFIX in names and not (self.rules[PREFIX].added or parts.may_nest(other)):
            return None
        return sorted(names) if self._cover_all(names, parts, other) else None

    def _cover_all(self, names: Iterable[str], parts: UrlParts, other: UrlParts) -> bool:
        """Whether rules cover the values that both URLs have of these features."""
        mine, others = dict(parts.features), dict(other.features)
        return all(
            self._covers(name, mine.get(name), parts)
            and self._covers(name, others.get(name), parts)
            and (name != PREFIX or self._may_be_one_folder(parts, other))
            for name in names
        )

    def _may_be_one_folder(self, parts: UrlParts, other: UrlParts) -> bool:
        """Whether the folders of two URLs had one content, or else one has those of the other.

        That two folders each have a copy elsewhere does not make them copies of each other.
        """
        values, added = self.rules[PREFIX].values, self.rules[PREFIX].added
        mine, others = (values.get(dict(one.features).get(PREFIX)) for one in (parts, other))
        if added or mine is None or others is None:
            return added or parts.nests(other) or other.nests(parts)
        return not mine.isdisjoint(others)

    def find_same_values(self) -> SameValues:
        """The features of rules that no two fetched URLs of a page differ in, with their values."""
        same: SameValues = {}
        for parts in self._urls.list_pages():
            given, key = dict(parts.features), self._strict_key(parts)
            if key not in same:
                same[key] = {name: given.get(name) for name in self.rules}
            else:
                rest = same[key].items()
                same[key] = {name: value for name, value in rest if value == given.get(name)}
        return same

    def list_uncompared(self, parts: UrlParts, same: SameValues) -> list[Compared]:
        """In which rules' features a URL would be the first to be compared with its page."""
        if self._is_volatile(parts):
            return []
        given, key = dict(parts.features), self._strict_key(parts)
        values = same.get(key, {})
        return [(key, name) for name, value in values.items() if value != given.get(name)]

    def list_values(self, parts: UrlParts, names: Iterable[str]) -> list[Compared]:
        """A URL's values of some features, each with the page."""
        given, key = dict(parts.features), self._strict_key(parts)
        return [(key, f"{name}={given.get(name)}") for name in names]

    def list_guesses(self, parts: UrlParts, names: Iterable[str]) -> list[tuple[str, str]]:
        """Which of these rules cover a value of the URL that no page had, each with that value."""
        rules, values = self.rules, dict(parts.features)
        return [
            (name, values[name])
            for name in names
            if name in rules and name in values and rules[name].is_guessed(values[name])
        ]

    def _covers(self, name: str, value: str | None, parts: UrlParts) -> bool:
        rule, kind = self.rules[name], parts.kind
        if name in self._mattering.of_kind(kind) or not rule.covers_value(name, value, kind):
            return False
        if rule.ways_back and not rule.holds_for(parts.without(name)):
            return False
        if kind not in rule.tested and self._mattering.is_of_section(name, kind):
            return rule.added
        if name != PREFIX or not value or value in rule.values or rule.added:
            return True
        return self._urls.is_nested(value)
