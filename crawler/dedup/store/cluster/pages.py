"""Pages of an index that is spread over shards: their places, and how they compare."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import xxhash

from ...candidates import Evidence, Rule
from ...fingerprint import Fingerprint
from ...sketches.lsh import TABLE_KEY_MASK
from ...sketches.odd import OddSketch
from ..messages import ANSWER_BYTES
from .claims import ShardKey

_FOUND = struct.Struct(">IIIII12s")  # as in lua/cluster/find.lua
_VIEW = struct.Struct(">cI8sI12sBH4sBI4sBHH")  # as in lua/cluster/look.lua


@dataclass(frozen=True, slots=True)
class Spread:
    """How the pages of an index are distributed over its ``shards``."""

    shards: int
    one_table: bool = False  # see Rule
    has_anchors: bool = False

    def shard_of(self, url: str) -> int:
        """The shard of a URL and of its page's record."""
        return xxhash.xxh3_64_intdigest(url.encode()) % self.shards

    def find_places(self, exact: bytes, words: int, bands: bytes) -> list[ShardKey]:
        """The places of a page's exact hash, the first, and of its band keys.

        A page without words has none.
        """
        if not words:
            return []
        number = int.from_bytes(exact[:4]) & TABLE_KEY_MASK
        found = [ShardKey(int.from_bytes(exact[4:8]) % self.shards, b"e" + number.to_bytes(4))]
        for band in range(len(bands) // 4):
            # A shard has one table for all bands, so the band's number is part of the key.
            key, seed = bands[band * 4 : band * 4 + 4], 0 if self.one_table else band
            mixed = xxhash.xxh3_64_intdigest(key, seed=seed)
            number = mixed & TABLE_KEY_MASK
            found.append(ShardKey((mixed >> 32) % self.shards, b"b" + number.to_bytes(4)))
        return list(dict.fromkeys(found))  # two keys may happen to have one place

    def find_anchor_places(self, keys: Iterable[bytes]) -> list[ShardKey]:
        """The places of anchors with these table keys."""
        return [ShardKey(xxhash.xxh3_64_intdigest(key) % self.shards, b"a" + key) for key in keys]


class PageView(NamedTuple):
    """A page as seen by pages that may be its copies; see lua/cluster/look.lua.

    ``state`` is ``g`` (gone), ``c`` (a copy), ``k`` (kept) or ``p`` (pending). ``other`` is the
    local number of the attempt that is about to replace the page. ``born`` is the age of that
    attempt, or of a pending page. ``page`` is the fingerprint, ``rank`` decides between copies,
    ``canonical`` is the table key of the URL that takes the page's place, and ``last_seen`` is in
    seconds since 1970. ``is_wanted`` means that a person wants the page kept. ``shown_url`` is the
    URL as it was fetched.
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
    shown_url: str = ""


def read_view(reply: bytes, odd_bytes: int) -> PageView:
    """Read a shard's reply about a page."""
    if reply[:1] in (b"g", b"c"):
        return PageView(reply[:1], shown_url=reply[1:].decode("utf-8", "replace"))
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
        fetched_size,
    ) = _VIEW.unpack_from(reply)
    url_at = _VIEW.size + rank_size
    fetched_at = url_at + size
    at = fetched_at + fetched_size
    rank = reply[_VIEW.size : url_at]
    url, sketch = reply[url_at:fetched_at].decode("utf-8", "replace"), reply[at:]
    shown = reply[fetched_at:at].decode("utf-8", "replace") or url
    cut = max(0, len(sketch) - odd_bytes)
    bands, odd = sketch[:cut], sketch[cut:]
    if len(bands) % 4:  # the record is cut
        bands = odd = b""
    sketches = (OddSketch(level, sampled, odd),) if odd else ()
    page = Fingerprint(exact, words, bands, sketches, own)
    gone, is_wanted = bool(flags & 1), flags >= 2
    return PageView(
        state, other, born, page, rank, canonical, gone, url, last_seen, is_wanted, shown
    )


class UrlRecord(NamedTuple):
    """The record of a URL; see lua/cluster/find.lua. ``answer`` is packed, without a URL."""

    answer: bytes
    shown_url: str
    number: int
    first_seen: int
    last_seen: int
    words: int
    gone: int
    exact: bytes


def read_found(reply: bytes) -> UrlRecord | None:
    """Read a shard's reply about a URL; None if it was never seen."""
    if not reply:
        return None
    end = _FOUND.size + ANSWER_BYTES
    shown = reply[end:].decode("utf-8", "replace")
    return UrlRecord(reply[_FOUND.size : end], shown, *_FOUND.unpack_from(reply))


class Resemblance(NamedTuple):
    """Why a page is a copy of another: the decision's letter, the similarity, and its evidence."""

    standing: bytes
    similarity: float
    evidence: Evidence


def compare_page(
    page: Fingerprint, view: PageView, threshold: float, rule: Rule, bits: int
) -> Resemblance | None:
    """The resemblance of `page` to a viewed page, by the rules of lua/check.lua.

    None if it is not a copy. `bits` is the length of an odd sketch.
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
