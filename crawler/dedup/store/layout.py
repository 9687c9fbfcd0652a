"""How an index is stored: tables, their buckets and entries, and blocks of records."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping
from os.path import commonprefix
from typing import Final, NamedTuple

from ..sketches.lsh import TABLE_KEY_BITS

PAGES_IN_BLOCK: Final = 48  # this and the following as in layout.lua and records.lua
LEAST_BUCKETS: Final = 8
_KEYS: Final = 1 << TABLE_KEY_BITS
_ENTRY: Final = struct.Struct(">3sI")
_FETCHED: Final = struct.Struct(">HB")
_MOST_AT_END: Final = 255
_FREE: Final = 0xFFFFFFFF
NO_KEY: Final = bytes(4)  # instead of a table key, where there is none
MORE: Final = 0xFEFFFFFF  # page number that stands for the pages left out under a crowded key
KINDS: Final = {
    b"u": "unique", b"e": "exact", b"n": "near", b"s": "short", b"=": "unchanged", b"!": "updated",
    b"r": "repeated",
}  # fmt: skip


def all_blocks(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Shard and number of each block of records, given the next page number of each shard.

    It is not a list because numbers are never reused: an old index has far more blocks than pages.
    """
    for shard, number in enumerate(numbers):
        for block in range(number // PAGES_IN_BLOCK + 1):
            yield shard, block


class Entry(NamedTuple):
    """An entry of a table: shard, table, the group in which the table's size is counted, table key
    and page number.
    """

    shard: int
    table: str
    group: str
    key: bytes
    page: int


def table_key(url: str, seed: int) -> bytes:
    """The key of a URL in the table of URLs.

    Without the seed, URLs that all fall into one bucket cannot be constructed.
    """
    return hashlib.blake2b(url.encode(), digest_size=4, key=seed.to_bytes(8)).digest()


def pack_fetched(url: bytes, fetched: bytes) -> bytes:
    """The URL under which a page was fetched, as a record has it beside the page's `url`.

    >>> pack_fetched(b"https://a.example/=.html", b"https://a.example/%3D.html")[3:]
    b'%3D'
    """
    first = len(commonprefix([url, fetched]))  # noqa: RUF071 (no paths)
    rest = fetched[first:]
    last = len(commonprefix([url[first:][::-1], rest[::-1]]))  # noqa: RUF071
    last = min(last, _MOST_AT_END)
    return _FETCHED.pack(first, last) + rest[: len(rest) - last]


def unpack_fetched(url: bytes, packed: bytes) -> bytes:
    """What :func:`pack_fetched` has packed. Raises :class:`struct.error` if it is cut."""
    first, last = _FETCHED.unpack_from(packed)
    return url[:first] + packed[_FETCHED.size :] + url[len(url) - last :]


def size_of(state: Mapping[str, int], group: str) -> int:
    """The number of buckets of each table in a group."""
    return max(state.get(f"{group}.size", 0), LEAST_BUCKETS)


def place_of(key: bytes, size: int) -> tuple[int, bytes]:
    """The bucket of a table key among `size` buckets, and the part of the key stored there."""
    number = int.from_bytes(key) % _KEYS
    weight = 1 << size.bit_length() - 1
    if number % weight + weight < size:
        weight *= 2
    return number % weight, (number // LEAST_BUCKETS).to_bytes(3)


def entries_in(bucket: bytes) -> Iterator[tuple[bytes, int]]:
    """The entries of a bucket: the stored part of a key, and the number of a page or MORE."""
    for tag, page in _ENTRY.iter_unpack(bucket[: len(bucket) // _ENTRY.size * _ENTRY.size]):
        if page == _FREE:
            return
        yield tag, page
