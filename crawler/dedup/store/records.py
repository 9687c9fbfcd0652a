"""Records of pages: parses their bytes, and reads many of them."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from ..candidates import Evidence
from ..fingerprint import NO_OWN, Fingerprint
from ..sketches.anchors import STORED_BYTES
from ..sketches.odd import OddSketch
from ..sketches.similarity import Estimate
from ..verdict import COPIES
from .index_reader import IndexReader
from .layout import KINDS, NO_KEY, PAGES_IN_BLOCK, all_blocks, unpack_fetched

Progress: TypeAlias = Callable[[int, int], None]  # pages read, pages there are

# As in records.lua: the fields of every page, those of a copy, and those that only some pages have.
_BASE: Final = struct.Struct(">ccII4s4sI12sBH")
_COPY: Final = struct.Struct(">IHH")
_COPY_MORE: Final = struct.Struct(">I")
_KEPT_MORE: Final = struct.Struct(">I4sII")
_OWN_BYTES: Final = len(NO_OWN)
_SIZES: Final = struct.Struct(">BH")
_HAS_FETCHED: Final = 0x8000
_BEGINNINGS: Final = (b"", b"https://www.", b"https://", b"http://")
_PLACE: Final = struct.Struct(">BI")  # as in read.lua

STANDING: Final = ("unique", "short", *COPIES)

_BLOCKS: Final = 64  # read in one exchange


class PageRecord(NamedTuple):
    """What the index stores of one page.

    ``number`` is the page's own number, and ``representative`` the number of the kept page that
    stands for it (the page itself if it is kept). ``standing`` is the current decision, ``last``
    the verdict of the last check. Times are in seconds since 1970, 0 for none.

    ``odd_bits``, ``level``, ``sampled`` and ``other_sampled`` are the evidence for a copy, see
    :class:`~..candidates.Evidence`. ``bands`` and ``odd`` are the keys and the sketch of a kept
    page, empty for copies and for short pages. ``gone`` is the time when the page was found gone,
    ``rank`` decides between copies, ``canonical`` is the table key of the URL that takes its place,
    and ``replaces`` the number of the page whose place it took. ``own`` is the page's own content,
    see :class:`~..fingerprint.Fingerprint`, and ``anchors`` are its stored anchors, see
    :mod:`~..sketches.anchors`. ``url`` is the identity by which the index knows the page, and
    ``fetched`` the URL under which it was last fetched, if that is another.
    """

    number: int
    url: str
    standing: str
    last: str
    first_seen: int
    last_seen: int
    words: int
    exact: bytes
    url_key: bytes
    representative: int
    level: int
    sampled: int
    odd_bits: int
    other_sampled: int
    bands: bytes
    odd: bytes
    gone: int = 0
    rank: bytes = b""
    canonical: bytes = NO_KEY
    replaces: int = 0
    own: bytes = NO_OWN
    anchors: bytes = b""
    fetched: str = ""

    @property
    def shown_url(self) -> str:
        """The URL for people: as the page was fetched."""
        return self.fetched or self.url

    @property
    def is_kept(self) -> bool:
        """Whether the page is kept."""
        return self.standing not in COPIES

    @property
    def sketch(self) -> OddSketch | None:
        """The odd sketch of a kept page that is long enough to have one."""
        return OddSketch(self.level, self.sampled, self.odd) if self.odd else None

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of a kept page, without anchors."""
        sketch = self.sketch
        sketches = (sketch,) if sketch else ()
        return Fingerprint(self.exact, self.words, self.bands, sketches, self.own)

    @property
    def evidence(self) -> Evidence:
        """The evidence for the similarity of a copy to its original."""
        return Evidence(self.odd_bits, self.level, self.sampled, self.other_sampled)

    def estimate(self, bits: int) -> Estimate | None:
        """The similarity to the representative; None for a kept page."""
        return estimate_similarity(self.standing, self.evidence, bits)


class Candidates(NamedTuple):
    """Pages that a text may resemble.

    ``copies`` are the copies of the ``kept`` pages in the blocks of records before number ``rest``,
    or in all blocks if that is None. ``overlapping`` pages share anchors with the text.
    """

    kept: list[PageRecord]
    copies: list[PageRecord]
    rest: int | None
    overlapping: Sequence[PageRecord] = ()


def estimate_similarity(standing: str, evidence: Evidence, bits: int) -> Estimate | None:
    """The similarity on which a decision is based; None for a page that is not a copy.

    `bits` is the length of an odd sketch.
    """
    if standing == "exact":
        return Estimate.certain(1.0)
    return evidence.estimate(bits) if standing == "near" else None


def split_block(packed: bytes) -> Iterator[tuple[int, bytes]]:
    """The records of a block as returned by lua/read.lua: place in the block, and the record."""
    at, end = 0, len(packed)
    while at < end:
        slot, size = _PLACE.unpack_from(packed, at)
        at += _PLACE.size
        yield slot, packed[at : at + size]
        at += size


def parse_record(number: int, packed: bytes, odd_bytes: int) -> PageRecord | None:
    """The record of page `number`; None if it is damaged or foreign.

    A record may contain more than is known here, added by a later version.
    """
    if len(packed) < _SIZES.size:
        return None
    size, url_size = _SIZES.unpack_from(packed)
    beginning, size = divmod(size, 64)
    meta, rest = packed[_SIZES.size : _SIZES.size + size], packed[_SIZES.size + size :]
    rank, count, tail = b"", 0, size % 4 - 1
    if 0 < tail <= len(meta):  # as in records.lua
        rank, rest = rest[: meta[-1]], rest[meta[-1] :]
        count, meta = meta[-2] if tail > 1 else 0, meta[:-tail]
    if len(meta) < _BASE.size or len(rest) < url_size % _HAS_FETCHED:
        return None
    standing, last, first_seen, last_seen, _, url_key, words, exact, level, sampled = (
        _BASE.unpack_from(meta)
    )
    representative, odd_bits, other_sampled = number, 0, 0
    gone, canonical, replaces, own = 0, NO_KEY, 0, NO_OWN
    more = _BASE.size
    urls = _cut_urls(_BEGINNINGS[beginning], rest, url_size)
    kind, anchors = KINDS.get(standing), b""
    if urls is None or kind not in STANDING or last not in KINDS:
        return None
    url, fetched, sketch = urls
    if kind in COPIES:
        more += _COPY.size
        if len(meta) < more:
            return None
        representative, odd_bits, other_sampled = _COPY.unpack_from(meta, _BASE.size)
        if len(meta) >= more + _COPY_MORE.size:
            (gone,) = _COPY_MORE.unpack_from(meta, more)
    else:
        if len(meta) >= more + _KEPT_MORE.size:
            date, canonical, gone, replaces = _KEPT_MORE.unpack_from(meta, more)
            rank = date.to_bytes(4) if date else rank
            more += _KEPT_MORE.size
        own = meta[more : more + _OWN_BYTES] or NO_OWN
        anchors = sketch[: count * STORED_BYTES]
        sketch = sketch[len(anchors) :]
    cut = max(0, len(sketch) - odd_bytes)
    if bool(sketch) != (kind == "unique") or (sketch and (not cut or cut % 4)):
        return None
    return PageRecord(
        number,
        url,
        kind,
        KINDS[last],
        first_seen,
        last_seen,
        words,
        exact,
        url_key,
        representative,
        level,
        sampled,
        odd_bits,
        other_sampled,
        sketch[:cut],
        sketch[cut:],
        gone,
        rank,
        canonical,
        replaces,
        own,
        anchors,
        fetched,
    )


def _cut_urls(beginning: bytes, rest: bytes, size: int) -> tuple[str, str, bytes] | None:
    """The URL of a record, the one that was fetched or "", and what follows; None if it is cut."""
    has_fetched, size = divmod(size, _HAS_FETCHED)
    url, fetched, rest = beginning + rest[:size], b"", rest[size:]
    if has_fetched:
        end = 2 + int.from_bytes(rest[:2])
        if end > len(rest):
            return None
        try:
            fetched, rest = unpack_fetched(url, rest[2:end]), rest[end:]
        except struct.error:
            return None
    return url.decode("utf-8", "replace"), fetched.decode("utf-8", "replace"), rest


async def read_records(
    store: IndexReader, *, odd_bytes: int, progress: Progress | None = None, skip: int = 0
) -> AsyncIterator[PageRecord]:
    """All records of an index, on one server in the order of their numbers.

    Each is as of the moment when it is read: crawls may continue. Damaged records are skipped.
    `progress` is called from time to time. The first `skip` blocks are left out.
    """
    numbers = [state.get("next", 0) for state in await store.read_states()]
    count, done = sum(number // PAGES_IN_BLOCK + 1 for number in numbers), 0
    places = islice(all_blocks(numbers), skip, None)
    while some := list(islice(places, _BLOCKS)):
        for record in await read_blocks(store, some, odd_bytes):
            yield record
        done += len(some)
        if progress is not None:
            progress(done * PAGES_IN_BLOCK, count * PAGES_IN_BLOCK)


async def read_pages(
    store: IndexReader, numbers: Iterable[int], *, odd_bytes: int
) -> dict[int, PageRecord]:
    """The records of the pages with these numbers, without missing ones."""
    wanted = set(numbers)
    count = len(store.shards)
    places = sorted({(n % count, n // count // PAGES_IN_BLOCK) for n in wanted})
    found = {}
    for start in range(0, len(places), _BLOCKS):
        for record in await read_blocks(store, places[start : start + _BLOCKS], odd_bytes):
            if record.number in wanted:
                found[record.number] = record
    return found


async def read_blocks(
    store: IndexReader, places: Sequence[tuple[int, int]], odd_bytes: int
) -> list[PageRecord]:
    """The records in blocks, each given by shard and number in the shard."""
    count = len(store.shards)
    found = []
    for (shard, block), packed in zip(places, await store.packed_blocks(places), strict=True):
        for slot, stored in split_block(packed):
            number = (block * PAGES_IN_BLOCK + slot) * count + shard
            record = parse_record(number, stored, odd_bytes)
            if record is not None:
                found.append(record)
    return found
