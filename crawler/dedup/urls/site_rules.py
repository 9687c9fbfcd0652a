"""The URL rules of one site: learnt from pages, applied to URLs, revoked by a counter-example.

Learning costs no fetches of its own: a URL that a rule might spare waits for the pages under way,
and is fetched if no rule comes of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple

from .evidence import RuleEvidence, read_values
from .mattering import SITE_WIDE, WHOLE_SITE
from .parts import UrlKind, UrlParts, is_session_like
from .url_judge import UrlJudge
from .volatile import VOLATILE, Links

_MOST_NAMES: Final = 256  # features of a site: hostile sites may have a new one in each URL
_MOST_DOUBTS: Final = 128
_MOST_PAGES: Final = 4096  # on which a rule erred


class RuleChange(NamedTuple):
    """A rule that was learnt, or else revoked by this URL's counter-example.

    A rule that a person has ``added`` is not revoked, but told of.
    """

    name: str
    learnt: bool
    pages: int = 0
    added: bool = False


class _Doubt(NamedTuple):
    """Features in which two URLs differ, at least one of which matters to their kind."""

    names: frozenset[str]
    parts: UrlParts
    other: UrlParts


class SiteRules(UrlJudge):
    """Learns which features of a site's URLs make no difference to their texts.

    A feature is open at first. It becomes a rule when URLs with the same text differ in it, for
    enough texts. It matters to a kind of URL when it alone differs between two of them whose texts
    differ, and the later text is new. Then no rule on it holds for this kind in this crawl. Where
    several open features differ, at least one of them matters, but which one is unknown: a doubt,
    which ends when all but one of them are rules.
    """

    def __init__(self) -> None:
        super().__init__()
        self.forbidden: set[str] = set()
        self._open: dict[str, RuleEvidence] = {}
        self._doubts: dict[tuple[UrlKind, frozenset[str]], _Doubt] = {}
        self._narrowed: set[str] = set()
        self.choices: set[str] = set()  # arguments of which pages offer a choice
        self._revoked: set[str] = set()
        self._told: set[str] = set()

    @property
    def has_erred(self) -> bool:
        """Whether a rule was revoked."""
        return bool(self._revoked)

    @property
    def erring_choices(self) -> set[str]:
        """Arguments of which pages offer a choice, with a rule that was revoked once."""
        return self.choices & self._revoked & self.rules.keys()

    def may_be_one(self, parts: UrlParts, other: UrlParts) -> bool:
        """Whether two URLs may have the same text, for all that is known."""
        return self._loose_key(parts) == self._loose_key(other)

    def note_choice(self, parts: UrlParts, other: UrlParts) -> None:
        """Note which argument a page offers a choice of: two of its links to itself differ in it.

        It is the only one but for sessions, and for what is known to make no difference.
        """
        mine, others = dict(parts.features), dict(other.features)
        names = [
            name
            for name in parts.list_differences(other)
            if not is_session_like(mine.get(name) or others.get(name) or "")
        ]
        if len(names) > 1:
            names = [name for name in names if name not in self.rules]
        if len(names) == 1 and names[0][0] in "?;" and len(self.choices) < _MOST_NAMES:
            self.choices.update(names)

    def note_page(
        self,
        parts: UrlParts,
        content: int,
        *,
        is_new: bool,
        has_news: bool = False,
        found_on: int = 0,
        links: Links = (),
        ways_back: AbstractSet[str] = frozenset(),
    ) -> list[RuleChange]:
        """Learn from a fetched page: its content, and whether that, or a link in it, is new.

        `ways_back` are the arguments that name the page it was found on, if it is a form to log in.
        Returns the rules that it completed or revoked.
        """
        changes: list[RuleChange] = []
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
            if is_new:
                former = self._urls.find_former(parts)
                if former is not None:
                    self._note_error(parts, parts.list_differences(former))
                self._tell_of_added(parts, changes)
        else:
            for copy in self._urls.list_copies(parts, content):
                self._support(parts, copy, content, ways_back)
        self._urls.note_page(parts, content)
        self._learn(changes)
        return changes

    def _support(
        self, parts: UrlParts, copy: UrlParts, content: int, ways_back: AbstractSet[str]
    ) -> None:
        names = parts.list_differences(copy)
        mine, others = dict(parts.features), dict(copy.features)
        matters = self._mattering.of_kind(parts.kind)
        nested = parts if parts.may_nest(copy) else copy
        if not nested.may_nest(parts):  # somebody may have copied another's page
            return
        for name in names:
            if name not in matters:
                values = mine.get(name), others.get(name)
                self._note_evidence(name, content, nested.kind, *values, alone=len(names) == 1)
                evidence = self.rules.get(name) or self._open.get(name)
                if name in ways_back and evidence is not None:
                    evidence.note_way_back(parts.without(name), mine[name])

    def _note_evidence(
        self, name: str, content: int, kind: UrlKind, *values: str | None, alone: bool
    ) -> None:
        evidence = self.rules.get(name) or self._open.get(name)
        if evidence is None:
            if len(self._open) >= _MOST_NAMES:
                return
            evidence = self._open[name] = self._make_evidence()
        evidence.note_content(content, kind, *values, alone=alone)

    def _make_evidence(self, *, added: bool = False) -> RuleEvidence:
        return RuleEvidence(added=added, is_session=self._sessions.is_session)

    def _contradict(self, parts: UrlParts, other: UrlParts, changes: list[RuleChange]) -> None:
        """Note that at least one of the features in which two URLs differ matters."""
        kind, names = parts.kind, parts.list_differences(other)
        differing = {name for name in names if not (name in self.rules and self.rules[name].added)}
        if not differing or not differing.isdisjoint(self._list_mattering(parts)):
            return
        doubt = _Doubt(frozenset(differing), parts, other)
        unproven = self._list_unproven(doubt)
        if not unproven:
            self._note_error(parts, differing)
            self._revoke(differing, changes)
        elif len(unproven) == 1:
            (name,) = unproven
            if self._is_proven(name, kind):  # for other values, by which others were spared
                self._narrowed.add(name)
                changes.append(RuleChange(name, learnt=False))
            self._note_that_matters(name, kind)
        elif len(self._doubts) < _MOST_DOUBTS:
            self._doubts.setdefault((kind, frozenset(unproven)), doubt)

    def _tell_of_added(self, parts: UrlParts, changes: list[RuleChange]) -> None:
        """Tell once of each added rule by which another page has the text of this new one."""
        added = {name for name, rule in self.rules.items() if rule.added}
        if added <= self._told:
            return
        for other in self._urls.list_neighbours(parts):
            names = {*parts.list_differences(other)}
            if names <= added:
                new = sorted(names - self._told)
                changes += [RuleChange(name, learnt=False, added=True) for name in new]
                self._told |= names

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

    def take_narrowed(self) -> set[str]:
        """Take the rules that came to matter to a kind of URL, for which they held before."""
        narrowed, self._narrowed = self._narrowed, set()
        return narrowed

    def _is_proven(self, name: str, kind: UrlKind) -> bool:
        rule = self.rules.get(name)
        return rule is not None and (
            name in SITE_WIDE or kind in rule.tested or rule.is_general(kind)
        )

    def _revoke(self, names: set[str], changes: list[RuleChange]) -> None:
        """Give up rules that a page has refuted, and learn anew.

        If the site has changed, what was seen before says nothing. A feature whose rule is revoked
        for the second time matters.
        """
        for name in sorted(names):
            del self.rules[name]
            changes.append(RuleChange(name, learnt=False))
            if name in self._revoked:
                self._mattering.add_to_all(name)
            self._revoked.add(name)
        self._open.clear()
        self._doubts.clear()
        self._urls.forget_pages()
        self._volatile.forget_pages()

    def _note_error(self, parts: UrlParts, names: Iterable[str]) -> None:
        """Note that a choice matters to this page: others may show a rule on it again."""
        chosen = self.choices.intersection(names)
        if chosen and len(self._mattering_here) < _MOST_PAGES:
            self._mattering_here.setdefault(self._loose_key(parts), set()).update(chosen)
            self._narrowed |= chosen

    def note_moving(self, parts: UrlParts, page: int, name: str) -> None:
        """Take back what a page has said that has a new text at each fetch.

        `name` is the feature in which its URLs differ, if that seemed to matter.
        """
        self._volatile.forget_frame(page)
        self._mattering_here.pop(self._loose_key(parts), None)
        if name and name not in self.forbidden:
            self._mattering.discard_from(name, parts.kind)
            self._revoked.discard(name)
        self._doubts.clear()
        self._urls.sort_anew()

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

    def _learn(self, changes: list[RuleChange]) -> None:
        ready = [name for name, evidence in self._open.items() if evidence.is_enough()]
        # What was the only difference comes first: of two in doubt, the first becomes the rule.
        ready.sort(key=lambda name: (-self._open[name].alone, -len(self._open[name].contents)))
        for name in ready:
            self._settle_doubts({name})
            if name not in self._open:
                continue
            self.rules[name] = self._open.pop(name)
            changes.append(RuleChange(name, learnt=True, pages=len(self.rules[name].contents)))
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

        A rule that rests on what others told, or on a person, goes with that: somebody has revoked
        or removed it.
        """
        for name, evidence in list(self.rules.items()):
            evidence.added &= told.get(name, {}).get("state") == "added"
            if name not in told:
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
                self.forbidden.discard(name)
                self.rules[name] = self._make_evidence(added=True)
                self._urls.sort_anew()
            elif state == "learnt" and name not in self.rules and name not in self.matters:
                evidence = self._open.setdefault(name, self._make_evidence())
                evidence.told = max(evidence.told, read_values(what))
