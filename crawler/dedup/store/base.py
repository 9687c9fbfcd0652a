"""The common part of an index on one server and of a spread one."""

from __future__ import annotations

import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..fingerprint import Fingerprint
from .index_reader import IndexReader, parse_rules
from .keys import AGAIN, Keys
from .layout import Entry, table_key
from .messages import Crawl
from .parameters import Parameters
from .records import Candidates, PageRecord, read_pages
from .scripts import load_script
from .server.connect import Client
from .server.faults import explain_faults

_SEEN: Final = 4  # bytes of the time when a host was last seen, before the log of its template


class Store(IndexReader, ABC):
    """An index with its parameters: where it stores pages, and what it knows about single URLs.

    ``parameters`` are the requested ones, and once the index is open, its own.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        shards: Sequence[Keys],
        head: Keys,
        parameters: Parameters,
    ) -> None:
        super().__init__(client, namespace, shards, head)
        self.parameters = parameters
        self._entry = secrets.token_hex(4)  # of the next crawl to begin, until that has an answer

    @property
    def has_anchors(self) -> bool:
        """Whether the index has a table of anchors."""
        return "containment" in self.parameters.values

    async def is_replaced(self) -> bool:
        """Whether the index that was opened has been deleted or replaced."""
        with explain_faults():
            digest = await self._client.hget(self.head.params, "digest")
        return bool(digest != self.parameters.digest.encode())

    def url_key(self, url: str) -> bytes:
        """The key of a URL in the table of URLs."""
        return table_key(url, self.parameters.seed)

    @abstractmethod
    def shard_of(self, url: str) -> int:
        """The shard that holds the record of a URL."""

    @abstractmethod
    def list_tables(self, bands: int) -> list[tuple[str, str]]:
        """The tables of a shard, each with the group in which its size is counted."""

    @abstractmethod
    def list_entries(
        self, shard: int, page: PageRecord | Fingerprint, number: int = 0
    ) -> list[Entry]:
        """The entries of a kept page with this number, without its entry in the table of URLs.

        Copies of the page are found under the same keys.
        """

    async def claimed_entries(self) -> list[Entry]:
        """The entries of pages that are being checked and have no records yet."""
        return []

    async def override(self, url: str, decision: str | None) -> None:
        """Store a person's override for a URL: keep or drop; None removes it."""
        keys = self.shards[self.shard_of(url)]
        with explain_faults():
            # When an override is removed, its page has to be decided anew, once.
            if decision is not None or await self._client.hexists(keys.overrides, url):
                await self._client.hset(keys.overrides, url, decision or AGAIN)

    async def count_errors(self, counts: Mapping[str, int]) -> None:
        """Add to the number of errors in crawls, by class of the error."""
        pipe: Any = self._client.pipeline(transaction=False)
        for name, number in counts.items():
            pipe.hincrby(self.head.errors, name, number)
        with explain_faults():
            await pipe.execute()

    async def template(self, host: str) -> bytes:
        """The log of a host's template, 4 bytes an entry: see lua/pages.lua."""
        keys = self.shards[self.shard_of(host)]
        with explain_faults():
            packed = await self._client.hget(keys.templates, host)
        log = (packed or b"")[_SEEN:]
        return log[: len(log) // 4 * 4]

    async def url_rules(self, site: str, *change: Any) -> dict[str, dict[str, Any]]:
        """The rules of a site's URLs, by feature; see lua/spared/url_rules.lua for `change`."""
        script, keys = load_script("url_rules"), self.shards[self.shard_of(site)]
        arguments = self.parameters.digest, int(time.time()), site, *change
        with explain_faults():
            found = await self._client.eval(script.text, 2, keys.params, keys.guard, *arguments)
        return parse_rules(found)

    async def share_seen(
        self, crawl: int, process: str, last: bytes, pages: Sequence[str]
    ) -> tuple[bytes, list[bytes]]:
        """Exchange seen pages with other processes of a crawl, see lua/spared/seen.lua."""
        arguments = self.parameters.digest, crawl, process, last, *pages
        with explain_faults():
            text, keys = load_script("seen").text, self.head
            last, found = await self._client.eval(text, 2, keys.params, keys.guard, *arguments)
        return last, found

    async def find_candidates(
        self, page: Fingerprint, *, odd_bytes: int, copies: bool = False
    ) -> Candidates:
        """The kept pages that share the exact hash or a key with a page. Changes nothing.

        With `copies`, also the copies of these pages, as far as they are cheap to find.
        """
        entries = self.list_entries(0, replace(page, anchors=b""))
        numbers = {number for some in await self.pages_under(entries) for number in some}
        found = await read_pages(self, numbers, odd_bytes=odd_bytes)
        return Candidates([record for record in found.values() if record.is_kept], [], 0)

    @abstractmethod
    async def _eval_crawl(self, shard: int, *arguments: Any) -> Any:
        """What lua/crawl.lua returns for a shard."""

    async def resume_crawl(self, crawl: Crawl, name: str = "") -> Crawl:
        """Record that a crawl goes on, in a process of the crawl with this name."""
        arguments = "resume", crawl.number, name, crawl.start, self._entry
        return self._note_entry(Crawl(*await self._eval_crawl(0, *arguments)))

    async def end_crawl(self, crawl: Crawl) -> None:
        """Record that a crawl has ended."""
        await self._eval_crawl(0, "end", crawl.number, "", "", crawl.entry)

    async def give_up_crawl(self, crawl: Crawl) -> None:
        """Record that a crawl was killed."""
        await self._eval_crawl(0, "kill", crawl.number, "", crawl.start)

    def _note_entry(self, crawl: Crawl) -> Crawl:
        """A crawl that has begun, with its entry; the next one is no retry of it."""
        entry, self._entry = self._entry, secrets.token_hex(4)
        return crawl._replace(entry=entry)

    @abstractmethod
    async def finish_dead(self) -> None:
        """Complete the checks that dead workers left unfinished."""

    @abstractmethod
    async def close(self) -> None:
        """End background work."""
