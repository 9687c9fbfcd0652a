"""Places of pages in a spread index, and claims to them; see lua/cluster/claim.lua."""

from __future__ import annotations

import struct
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .shards import Call

MAX_PAGES = 16  # under one key, as in lua/layout.lua
_KEY = 5  # bytes of a place's key
_CLAIMS = 256  # keys in one call, unless one page has more
_CLAIMS_PER_PAGE = 12  # claims that take a server as long as a page
_CLAIM = struct.Struct(">IH")  # as in lua/cluster/claim.lua


class ShardKey(NamedTuple):
    """Where a page can be found: a shard, a letter for the table and the table key."""

    shard: int
    key: bytes


class Claims(NamedTuple):
    """Claims of pages to keys of a shard, packed as for lua/cluster/claim.lua.

    ``owners`` has for each key the index of its page among those given, and of its place.
    """

    shard: int
    packed: bytearray
    owners: list[tuple[int, int]]

    def claim_call(self) -> Call:
        """The call that makes the claims."""
        return Call("claim", self.shard, bytes(self.packed), len(self.owners) / _CLAIMS_PER_PAGE)

    def drop_call(self, name: bytes = bytes(4)) -> Call:
        """The call that removes the entries, and forgets the claims with this name."""
        return Call("drop", self.shard, name + self.packed, len(self.owners) / _CLAIMS_PER_PAGE)

    def read_reply(self, reply: bytes) -> Iterator[tuple[int, int, list[int], list[int]]]:
        """Yield page, index of the place, other kept pages there, and other pages there."""
        for found in reply.split(b";") if reply else ():
            which, _, numbers = found.partition(b"=")
            kept, _, others = numbers.partition(b"|")
            yield *self.owners[int(which)], _split_numbers(kept), _split_numbers(others)


def make_claims(pages: Iterable[tuple[int, Sequence[ShardKey]]]) -> list[Claims]:
    """The claims of pages, given as numbers with places."""
    found: list[Claims] = []
    last: dict[int, Claims] = {}
    for page, (number, places) in enumerate(pages):
        indices: dict[int, list[int]] = {}
        for index, place in enumerate(places):
            indices.setdefault(place.shard, []).append(index)
        for shard, some in indices.items():
            claims = last.get(shard)
            if claims is None or len(claims.owners) + len(some) > _CLAIMS:
                claims = last[shard] = Claims(shard, bytearray(), [])
                found.append(claims)
            claims.packed.extend(_CLAIM.pack(number, len(some)))
            claims.packed.extend(b"".join([places[index].key for index in some]))
            claims.owners.extend([(page, index) for index in some])
    return found


def places_claimed(shard: int, packed: bytes) -> dict[int, list[ShardKey]]:
    """The places in packed claims, by the numbers of the pages."""
    found: dict[int, list[ShardKey]] = {}
    at = 0
    while at < len(packed):
        number, count = _CLAIM.unpack_from(packed, at)
        at += _CLAIM.size
        end = at + count * _KEY
        found[number] = [ShardKey(shard, packed[n : n + _KEY]) for n in range(at, end, _KEY)]
        at = end
    return found


def forget_claims(shard: int, packed: bytes, out: Container[int]) -> Call:
    """The call that forgets claims whose pages are all decided.

    It also removes the entries of the pages in `out`.
    """
    left = [one for one in places_claimed(shard, packed).items() if one[0] in out]
    name = packed[:4]  # under which the shard stores the claims
    return make_claims(left)[0].drop_call(name) if left else Call("done", shard, b"c" + name)


@dataclass(slots=True, eq=False)
class Batch:
    """Claims that were made together; they end when all their pages are decided.

    Then entries are removed: those of the ``copies``, those of pages whose attempts another worker
    has ``ended``, and those of the oldest pages at ``crowded`` places.
    """

    claims: list[Claims]
    undecided: int = 0
    copies: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    crowded: set[ShardKey] = field(default_factory=set)


def _split_numbers(text: bytes) -> list[int]:
    return [int(number) for number in text.split(b",")] if text else []
