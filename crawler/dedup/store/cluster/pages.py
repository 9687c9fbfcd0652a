"""Pages of an index that is spread over shards: their places, and how they compare."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import xxhash

from ...candidates import Rule
from ...fingerprint import Fingerprint
from ...identity import host
from ...sketches.lsh import TABLE_KEY_BITS
from ...sketches.odd import OddSketch
from ..messages import CheckRequest, Evidence, TemplateNews
from .claims import MAX_PAGES, Batch, Place

# Kept pages compared with one page, and in vain in a row, as in lua/check.lua.
MAX_VERIFIED, MAX_IN_VAIN = 24, 8
_KEY_MASK = (1 << TABLE_KEY_BITS) - 1
_VIEW = struct.Struct(">cI8sI12sBHI4sBI4sH")  # as in lua/look.lua


@dataclass(frozen=True, slots=True)
class Spread:
    """How the pages of an index lie in so many `shards`."""

    shards: int
    one_table: bool = False  # see Rule

    def home(self, url: str) -> int:
        """The shard of a URL and of its page's record."""
        return xxhash.xxh3_64_intdigest(url.encode()) % self.shards

    def places(self, exact: bytes, words: int, bands: bytes) -> list[Place]:
        """The places of a page with this exact hash and these band keys, that of the hash first;
        none if it has no words.
        """
        if not words:
            return []
        number = int.from_bytes(exact[:4]) & _KEY_MASK
        found = [Place(int.from_bytes(exact[4:8]) % self.shards, b"e" + number.to_bytes(4))]
        for band in range(len(bands) // 4):
            # A shard has one table for all bands, so the band's number is part of the key.
            key, seed = bands[band * 4 : band * 4 + 4], 0 if self.one_table else band
            mixed = xxhash.xxh3_64_intdigest(key, seed=seed)
            number = mixed & _KEY_MASK
            found.append(Place((mixed >> 32) % self.shards, b"b" + number.to_bytes(4)))
        return list(dict.fromkeys(found))  # two keys may happen to have one place


class View(NamedTuple):
    """A page as those see it who might be its copies; see lua/look.lua.

    ``state`` is ``g`` (gone), ``c`` (a copy), ``k`` (kept) or ``p`` (pending). ``other`` is the
    local number of the attempt that is about to replace it, ``born`` of that or of its own.
    ``page`` is what is compared of it, ``canonical`` the table key of the URL that it gives its
    place to, ``last_seen`` in seconds since 1970.
    """

    state: bytes
    other: int = 0
    born: bytes = b""
    page: Fingerprint = Fingerprint(b"", 0)
    date: int = 0
    canonical: bytes = b""
    gone: bool = False
    url: str = ""
    last_seen: int = 0


def read_view(reply: bytes, odd_bytes: int) -> View:
    """What a shard says of a page."""
    if reply[:1] in (b"g", b"c"):
        return View(reply[:1], url=reply[1:].decode("utf-8", "replace"))
    (
        state,
        other,
        born,
        words,
        exact,
        level,
        sampled,
        date,
        canonical,
        gone,
        last_seen,
        own,
        size,
    ) = _VIEW.unpack_from(reply)
    at = _VIEW.size + size
    url, sketch = reply[_VIEW.size : at].decode("utf-8", "replace"), reply[at:]
    cut = max(0, len(sketch) - odd_bytes)
    bands, odd = sketch[:cut], sketch[cut:]
    if len(bands) % 4:  # somebody cut it
        bands = odd = b""
    sketches = (OddSketch(level, sampled, odd),) if odd else ()
    page = Fingerprint(exact, words, bands, sketches, own)
    return View(state, other, born, page, date, canonical, bool(gone), url, last_seen)


class Likeness(NamedTuple):
    """What makes a page a copy of another; the fields are those of an evidence."""

    standing: bytes
    similarity: float
    odd_bits: int
    level: int
    sampled: int
    other_sampled: int


def likeness(
    page: Fingerprint, view: View, threshold: float, rule: Rule, bits: int
) -> Likeness | None:
    """How `page` is a copy of the page seen; None if it is none, by the rules of lua/check.lua.

    Odd sketches are of so many `bits`.
    """
    if view.state not in b"kp" or not page.words:
        return None
    known = view.page
    if page.exact == known.exact and known.words:
        level, sampled = page.odd[0][:2] if page.odd else (0, 0)
        other_sampled = known.odd[0].members if known.odd else 0
        return Likeness(b"e", 1.0, 0, level, sampled, other_sampled)
    shared = rule.matches(page.bands, known.bands)
    grounds = rule.compare(page, known, shared) if shared else None
    if grounds is None:
        return None
    similarity = grounds.estimate(bits).similarity
    return Likeness(b"n", similarity, *grounds) if similarity >= threshold else None


@dataclass(slots=True, eq=False)
class Attempt:
    """A check under way. Numbers are global where not called local.

    ``hits`` maps a kept page to those of ``places``, by index, where it stood already, ``before``
    one that perhaps is under way. ``gone`` is an original known to stand for the page no more,
    ``answer`` what the shard says of an unchanged page, ``wish`` what somebody wants of its URL:
    ``keep``, ``drop`` or nothing; ``is_kept`` that the URL's page is kept so far.
    """

    request: CheckRequest
    born: bytes
    deadline: float
    shard: int
    url_key: bytes
    gone: int = 0
    local: int = 0
    number: int = 0
    replaces: int = 0
    answer: bytes | None = None
    wish: str = ""
    is_kept: bool = False
    canonical_known: bool = False
    news: TemplateNews | None = None
    error: Exception | None = None
    evidence: Evidence | None = None
    batch: Batch = field(default_factory=lambda: Batch([]))
    places: list[Place] = field(default_factory=list)
    before: dict[int, set[int]] = field(default_factory=dict)
    hits: dict[int, set[int]] = field(default_factory=dict)

    def renew(self) -> None:
        """Forget what an earlier attempt at the same check has found."""
        self.local = self.number = self.replaces = 0
        self.answer = self.error = None
        self.is_kept = False
        self.places, self.before, self.hits = [], {}, {}

    def wins(self, original: View) -> bool:
        """Whether the page takes the place of a kept page that it copies, as in lua/check.lua."""
        own = self.request
        return self.wish != "drop" and (
            own.preferred
            or original.gone
            or original.canonical == self.url_key
            or 0 < own.date < original.date
        )

    def is_unconfirmed(self, view: View) -> bool:
        """Whether a kept page was last seen before the crawl of this check began."""
        return view.last_seen < self.request.crawl

    def displaces(self, view: View) -> bool:
        """Whether a kept page leaves its text to this one, by the rule in lua/pages.lua."""
        is_final = bool(self.request.final) and host(view.url) in self.request.final
        return self.wish != "drop" and self.is_unconfirmed(view) and (self.is_kept or is_final)

    @property
    def age(self) -> tuple[bytes, int]:
        """By which attempts stand in one order, the first goes first."""
        return self.born, self.number

    def note(self, index: int, kept: Iterable[int], claimed: Iterable[int]) -> None:
        """Take in who else stands at the place with this index."""
        for numbers, group in ((kept, self.hits), (claimed, self.before)):
            for number in numbers:
                group.setdefault(number, set()).add(index)

    def crowded(self) -> set[Place]:
        """The places where very many others stand."""
        others = Counter(chain.from_iterable((*self.hits.values(), *self.before.values())))
        return {self.places[index] for index, count in others.items() if count >= MAX_PAGES}

    @property
    def is_alone(self) -> bool:
        """Whether it was begun and met nobody, but perhaps the page that it replaces."""
        found = self.local and self.error is None and not self.before
        return bool(found) and self.hits.keys() <= {self.replaces}

    def told(self, evidence: Evidence) -> Evidence:
        """The evidence, and what the check has found besides."""
        return evidence._replace(canonical_known=self.canonical_known, template=self.news)

    def candidates(self) -> tuple[list[int], list[int]]:
        """Pages to look at: all that are under way or have the page's exact hash; of the other kept
        ones those that may be compared with it, the likeliest first, as in lua/check.lua.
        """
        pages_at = Counter(chain.from_iterable(self.hits.values()))
        weights = {
            number: sum(1 / pages_at[index] for index in sorted(found - {0}))
            for number, found in self.hits.items()
        }
        first = dict.fromkeys(sorted(number for number, found in self.hits.items() if 0 in found))
        first |= dict.fromkeys(sorted(self.before))
        first.pop(self.replaces, None)
        others = self.hits.keys() - first.keys() - {self.replaces}
        ranked = sorted(others, key=lambda number: (-weights[number], number))
        return list(first), ranked[:MAX_VERIFIED]

    def found_at(self, number: int) -> set[int]:
        """The places where a page was found, by index."""
        return self.hits.get(number, set()) | self.before.get(number, set())

    def is_seen_by(self, number: int, view: View, spread: Spread) -> bool:
        """Whether a pending page meets this one's claims, or met them."""
        theirs = set(spread.places(view.page.exact, view.page.words, view.page.bands))
        shared = {index for index, place in enumerate(self.places) if place in theirs}
        return not shared <= self.found_at(number)
