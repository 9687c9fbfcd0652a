"""Pages of an index that is spread over shards: their places, and how they compare."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import xxhash

from ...candidates import Evidence, Rule
from ...fingerprint import Fingerprint
from ...sketches.lsh import TABLE_KEY_BITS
from ...sketches.odd import OddSketch
from .claims import Place

_KEY_MASK = (1 << TABLE_KEY_BITS) - 1
_VIEW = struct.Struct(">cI8sI12sBH4sBI4sBH")  # as in lua/look.lua


@dataclass(frozen=True, slots=True)
class Spread:
    """How the pages of an index lie in so many `shards`."""

    shards: int
    one_table: bool = False  # see Rule
    has_anchors: bool = False

    def shard_of(self, url: str) -> int:
        """The shard of a URL and of its page's record."""
        return xxhash.xxh3_64_intdigest(url.encode()) % self.shards

    def find_places(self, exact: bytes, words: int, bands: bytes) -> list[Place]:
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

    def find_anchor_places(self, keys: Iterable[bytes]) -> list[Place]:
        """The places of anchors with these table keys."""
        return [Place(xxhash.xxh3_64_intdigest(key) % self.shards, b"a" + key) for key in keys]


class View(NamedTuple):
    """A page as seen by pages that may be its copies; see lua/look.lua.

    ``state`` is ``g`` (gone), ``c`` (a copy), ``k`` (kept) or ``p`` (pending). ``other`` is the
    local number of the attempt that is about to replace it, ``born`` of that or of its own.
    ``page`` is what is compared of it, ``rank`` its place among copies, ``canonical`` the table key
    of the URL that it gives its place to, ``last_seen`` in seconds since 1970. ``is_wanted`` says
    that a person wants it kept.
    """

    state: bytes
    other: int = 0
    born: bytes = b""
    page: Fingerprint = Fingerprint(b"", 0)
    rank: bytes = b""
    canonical: bytes = b""
    gone: bool = False
    url: str = ""
    last_seen: int = 0
    is_wanted: bool = False


def read_view(reply: bytes, odd_bytes: int) -> View:
    """Read a shard's reply about a page."""
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
        canonical,
        flags,
        last_seen,
        own,
        rank_size,
        size,
    ) = _VIEW.unpack_from(reply)
    url_at = _VIEW.size + rank_size
    at = url_at + size
    rank = reply[_VIEW.size : url_at]
    url, sketch = reply[url_at:at].decode("utf-8", "replace"), reply[at:]
    cut = max(0, len(sketch) - odd_bytes)
    bands, odd = sketch[:cut], sketch[cut:]
    if len(bands) % 4:  # somebody cut it
        bands = odd = b""
    sketches = (OddSketch(level, sampled, odd),) if odd else ()
    page = Fingerprint(exact, words, bands, sketches, own)
    gone, is_wanted = bool(flags & 1), flags >= 2
    return View(state, other, born, page, rank, canonical, gone, url, last_seen, is_wanted)


class Resemblance(NamedTuple):
    """What makes a page a copy of another: a letter for the decision, and how similar they are."""

    standing: bytes
    similarity: float
    evidence: Evidence


def compare_page(
    page: Fingerprint, view: View, threshold: float, rule: Rule, bits: int
) -> Resemblance | None:
    """How `page` is a copy of the page seen; None if it is not one, by the rules of lua/check.lua.

    Odd sketches are of so many `bits`.
    """
    if view.state not in b"kp" or not page.words:
        return None
    known = view.page
    if page.exact == known.exact and known.words:
        level, sampled = page.odd[0][:2] if page.odd else (0, 0)
        other_sampled = known.odd[0].members if known.odd else 0
        return Resemblance(b"e", 1.0, Evidence(0, level, sampled, other_sampled))
    shared = rule.matches(page.bands, known.bands)
    evidence = rule.compare(page, known, shared) if shared else None
    if evidence is None:
        return None
    similarity = evidence.estimate(bits).similarity
    return Resemblance(b"n", similarity, evidence) if similarity >= threshold else None
