"""The index on one server: one script for each operation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from redis.exceptions import NoScriptError

from ..candidates import Rule
from ..fingerprint import Fingerprint
from ..sketches.anchors import anchor_keys, asked_keys
from .base import Store
from .keys import Keys
from .layout import Entry
from .messages import (
    Answer,
    CheckRequest,
    Crawl,
    Forget,
    Gone,
    Original,
    StoredPage,
    pack_forget,
    pack_gone,
    pack_request,
    unpack_answer,
    unpack_check,
    unpack_original,
)
from .parameters import Parameters
from .records import Candidates, PageRecord, parse_record
from .scripts import load_script
from .server.connect import Client
from .server.faults import explain_faults

_BLOCKS_LOOKED_THROUGH = 500  # searched for copies in one exchange, which blocks the server


class SingleIndex(Store):
    """The tables and records of one namespace on one server."""

    exchange = 32  # pages in one exchange, which blocks the server for about 0.1 ms a page

    def __init__(
        self,
        client: Client,
        namespace: str,
        parameters: Mapping[str, Any],
        rule: Rule,
        *,
        threshold: float,
        bits: int,
        ttl: float | None,
        secret: int | None = None,
        keys: Keys | None = None,
    ) -> None:
        self.keys = keys or Keys(namespace)
        agreed = Parameters(namespace, parameters, secret=secret)
        super().__init__(client, namespace, [self.keys], self.keys, agreed)
        self._tables = int(parameters["tables"])
        self._rule = rule
        self._threshold = max(threshold, rule.least_similarity)
        self._bits = bits
        self._ttl = ttl

    async def open(self, *, make: bool = True) -> dict[str, str]:
        """Make the index, or check that an existing one has these parameters; return them.

        Without `make`, a missing index is read as an empty one. Raises :class:`ParameterMismatch`,
        which names the differences, and :class:`ServerError`.
        """
        listing = await self._run_script("open", self.parameters.flat if make else [])
        if self.parameters.takes_over(listing):
            listing = await self._run_script("take_over", self.parameters.taking_over)
        return self.parameters.adopt_parameters(listing)

    async def check(self, requests: Sequence[CheckRequest]) -> list[Answer]:
        """Check pages in order, all in one atomic step and one exchange."""
        now = int(time.time())
        oldest = 0 if self._ttl is None else now - int(self._ttl)
        terms = self._threshold, self._bits, oldest
        rule = self._rule.min_matches, "keys" if self._rule.by_keys else "sketch"
        arguments: list[Any] = [self.parameters.digest, now, *terms, *rule]
        seed = self.parameters.seed
        arguments += [pack_request(request, seed) for request in requests]
        read = partial(_parse_records, odd_bytes=self._bits // 8)
        return [unpack_check(reply, read) for reply in await self._run_script("check", arguments)]

    async def start(self, requests: Sequence[CheckRequest]) -> list[Answer]:
        """Check pages in order, like :meth:`check`: no answer is still to come."""
        return await self.check(requests)

    async def find_candidates(
        self, page: Fingerprint, *, odd_bytes: int, copies: bool = False
    ) -> Candidates:
        """See :meth:`Store.find_candidates`: one exchange."""
        if not self.parameters.agreed:  # there is no index
            return Candidates([], [], None)
        blocks = _BLOCKS_LOOKED_THROUGH if copies else 0
        keys = b"".join(asked_keys(page.anchors))
        arguments = [self.parameters.digest, page.exact, page.bands, blocks, keys]
        *groups, rest, overlapping = await self._run_script("match", arguments)
        kept, others = (_parse_records(group, odd_bytes) for group in groups)
        return Candidates(kept, others, rest or None, _parse_records(overlapping, odd_bytes))

    async def show(self, url: str) -> StoredPage | None:
        """What the index stores about a URL, or None if it never saw it."""
        reply = await self._run_script("show", [url, self.url_key(url)])
        if reply is None:
            return None
        answer, shown_url, *rest = reply
        return StoredPage(unpack_answer(answer), shown_url.decode("utf-8", "replace"), *rest)

    async def gone(self, reports: Sequence[Gone]) -> list[bool]:
        """Record that URLs are gone; False for unknown ones.

        Also False, without a record, for a page that was checked later than it was found gone.
        """
        items = [pack_gone(report, self.url_key(report.url)) for report in reports]
        replies = await self._run_script("gone", [self.parameters.digest, *items])
        return [bool(known) for known in replies]

    async def begin_crawl(self, name: str = "") -> Crawl:
        """Begin a crawl, or join the one with this name."""
        arguments = "begin", 0, name, "", self._entry
        return self._note_entry(Crawl(*await self._eval_crawl(0, *arguments)))

    async def _eval_crawl(self, shard: int, *arguments: Any) -> Any:
        return await self._run_script(
            "crawl", [self.parameters.digest, int(time.time()), *arguments]
        )

    async def originals(self, urls: Sequence[str], start: int) -> list[Original]:
        """The state of the original of each page since `start`."""
        items = [self.url_key(url) + url.encode() for url in urls]
        replies = await self._run_script("originals", [self.parameters.digest, start, *items])
        return [unpack_original(reply) for reply in replies]

    async def forget(self, requests: Sequence[Forget]) -> list[bool]:
        """Remove URLs from the index; False for unknown ones, and for copies with ``if_kept``."""
        items = [pack_forget(request, self.url_key(request.url)) for request in requests]
        replies = await self._run_script("forget", [self.parameters.digest, self._bits, *items])
        return [bool(was_there) for was_there in replies]

    def shard_of(self, url: str) -> int:
        return 0

    def list_tables(self, bands: int) -> list[tuple[str, str]]:
        found = [("url", "url"), ("exact", "exact"), *((f"band{i}", "band") for i in range(bands))]
        return [*found, ("anchor", "anchor")] if self.has_anchors else found

    def list_entries(
        self, shard: int, page: PageRecord | Fingerprint, number: int = 0
    ) -> list[Entry]:
        found = [Entry(shard, "exact", "exact", page.exact[:4], number)] if page.words else []
        for band in range(len(page.bands) // 4):
            key = page.bands[band * 4 : band * 4 + 4]
            found.append(Entry(shard, f"band{band % self._tables}", "band", key, number))
        for key in anchor_keys(page.anchors):
            found.append(Entry(shard, "anchor", "anchor", key, number))
        return found

    async def finish_dead(self) -> None:
        """Do nothing: a check is one step and leaves nothing half done."""

    async def close(self) -> None:
        """Do nothing: a check is one step and all is done when it returns."""

    async def _run_script(self, name: str, arguments: Sequence[Any]) -> Any:
        with explain_faults():
            return await self._evaluate_script(name, [self.keys.params], arguments)

    async def _evaluate_script(
        self, name: str, keys: Sequence[str], arguments: Sequence[Any]
    ) -> Any:
        script, words = load_script(name), (len(keys), *keys, *arguments)
        with suppress(NoScriptError):  # a new server, or one that was restarted
            return await self._client.evalsha(script.digest, *words)
        return await self._client.eval(script.text, *words)


def _parse_records(group: list[Any], odd_bytes: int) -> list[PageRecord]:
    """Parse the records in a reply of lua/match.lua, where each follows its number."""
    pairs = zip(group[::2], group[1::2], strict=True)
    found = (parse_record(number, packed, odd_bytes) for number, packed in pairs)
    return [record for record in found if record is not None]
