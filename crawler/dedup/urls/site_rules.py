"""The URL rules of one site: learnt from pages, applied to URLs, revoked by a counter-example.

No page is needed to learn a rule that would not be fetched anyway: a URL that a rule might spare
waits until the others have come, and is fetched if no rule does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from .evidence import Evidence, values_told
from .parts import PREFIX, Parts

_MOST_URLS: Final = 10_000  # of a site that are remembered; beyond them less is spared
_MOST_NAMES: Final = 256  # features of a site: a hostile one may have a new one in each URL
_MOST_DOUBTS: Final = 128
_TWINS: Final = 3  # URLs with one text that a new one is compared with
_NEIGHBOURS: Final = 8  # URLs with other texts

Key = tuple[Any, ...]


class Judgement(Enum):
    """What is known of a URL before it is fetched."""

    NEW = "new"  # none before it was like it
    SUSPECT = "suspect"  # one before it had the same text, or had not: nobody knows
    SPARED = "spared"  # rules say that its text has come


class Change(NamedTuple):
    """A rule that was learnt, or else revoked by this URL's counter-example."""

    name: str
    learnt: bool
    pages: int = 0


class SiteRules:
    """What URLs of a site have in common when they have one text.

    A feature is open at first. It becomes a rule when it differs between URLs with one text, for
    enough texts. It matters when it is all that differs between URLs with two texts, of which the
    later is new, and then it becomes no rule in this crawl. Where several open features differ, one
    of them matters, and it is not known which: such a doubt ends when the others become rules.
    """

    def __init__(self) -> None:
        self.rules: dict[str, Evidence] = {}
        self.matters: set[str] = set()
        self.forbidden: set[str] = set()
        self._open: dict[str, Evidence] = {}
        self._doubts: list[frozenset[str]] = []
        self._revoked: set[str] = set()
        self._urls: dict[Parts, bool] = {}  # those met, and whether they were asked for
        self._seen: deque[tuple[Parts, int]] = deque(maxlen=_MOST_URLS)
        self._names: set[str] = set()  # last segments of pages that came
        self._index()

    def _index(self) -> None:
        """Sort what is known of URLs by what may make a difference now."""
        self._met = {self._loose(parts) for parts in self._urls}
        self._asked = {self._loose(parts) for parts, asked in self._urls.items() if asked}
        self._twins: dict[Key, list[Parts]] = {}
        self._neighbours: dict[Key, deque[Parts]] = {}
        for parts, content in self._seen:
            self._sort_in(parts, content)
        self._index_strictly()

    def _index_strictly(self) -> None:
        self._fetched: dict[Key, Parts] = {}
        for parts, _ in self._seen:
            self._fetched.setdefault(self._strict(parts), parts)

    def _sort_in(self, parts: Parts, content: int) -> None:
        loose = self._loose(parts)
        twins = self._twins.setdefault((loose, content), [])
        if len(twins) < _TWINS:
            twins.append(parts)
        self._neighbours.setdefault(loose, deque(maxlen=_NEIGHBOURS)).append(parts)
        for urls in self._twins, self._neighbours:
            if len(urls) > _MOST_URLS:
                del urls[next(iter(urls))]

    def _loose(self, parts: Parts) -> Key:
        """What URLs share that may have one text: all but what is known to matter."""
        if not self.matters:
            return (parts.skeleton,)
        return (parts.skeleton, *(pair for pair in parts.features if pair[0] in self.matters))

    def _strict(self, parts: Parts) -> Key:
        """What URLs share that have one text by the rules."""
        return (parts.skeleton, *(pair for pair in parts.features if pair[0] not in self.rules))

    def meet(self, parts: Parts) -> bool:
        """Note a URL that was found; whether none before it may have the same text."""
        key = self._loose(parts)
        if key in self._met:
            if len(self._urls) < _MOST_URLS:
                self._urls.setdefault(parts, False)
            return False
        if len(self._urls) < _MOST_URLS:
            self._urls[parts] = False
            self._met.add(key)
        return True

    def ask(self, parts: Parts) -> None:
        """Note that a URL is asked for."""
        self.meet(parts)
        if len(self._urls) < _MOST_URLS:
            self._urls[parts] = True
        if parts in self._urls:
            self._asked.add(self._loose(parts))

    def judge(self, parts: Parts) -> Judgement:
        """What is known of a URL."""
        if self.sparing(parts) is not None:
            return Judgement.SPARED
        if self._loose(parts) in self._asked and not self._urls.get(parts):
            return Judgement.SUSPECT
        return Judgement.NEW

    def sparing(self, parts: Parts) -> list[str] | None:
        """The rules by which a URL's text has come already; None if they do not say so."""
        if not self.rules:
            return None
        twin = self._fetched.get(self._strict(parts))
        if twin is None:
            return None
        names, section = sorted(parts.differences(twin)), parts.section
        values = dict(parts.features)
        for name in names:
            if not self.rules[name].holds(name, values.get(name), section):
                return None
            if name == PREFIX and not self._is_nested(values.get(name), self.rules[name]):
                return None
        return names

    def _is_nested(self, folders: str | None, rule: Evidence) -> bool:
        """Whether folders are names of pages, as those are that nested relative links add."""
        if not folders or folders in rule.values or rule.added:
            return True
        return all(folder in self._names for folder in folders.split("/")[1:])

    def observe(self, parts: Parts, content: int, *, is_new: bool) -> list[Change]:
        """Learn from a page that came: its content, and whether that, or a link in it, is new."""
        changes: list[Change] = []
        if len(self._names) < _MOST_URLS:
            self._names.add(parts.skeleton)
        loose = self._loose(parts)
        if is_new:
            for other in list(self._neighbours.get(loose, ())):
                self._contradict(parts.differences(other), changes)
                if changes:  # a rule was revoked, and all texts are forgotten
                    break
        else:
            for twin in self._twins.get((loose, content), ()):
                self._support(parts, twin, content)
        self._seen.append((parts, content))
        self._sort_in(parts, content)
        self._fetched.setdefault(self._strict(parts), parts)
        if len(self._fetched) > _MOST_URLS:
            del self._fetched[next(iter(self._fetched))]
        self._learn(changes)
        return changes

    def _support(self, parts: Parts, twin: Parts, content: int) -> None:
        names = parts.differences(twin)
        mine, others, section = dict(parts.features), dict(twin.features), parts.section
        for name in names:
            evidence = self.rules.get(name) or self._open.get(name)
            if evidence is None:
                if name in self.matters or len(self._open) >= _MOST_NAMES:
                    continue
                evidence = self._open[name] = Evidence()
            values = mine.get(name), others.get(name)
            evidence.note(content, section, *values, alone=len(names) == 1)

    def _contradict(self, names: Iterable[str], changes: list[Change]) -> None:
        """Note that of features that differ at least one matters."""
        differing = {name for name in names if not (name in self.rules and self.rules[name].added)}
        if not differing or differing & self.matters:
            return
        unproven = differing - self.rules.keys()
        if not unproven:
            self._revoke(differing, changes)
        elif len(unproven) == 1:
            self._note_that_matters(*unproven)
        elif len(self._doubts) < _MOST_DOUBTS and frozenset(unproven) not in self._doubts:
            self._doubts.append(frozenset(unproven))

    def _revoke(self, names: set[str], changes: list[Change]) -> None:
        """Give up rules that led to a page that is another, and learn anew.

        It may be the site that has changed: then what was seen before says nothing. What is revoked
        for the second time matters.
        """
        for name in sorted(names):
            del self.rules[name]
            changes.append(Change(name, learnt=False))
            if name in self._revoked:
                self.matters.add(name)
            self._revoked.add(name)
        self._open.clear()
        self._doubts.clear()
        self._seen.clear()
        self._index()

    def _note_that_matters(self, name: str) -> None:
        if len(self.matters) >= _MOST_NAMES:
            return
        self.matters.add(name)
        self._open.pop(name, None)
        self._doubts = [doubt for doubt in self._doubts if name not in doubt]
        self._index()

    def _learn(self, changes: list[Change]) -> None:
        ready = [name for name, evidence in self._open.items() if evidence.is_enough()]
        # What was the only difference before what never was: of two in doubt the first is a rule.
        ready.sort(key=lambda name: (-self._open[name].alone, -len(self._open[name].contents)))
        for name in ready:
            if name not in self._open:
                continue
            if any(doubt - self.rules.keys() == {name} for doubt in self._doubts):
                self._note_that_matters(name)
                continue
            self.rules[name] = self._open.pop(name)
            changes.append(Change(name, learnt=True, pages=len(self.rules[name].contents)))
            self._index_strictly()
        for doubt in list(self._doubts):
            rest = doubt - self.rules.keys()
            if len(rest) == 1:
                self._note_that_matters(*rest)

    def take(self, told: Mapping[str, Mapping[str, Any]]) -> None:
        """Take in what other crawls have learnt, and what people have said: by feature."""
        for name, what in list(told.items())[:_MOST_NAMES]:
            state = what.get("state")
            if state == "forbidden" and name not in self.forbidden:
                self.rules.pop(name, None)
                self.forbidden.add(name)
                self._note_that_matters(name)
            elif state == "added" and not (name in self.rules and self.rules[name].added):
                self.matters.discard(name)
                self.rules[name] = Evidence(added=True)
                self._index()
            elif state == "learnt" and name not in self.rules and name not in self.matters:
                evidence = self._open.setdefault(name, Evidence())
                evidence.told = max(evidence.told, values_told(what))
