"""Writes pages of an exported index into another, with their decisions.

Until it is complete, a new index has the field ``unfinished`` among its parameters and a digest
that no settings have, so no crawl can open it; see also :mod:`.namespaces`.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..errors import InputError, ParameterMismatch
from .base import Store
from .cluster.claims import ShardKey
from .cluster.spread_index import SpreadIndex
from .layout import KINDS, pack_fetched
from .parameters import UNFINISHED, Parameters, cleared_meanwhile, not_whole
from .records import PageRecord
from .scripts import load_script
from .server.connect import Client
from .server.faults import explain_faults

_PAGE: Final = struct.Struct(">I2cII4sI12sBHIHHI4sI4sHHHHB")  # as in lua/restore.lua
_LETTERS: Final = {kind: letter for letter, kind in KINDS.items()}
_TABLES: Final = {"exact": b"e", "band": b"b", "anchor": b"a"}
_NEEDED: Final = frozenset(("tables", "containment"))  # parameters that say what tables there are
_RUN: Final = 32  # pages written by one run of the script


class Restored(NamedTuple):
    """The number of a page, and whether it was written now, or by any call.

    An earlier call may have been interrupted after it, or had no answer. Otherwise the URL was
    known; the number is 0 if it was known with another text.
    """

    number: int
    is_new: bool
    is_restored: bool


class Restorer:
    """Writes pages into the index of `store`, which has or will have `parameters`.

    `mark` identifies what is imported: a second call with it resumes. `keeps` says whether pages
    keep their numbers, which is only possible in a new index with as many shards.
    """

    def __init__(
        self, client: Client, store: Store, parameters: Parameters, mark: str, *, shards: int
    ) -> None:
        self._client: Any = client
        self._store = store
        self._parameters = parameters
        self._mark = f"import {mark}"
        self._digest = parameters.digest
        self._params = list(dict.fromkeys([store.head.params, *(k.params for k in store.shards)]))
        self._same_shards = shards == (len(store.shards) if self._is_spread else 0)
        self.is_new = False

    @property
    def _is_spread(self) -> bool:
        return isinstance(self._store, SpreadIndex)

    @property
    def keeps(self) -> bool:
        """Whether pages keep their numbers."""
        return self.is_new and self._same_shards

    async def begin(self, next_numbers: Sequence[int]) -> None:
        """Make the index if it is missing, with the next number of each shard.

        Raises :class:`ParameterMismatch` if an index has the name but other parameters, and
        :class:`InputError` if that index is incomplete.
        """
        head = self._params[0]
        with explain_faults():
            listing = await self._client.eval(load_script("reserve").text, 1, head, self._mark)
            words = [part.decode() for part in listing] or [UNFINISHED, self._mark]
            found = dict(zip(words[::2], words[1::2], strict=True))
            if found.get(UNFINISHED, self._mark) != self._mark:
                raise InputError(not_whole(self._store.namespace, found[UNFINISHED]))
            if UNFINISHED not in found:
                if found.get("digest") != self._digest:
                    raise ParameterMismatch(
                        f"the index {self._store.namespace!r} has other parameters than the file "
                        f"(here called settings): {self._parameters.describe_differences(found)}; "
                        "import it under another DEDUP_NAMESPACE"
                    )
                return
            self.is_new = True
            self._digest = self._mark
            for key in self._params:
                values = {UNFINISHED: self._mark, "digest": self._mark}
                for name in _NEEDED & self._parameters.values.keys():
                    values[name] = self._parameters.values[name]
                await self._client.hset(key, mapping=values)
            if self.keeps:
                for keys, number in zip(self._store.shards, next_numbers, strict=True):
                    await self._client.hset(keys.state, "next", max(1, number))

    async def write(self, pages: Sequence[PageRecord]) -> list[Restored]:
        """Write pages that are not known yet; return their numbers."""
        count = len(self._store.shards)
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for place, page in enumerate(pages):
            groups[self._store.shard_of(page.url)].append(place)
        text = load_script("restore").text
        pipe: Any = self._client.pipeline(transaction=False)
        runs = []
        for shard, places in groups.items():
            for start in range(0, len(places), _RUN):
                some = places[start : start + _RUN]
                packed = [self._pack_page(pages[place]) for place in some]
                keys, mode = self._store.shards[shard], "shard" if self._is_spread else "all"
                pipe.eval(text, 2, keys.params, keys.guard, self._digest, mode, *packed)
                runs.append((shard, some))
        with explain_faults():
            replies = await pipe.execute() if runs else []
        found: dict[int, Restored] = {}
        for (shard, places), answers in zip(runs, replies, strict=True):
            for place, (local, code) in zip(places, answers, strict=True):
                found[place] = Restored(local and local * count + shard, code == 1, code > 0)
        restored = [found[place] for place in range(len(pages))]
        if isinstance(self._store, SpreadIndex):
            await self._make_entries(self._store, pages, restored)
        return restored

    async def _make_entries(
        self, store: SpreadIndex, pages: Sequence[PageRecord], restored: Sequence[Restored]
    ) -> None:
        """Make the entries of kept pages in their shards; if they exist, that changes nothing."""
        places = []
        for page, (number, _, is_restored) in zip(pages, restored, strict=True):
            if page.is_kept and is_restored:
                entries = store.list_entries(0, page)
                found = [ShardKey(one.shard, _TABLES[one.table] + one.key) for one in entries]
                places.append((number, found))
        await store.make_entries(places, self._digest)

    async def take_overrides(self, overrides: Mapping[str, str]) -> None:
        """Import the overrides of imported pages; a new index gets them at the end."""
        with explain_faults():
            for url, override in overrides.items() if not self.is_new else ():
                home = self._store.shards[self._store.shard_of(url)]
                await self._client.hsetnx(home.overrides, url, override)

    async def finish(self, counters: Mapping[str, Mapping[str, str]]) -> None:
        """Write the counters of a new index, and then its parameters: now it can be opened."""
        if not self.is_new:
            return
        keys = self._store.shards[0]
        with explain_faults():
            for name in ("stats", "hosts", "histogram"):
                if counters.get(name):
                    await self._client.hset(getattr(keys, name), mapping=dict(counters[name]))
            for url, override in counters.get("overrides", {}).items():
                home = self._store.shards[self._store.shard_of(url)]
                await self._client.hset(home.overrides, url, override)
            text, values = load_script("finish").text, self._parameters.flat
            for key in reversed(self._params):
                digest = await self._client.eval(text, 1, key, self._mark, *values)
                if digest != self._parameters.digest.encode():
                    raise InputError(cleared_meanwhile(self._store.namespace))

    def _pack_page(self, page: PageRecord) -> bytes:
        url = page.url.encode()
        fetched = pack_fetched(url, page.fetched.encode()) if page.fetched else b""
        number = page.number // len(self._store.shards) if self.keeps else 0
        head = _PAGE.pack(
            number,
            _LETTERS[page.standing],
            _LETTERS[page.last],
            page.first_seen,
            page.last_seen,
            self._store.url_key(page.url),
            page.words,
            page.exact,
            page.level,
            page.sampled,
            0 if page.is_kept else page.representative,
            page.odd_bits,
            page.other_sampled,
            page.gone,
            page.canonical,
            page.replaces,
            page.own,
            len(url),
            len(fetched),
            len(page.anchors),
            len(page.bands),
            len(page.rank),
        )
        return b"".join((head, page.rank, url, fetched, page.anchors, page.bands, page.odd))
