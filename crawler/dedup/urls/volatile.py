"""Parts of URLs that are new in each link, such as session ids of no known form."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import xxhash

from ...latest import Latest
from .parts import PREFIX, Features, UrlParts

VOLATILE: Final = "volatile"
"""The name of this feature among those of a URL."""

_ENOUGH: Final = 3  # URLs with one content, found on as many pages, before a fourth is spared
_RIPE: Final = 2  # of them, before others wait
_MOST_FRAMES: Final = 1 << 14
_MOST_NAMES: Final = 1 << 12
_MOST_SEGMENTS: Final = 4  # at the end of a path that may be ids
_LONGEST_VALUE: Final = 64  # characters of a part that are remembered
_LEADS: Final = 4  # copies that lead on, as in a list, before nobody waits for a frame
_ENDING: Final = re.compile(r"\.(?:html?|php\d?|aspx?|jsp|cgi|shtml|pdf)$", re.IGNORECASE)
_SEPARATOR: Final = re.compile(r"[^\w%]|_")


class Hole(NamedTuple):
    """A part of a URL: its place, its value, and as its frame a digest of all around it."""

    place: str
    frame: int
    value: str

    @property
    def words(self) -> set[str]:
        """The words of the value."""
        return set(_SEPARATOR.split(self.value)) - {""}


Links = tuple[tuple[int, ...], ...]
"""For each link that no earlier page had, its frames."""


class _Page(NamedTuple):
    """A page that came, where its URL was found, and what it leads to."""

    hole: Hole
    found_on: int
    links: Links
    is_fresh: bool  # whether it had links that no earlier page had

    @property
    def value(self) -> tuple[str, str]:
        """The part's value, with its place."""
        return self.hole.place, self.hole.value


@dataclass(slots=True)
class _Frame:
    """URLs that differ in one part only; while they have one content, that and some of them."""

    place: str
    content: int | None = None
    asked: tuple[int, ...] = ()  # pages on which requested URLs were found
    pages: list[_Page] = field(default_factory=list)
    leads: int = 0
    is_mixed: bool = False

    @property
    def leads_on(self) -> bool:
        """Whether so many of its copies led to unknown pages that nobody should wait for it.

        It may still turn out that they lead to nothing else: when those pages have come, too.
        """
        return self.leads >= _LEADS

    def mix(self) -> None:
        """Note that these URLs are different pages."""
        self.is_mixed = True
        self.pages.clear()


class VolatileParts:
    """Finds the parts of a site's URLs that are made for each link, and make no difference.

    This is learnt for each frame: URLs that are alike but for one part. Three of them were fetched
    and had one content, which no other frame with the part in this place has. The parts have no
    word in common. Each URL, and each part, was found on another page. At least one of the three
    pages had links that no earlier page had. And none of them leads to anything unknown: each of
    its new links is in a frame of which two pages were fetched.
    """

    def __init__(self) -> None:
        self._frames: Latest[int, _Frame] = Latest(_MOST_FRAMES)
        # The one frame of a content; 0 for several.
        self._owners: Latest[tuple[str, int], int] = Latest(_MOST_FRAMES)
        self._values: dict[tuple[str, str], int] = {}  # where a part was found; 0 for several pages
        self._names: set[str] = set()  # of arguments of pages that came
        self._ripe: set[int] = set()  # contents of frames with two pages; a few are enough

    @property
    def has_ripe(self) -> bool:
        """Whether there ever was a frame with two pages."""
        return bool(self._ripe)

    @property
    def has_likely(self) -> bool:
        """Whether it is likely that parts of this site's URLs are volatile: several seemed so."""
        return len(self._ripe) >= _ENOUGH

    def list_holes(self, parts: UrlParts, known: Features) -> Iterator[Hole]:
        """The parts of a URL that may be volatile; `known` are the features that may matter."""
        rest = [one for one in known if one[0] not in (PREFIX, "session")]
        new = {name for name, _ in rest if name[0] in "?;" and name not in self._names}
        if new:
            values = "&".join(name for name, _ in rest if name in new)
            left = [one for one in rest if one[0] not in new]
            _, shown = _list_segments(parts, known)
            yield _make_hole("names", _digest(shown, left), values)
        yield from _list_path_holes(parts, known)
        if rest:  # what is beside an id may make no difference either
            yield from _list_path_holes(parts, tuple(one for one in known if one not in rest))

    def note_request(self, holes: Iterable[Hole], found_on: int) -> None:
        """Note the request for a URL that was found on a page."""
        for hole in holes:
            frame = self._use_frame(hole)
            if not frame.is_mixed and len(frame.asked) < _ENOUGH and found_on not in frame.asked:
                frame.asked += (found_on,)

    def has_asked(self, holes: Iterable[Hole]) -> bool:
        """Whether to wait: three URLs that differ in one part only are requested already."""
        return any(
            (frame := self._frames.get(hole.frame)) is not None
            and len(frame.asked) >= _ENOUGH
            and not (frame.is_mixed or frame.leads_on)
            for hole in holes
        )

    def is_ripe(self, holes: Iterable[Hole]) -> bool:
        """Whether a part of a URL may be volatile, judging by two others."""
        return self._has_pages(holes, _RIPE)

    def is_volatile(self, holes: Iterable[Hole]) -> bool:
        """Whether a part of a URL is volatile, judging by three others."""
        return self._has_pages(holes, _ENOUGH)

    def _has_pages(self, holes: Iterable[Hole], number: int) -> bool:
        return any(
            self._values.get((hole.place, hole.value)) != 0
            and self._counts(hole.frame, number)
            and all(hole.words.isdisjoint(one.hole.words) for one in self._frames[hole.frame].pages)
            for hole in holes
        )

    def _counts(self, key: int, number: int) -> bool:
        """Whether `number` URLs of a frame show that the part in which they differ is volatile."""
        frame = self._frames.get(key)
        if frame is None or frame.content is None or len(frame.pages) < number:
            return False
        if self._owners.get((frame.place, frame.content)) != key or any(
            not self._values.get(page.value, page.found_on) for page in frame.pages
        ):
            return False
        if number < _ENOUGH:
            return not frame.leads_on
        return any(page.is_fresh for page in frame.pages) and not self._list_leading(frame)

    def _list_leading(self, frame: _Frame) -> list[int]:
        """Which pages of a frame may lead to something unknown."""
        leading = []
        for place, page in enumerate(frame.pages):
            if all(map(self._is_known, page.links)):
                frame.pages[place] = page._replace(links=())
            else:
                leading.append(place)
        return leading

    def _is_known(self, link: tuple[int, ...]) -> bool:
        return any(
            (frame := self._frames.get(key)) is not None and len(frame.pages) >= _RIPE
            for key in link
        )

    def note_page(
        self,
        parts: UrlParts,
        holes: Iterable[Hole],
        content: int,
        found_on: int,
        links: Links,
        *,
        is_new: bool,
    ) -> bool | None:
        """Note the content of a page, where its URL was found, and where it leads to.

        Returns True if it shows a part to be volatile, False if it refutes that of a part which
        seemed volatile, else None.
        """
        shown: bool | None = None
        for hole in holes:
            frame = self._use_frame(hole)
            if frame.content is None:
                self._own(frame, content, hole.frame)
            elif frame.is_mixed:
                continue
            elif frame.content != content:
                if is_new and self._counts(hole.frame, _ENOUGH):
                    shown = False
                frame.mix()
                continue
            led_to = () if is_new else links
            self._add_page(frame, _Page(hole, found_on, led_to, bool(led_to)))
            if len(frame.pages) >= _RIPE and len(self._ripe) < _ENOUGH:
                self._ripe.add(content)
            if shown is None and self._counts(hole.frame, _ENOUGH):
                shown = True
        if len(self._names) < _MOST_NAMES:
            self._names.update(name for name, _ in parts.features)
        return shown

    def _use_frame(self, hole: Hole) -> _Frame:
        frame = self._frames[hole.frame] = self._frames.get(hole.frame) or _Frame(hole.place)
        return frame

    def _own(self, frame: _Frame, content: int, key: int) -> None:
        frame.content, owned = content, (frame.place, content)
        self._owners[owned] = 0 if owned in self._owners else key

    def _add_page(self, frame: _Frame, page: _Page) -> None:
        if not page.found_on or any(
            page.found_on == one.found_on or not page.hole.words.isdisjoint(one.hole.words)
            for one in frame.pages
        ):
            return
        if len(frame.pages) >= _ENOUGH:
            leading = self._list_leading(frame)
            if not leading:
                return
            del frame.pages[leading[0]]
            frame.leads += 1
        frame.pages.append(page)
        for one in frame.pages if len(frame.pages) >= _RIPE else ():
            if len(self._values) < _MOST_FRAMES:
                found_on = self._values.setdefault(one.value, one.found_on)
                if found_on != one.found_on:
                    self._values[one.value] = 0

    def forget_frame(self, frame: int) -> None:
        """Forget the contents of the URLs of a frame, which seemed to be different pages."""
        self._frames.pop(frame, None)

    def forget_pages(self) -> None:
        """Forget the contents of URLs."""
        self._frames.clear()
        self._owners.clear()
        self._values.clear()


def _list_segments(parts: UrlParts, features: Features) -> tuple[list[str], list[str]]:
    """The segments of a URL's path, and the same with ``*`` for sessions under a rule."""
    given = dict(parts.features)
    shown = f"{given.get(PREFIX, '')}/{parts.skeleton}".split("/")[1:]
    # Of random ids, some look like sessions and others do not.
    sessions = iter(given.get("session", "").split("/"))
    segments = [next(sessions, "*") if one == "*" else one for one in shown]
    return segments, segments if "session" in dict(features) else shown


@lru_cache(maxsize=1024)  # as in split_url
def _list_path_holes(parts: UrlParts, features: Features) -> tuple[Hole, ...]:
    """The parts of a URL's path that may be volatile."""
    rest = [one for one in features if one[0] not in (PREFIX, "session")]
    return tuple(
        _make_hole(place + "?" * bool(rest), _digest(place, around, rest), value)
        for place, around, value in _list_cuts(*_list_segments(parts, features))
        if rest or around.strip("/*")
    )


def _list_cuts(segments: list[str], shown: list[str]) -> Iterator[tuple[str, str, str]]:
    """Parts of a path: the place of each, the rest of the path, and its value."""
    number = len(segments)
    for place in range(max(number - _MOST_SEGMENTS, 0), number):
        before, after = shown[:place], shown[place + 1 :]
        yield f"{place}/{number}", "/".join([*before, "*", *after]), segments[place]
        if before and after:
            yield f"{place}/", "/".join([*before, "*"]), "/".join(segments[place:])
    folders, last = "/".join(shown[:-1]), segments[-1]
    if number > 2:
        yield "/1", f"*/{shown[-1]}", "/".join(segments[:-1])
    body = _ENDING.sub("", last)
    ending = last[len(body) :]
    cuts = [one.start() for one in _SEPARATOR.finditer(body)]
    for cut in {*cuts[:1], *cuts[-1:]}:
        head, tail = body[: cut + 1], body[cut:]
        yield f"{number}~", f"{folders}/{head}*{ending}", body[cut + 1 :]
        yield f"~{number}", f"{folders}/*{tail}{ending}", body[:cut]


def _make_hole(place: str, frame: int, value: str) -> Hole:
    return Hole(sys.intern(place), frame, value[:_LONGEST_VALUE])


def _digest(*what: object) -> int:
    """A number that is the same in all processes."""
    return xxhash.xxh3_64_intdigest(repr(what).encode("utf-8", "replace"))
