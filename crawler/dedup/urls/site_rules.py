"""The URL rules of one site: learnt from pages, applied to URLs, revoked by a counter-example.

Learning costs no fetches of its own: a URL that a rule might spare waits for the pages under way,
and is fetched if no rule comes of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Final, NamedTuple

from .evidence import Evidence, read_values
from .known_urls import Key, KnownUrls
from .mattering import SITE_WIDE, WHOLE_SITE, MatteringFeatures
from .parts import PREFIX, UrlKind, UrlParts
from .volatile import VOLATILE, Hole, Links, VolatileParts

_MOST_NAMES: Final = 256  # features of a site: hostile sites may have a new one in each URL
_MOST_DOUBTS: Final = 128


class Judgement(Enum):
    """What rules and earlier URLs say about a URL before it is fetched."""

    NEW = "new"  # no earlier URL is like it
    SUSPECT = "suspect"  # an earlier URL may have the same text
    SPARED = "spared"  # by the rules its text was fetched before


class Change(NamedTuple):
    """A rule that was learnt, or else revoked by this URL's counter-example."""

    name: str
    learnt: bool
    pages: int = 0


class _Doubt(NamedTuple):
    """Features in which two URLs differ, at least one of which matters to their kind."""

    names: frozenset[str]
    parts: UrlParts
    other: UrlParts


class SiteRules:
    """Learns which features of a site's URLs make no difference to their texts.

    A feature is open at first. It becomes a rule when URLs with the same text differ in it, for
    enough texts. It matters to a kind of URL when it alone differs between two of them whose texts
    differ, and the later text is new. Then no rule on it holds for this kind in this crawl. Where
    several open features differ, at least one of them matters, but which one is unknown: a doubt,
    which ends when all but one of them are rules.
    """

    def __init__(self) -> None:
        self.rules: dict[str, Evidence] = {}
        self.forbidden: set[str] = set()
        self._open: dict[str, Evidence] = {}
        self._mattering = MatteringFeatures()
        self._doubts: dict[tuple[UrlKind, frozenset[str]], _Doubt] = {}
        self._narrowed: set[tuple[str, UrlKind]] = set()
        self._revoked: set[str] = set()
        self.forget_urls()

    def forget_urls(self) -> None:
        """Forget all URLs. Rules stay, but spare less until URLs are known again."""
        self._urls = KnownUrls(self._loose_key, self._strict_key)
        self._volatile = VolatileParts()

    @property
    def size(self) -> int:
        """How many URLs are remembered."""
        return self._urls.size

    @property
    def compared(self) -> int:
        """How many pages were fetched although others have the same text by the rules."""
        return self._urls.count_compared()

    @property
    def matters(self) -> set[str]:
        """The features that matter to any kind of URL."""
        return self._mattering.of_any

    @property
    def has_erred(self) -> bool:
        """Whether a rule was revoked."""
        return bool(self._revoked)

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

    def _strict_key(self, parts: UrlParts) -> Key:
        """The key of URLs that have the same text according to the rules."""
        rules, matters = self.rules, self._mattering.of_kind(parts.kind)
        if not rules:
            return (parts.skeleton, *parts.features)
        known = (one for one in parts.features if one[0] not in rules or one[0] in matters)
        return (parts.skeleton, *known)

    def note_found(self, parts: UrlParts) -> tuple[bool, bool]:
        """Note a URL that was found.

        Returns whether no earlier URL may have its text, and whether it was never found before.
        """
        is_first, is_fresh = self._urls.note_found(parts)
        return is_first and not self._is_ripe(parts), is_fresh

    def list_frames(self, parts: UrlParts) -> tuple[int, ...]:
        """Digests that a URL shares with URLs that differ from it in one part only."""
        return tuple(hole.frame for hole in self._list_holes(parts))

    def _is_ripe(self, parts: UrlParts) -> bool:
        return self._volatile.has_ripe and self._volatile.is_ripe(self._list_holes(parts))

    def _list_holes(self, parts: UrlParts) -> Iterator[Hole]:
        features = [
            (name, value)
            for name, value in parts.features
            if name not in self.rules or not self._covers(name, value, parts)
        ]
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

    def judge_url(self, parts: UrlParts, found_on: int = 0) -> Judgement:
        """Judge a URL before it is fetched."""
        if self.find_rules(parts) is not None:
            return Judgement.SPARED
        is_suspect = self._urls.is_suspect(parts) or self._is_ripe(parts)
        if not is_suspect and found_on:
            is_suspect = self._volatile.has_asked(self._list_holes(parts))
        return Judgement.SUSPECT if is_suspect else Judgement.NEW

    def find_rules(self, parts: UrlParts) -> list[str] | None:
        """The rules which say that a URL's text was fetched before; None if they do not."""
        if not self.rules:
            return None
        for twin in self._urls.list_fetched(parts):
            names = self._list_covered(parts, twin)
            if names is not None:
                return names
        return [VOLATILE] if self._is_volatile(parts) else None

    def _is_volatile(self, parts: UrlParts) -> bool:
        return VOLATILE in self.rules and self._volatile.is_volatile(list(self._list_holes(parts)))

    def would_spare(self, parts: UrlParts, twin: UrlParts) -> bool:
        """Whether the rules will spare a URL once its `twin` was fetched."""
        is_alike = self._strict_key(parts) == self._strict_key(twin)
        return is_alike and self._list_covered(parts, twin) is not None

    def _list_covered(self, parts: UrlParts, twin: UrlParts) -> list[str] | None:
        """The rules that cover all differences of two URLs; None if one is not covered."""
        names = parts.list_differences(twin)
        if PREFIX in names and not (self.rules[PREFIX].added or parts.may_nest(twin)):
            return None
        return sorted(names) if self._cover_all(names, parts, twin) else None

    def _cover_all(self, names: Iterable[str], parts: UrlParts, twin: UrlParts) -> bool:
        """Whether rules cover the values that both URLs have of these features."""
        mine, others = dict(parts.features), dict(twin.features)
        return all(
            self._covers(name, mine.get(name), parts)
            and self._covers(name, others.get(name), parts)
            for name in names
        )

    def key_uncompared(self, parts: UrlParts) -> Key | None:
        """The strict key of a URL; None if it is volatile, or two with this key were fetched."""
        return None if self._is_volatile(parts) else self._urls.key_uncompared(parts)

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
        if kind not in rule.tested and self._mattering.is_of_section(name, kind):
            return rule.added
        if name != PREFIX or not value or value in rule.values or rule.added:
            return True
        return self._urls.is_nested(value)

    def note_page(
        self,
        parts: UrlParts,
        content: int,
        *,
        is_new: bool,
        has_news: bool = False,
        found_on: int = 0,
        links: Links = (),
    ) -> list[Change]:
        """Learn from a fetched page: its content, and whether that, or a link in it, is new.

        Returns the rules that it completed or revoked.
        """
        changes: list[Change] = []
        shown = self._volatile.note_page(
            parts,
            list(self._list_holes(parts)),
            content,
            found_on,
            links,
            is_new=is_new,
        )
        if shown is False and VOLATILE in self.rules and not self.rules[VOLATILE].added:
            self._revoke({VOLATILE}, changes)
        elif shown and VOLATILE not in self._mattering.of_kind(WHOLE_SITE):
            self._note_evidence(VOLATILE, content, parts.kind, alone=True)
        if is_new or has_news:
            for other in self._urls.list_neighbours(parts):
                self._contradict(parts, other, changes)
                if changes:  # a rule was revoked or narrowed, and neighbours are others
                    break
        else:
            for twin in self._urls.list_twins(parts, content):
                self._support(parts, twin, content)
        self._urls.note_page(parts, content)
        self._learn(changes)
        return changes

    def _support(self, parts: UrlParts, twin: UrlParts, content: int) -> None:
        names = parts.list_differences(twin)
        mine, others = dict(parts.features), dict(twin.features)
        matters = self._mattering.of_kind(parts.kind)
        nested = parts if parts.may_nest(twin) else twin
        if not nested.may_nest(parts):  # somebody may have copied another's page
            return
        for name in names:
            if name not in matters:
                values = mine.get(name), others.get(name)
                self._note_evidence(name, content, nested.kind, *values, alone=len(names) == 1)

    def _note_evidence(
        self, name: str, content: int, kind: UrlKind, *values: str | None, alone: bool
    ) -> None:
        evidence = self.rules.get(name) or self._open.get(name)
        if evidence is None:
            if len(self._open) >= _MOST_NAMES:
                return
            evidence = self._open[name] = Evidence()
        evidence.note_content(content, kind, *values, alone=alone)

    def _contradict(self, parts: UrlParts, other: UrlParts, changes: list[Change]) -> None:
        """Note that at least one of the features in which two URLs differ matters."""
        kind, names = parts.kind, parts.list_differences(other)
        differing = {name for name in names if not (name in self.rules and self.rules[name].added)}
        if not differing or not differing.isdisjoint(self._mattering.of_kind(kind)):
            return
        doubt = _Doubt(frozenset(differing), parts, other)
        unproven = self._list_unproven(doubt)
        if not unproven:
            self._revoke(differing, changes)
        elif len(unproven) == 1:
            (name,) = unproven
            if self._is_proven(name, kind):  # for other values, by which others were spared
                self._narrowed.add((name, kind))
                changes.append(Change(name, learnt=False))
            self._note_that_matters(name, kind)
        elif len(self._doubts) < _MOST_DOUBTS:
            self._doubts.setdefault((kind, frozenset(unproven)), doubt)

    def _list_unproven(self, doubt: _Doubt) -> set[str]:
        """Which of the features in which two URLs differ may matter to their kind.

        A rule that other kinds or other values have shown says nothing of these.
        """
        return {
            name
            for name in doubt.names
            if not self._is_proven(name, doubt.parts.kind)
            or not (name in SITE_WIDE or self._cover_all((name,), doubt.parts, doubt.other))
        }

    def take_narrowed(self) -> set[tuple[str, UrlKind]]:
        """Take the rules that came to matter to a kind of URL, for which they held before."""
        narrowed, self._narrowed = self._narrowed, set()
        return narrowed

    def _is_proven(self, name: str, kind: UrlKind) -> bool:
        rule = self.rules.get(name)
        return rule is not None and (
            name in SITE_WIDE or kind in rule.tested or rule.is_general(kind)
        )

    def _revoke(self, names: set[str], changes: list[Change]) -> None:
        """Give up rules that a page has refuted, and learn anew.

        If the site has changed, what was seen before says nothing. A feature whose rule is revoked
        for the second time matters.
        """
        for name in sorted(names):
            del self.rules[name]
            changes.append(Change(name, learnt=False))
            if name in self._revoked:
                self._mattering.add_to_all(name)
            self._revoked.add(name)
        self._open.clear()
        self._doubts.clear()
        self._urls.forget_pages()
        self._volatile.forget_pages()

    def _note_that_matters(self, name: str, kind: UrlKind) -> None:
        """Note that a feature matters to a kind of URL, and drop what seemed to hold there."""
        noted = self._mattering.add(name, kind)
        if noted is None:
            return
        if noted is WHOLE_SITE or (name in self._open and noted in self._open[name].tested):
            self._open.pop(name, None)
        self._doubts = {
            key: one
            for key, one in self._doubts.items()
            if name not in one.names or (noted is not WHOLE_SITE and key[0] != noted)
        }
        self._urls.sort_anew(None if noted is WHOLE_SITE else noted.stem)

    def _learn(self, changes: list[Change]) -> None:
        ready = [name for name, evidence in self._open.items() if evidence.is_enough()]
        # What was the only difference comes first: of two in doubt, the first becomes the rule.
        ready.sort(key=lambda name: (-self._open[name].alone, -len(self._open[name].contents)))
        for name in ready:
            self._settle_doubts({name})
            if name not in self._open:
                continue
            self.rules[name] = self._open.pop(name)
            changes.append(Change(name, learnt=True, pages=len(self.rules[name].contents)))
            self._urls.sort_anew()
        self._settle_doubts()

    def _settle_doubts(self, only: AbstractSet[str] | None = None) -> None:
        """Where rules cover all but one feature, that one matters; if it is one of `only`."""
        for (kind, _), doubt in list(self._doubts.items()):
            if len(doubt.names - self.rules.keys()) <= 1:
                rest = self._list_unproven(doubt)
                if len(rest) == 1 and (only is None or rest <= only):
                    self._note_that_matters(rest.pop(), kind)

    def take_rules(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        """Take over what other crawls have learnt and people have decided, by feature.

        A rule that rests on what others told goes with that: somebody has revoked it.
        """
        for name in [name for name in self.rules if name not in told]:
            evidence = self.rules[name]
            evidence.told = 0
            if not evidence.is_enough():
                self._open[name] = self.rules.pop(name)
                self._urls.sort_anew()
        for name, what in list(told.items())[:_MOST_NAMES]:
            state = what.get("state")
            if state == "forbidden" and name not in self.forbidden:
                self.rules.pop(name, None)
                self.forbidden.add(name)
                self._note_that_matters(name, WHOLE_SITE)
            elif state == "added" and not (name in self.rules and self.rules[name].added):
                self._mattering.discard(name)
                self.rules[name] = Evidence(added=True)
                self._urls.sort_anew()
            elif state == "learnt" and name not in self.rules and name not in self.matters:
                evidence = self._open.setdefault(name, Evidence())
                evidence.told = max(evidence.told, read_values(what))
