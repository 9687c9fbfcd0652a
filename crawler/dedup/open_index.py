"""An open connection to the index, which prepares the requests for pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Self

from .config import DedupConfig
from .errors import ServerError
from .exchange.exchange import Exchange
from .exchange.open_store import make_store
from .exchange.requests import gone_of, request_of, verdict_of
from .exchange.spool import Spool
from .fingerprint import Fingerprint, Fingerprinter
from .scopes import scope_of
from .store.cluster.spread_index import SpreadIndex
from .store.messages import Answer, CheckRequest, Crawl, Forget, Gone
from .store.server.connect import open_server, server_name
from .store.single import SingleIndex
from .verdict import Verdict

# Texts with more characters are fingerprinted in a thread: they would block the event loop for more
# than a few milliseconds.
_LONG_TEXT = 200_000


class OpenIndex:
    """The connection of a :class:`~.index.DuplicateIndex`, and the preparation of its pages."""

    def __init__(
        self, config: DedupConfig, store: SingleIndex | SpreadIndex, spool_name: str | None
    ) -> None:
        self.config = config
        self.store = store
        self.fingerprint = Fingerprinter(config, self.seed)
        self.crawl: Crawl | None = None
        self._spool = (
            Spool(config.data_dir, spool_name, self.fingerprint.fits) if spool_name else None
        )
        self._exchange = Exchange(
            store.start,
            self._noted,
            self._forgotten,
            limit=store.exchange,
            timeout=config.timeout,
            spool=self._spool,
        )

    @property
    def seed(self) -> int:
        """The seed of all hashes, 0 to 2**64 - 1: configured, or drawn when the index was made."""
        return self.store.parameters.seed

    @property
    def digest(self) -> str:
        """A digest of the parameters and the seed; with the name it identifies the index."""
        return self.store.parameters.digest

    @classmethod
    @asynccontextmanager
    async def open(
        cls, config: DedupConfig, *, spool: bool = False, make: bool = True
    ) -> AsyncIterator[Self]:
        """Connect to the index that `config` names; a context manager.

        Parameters
        ----------
        config
            The settings.
        spool
            Whether pages without an answer are written to a file in ``DEDUP_DATA_DIR``, so that
            :meth:`replay` can check them later.
        make
            Whether a missing index is made. If not, it is read as an empty one until somebody
            makes it, and methods may then also raise :class:`ParameterMismatch`.

        Raises
        ------
        ServerError
            The server cannot be reached.
        ParameterMismatch
            The index was made with other parameters.
        InputError
            The dictionary of ``DEDUP_CORRECT`` cannot be read.
        MissingExtra
            A library that ``DEDUP_CORRECT`` needs is not installed.
        """
        async with open_server(config) as client:
            try:
                store = await make_store(client, config)
                found = await store.open(make=make)
            except ServerError as error:
                raise ServerError(f"{server_name(config)}: {error}") from error
            # A copy of the index, or another index with the same seed set, has this digest, too.
            name = f"{config.namespace} {found['digest']}"
            index = cls(config, store, name if spool else None)
            if index._spool is not None:
                with suppress(OSError):  # count_waiting raises if the spool cannot be read
                    await asyncio.to_thread(index._spool.set_aside)
            try:
                yield index
            finally:
                await index._exchange.close()
                await store.close()

    def _gone(self, url: str, since: int | None) -> Gone:
        """The report that a URL is gone, not dated before the start of the crawl."""
        report = gone_of(self.config, url, since)
        start = self.crawl.start if self.crawl is not None else 0
        return report._replace(since=max(report.since, start))

    def _request(self, url: str, fingerprint: Fingerprint, **options: Any) -> CheckRequest:
        return request_of(
            self.config,
            url,
            fingerprint,
            crawl=self.crawl,
            **options,
        )

    async def _is_there(self) -> bool:
        """Whether the index exists. If it was made meanwhile, its seed is used from now on."""
        parameters = self.store.parameters
        if not parameters.agreed:
            await self.store.open(make=False)
            if parameters.agreed:
                self.fingerprint = Fingerprinter(self.config, self.seed)
        return parameters.agreed

    def scoped(self, page: Fingerprint, url: str, scope: str | None = None) -> Fingerprint:
        """The fingerprint of a page in its scope.

        Raises :class:`InputError` if ``DEDUP_SCOPE`` is a field and `scope` is not given.
        """
        known = self.config.identity(url) if url else ""
        return self.fingerprint.scoped(page, scope_of(self.config, known, scope))

    async def _fingerprinted(
        self,
        text: str,
        whole: str | None = None,
        *,
        url: str,
        scope: str | None = None,
        least: float | None = None,
    ) -> Fingerprint:
        if not await self._is_there():
            raise ServerError(
                f"there is no index {self.config.namespace!r} to check pages: open it with make"
            )
        if max(len(text), len(whole or "")) > _LONG_TEXT:
            page = await asyncio.to_thread(self.fingerprint, text, whole, least=least)
        else:
            page = self.fingerprint(text, whole, least=least)
        return self.scoped(page, url, scope)

    def count_waiting(self) -> int:
        """The number of pages in ``DEDUP_DATA_DIR`` that passed unchecked and that this index can
        check.

        Raises :class:`OSError` if they cannot be read.
        """
        name = f"{self.config.namespace} {self.digest}"
        spool = self._spool or Spool(self.config.data_dir, name, self.fingerprint.fits)
        return spool.count()[0].pages

    async def count_errors(self, counts: Mapping[str, int]) -> None:
        """Report to the index how often a crawl failed, by class of the error, for monitoring.

        Raises :class:`ServerError` if the server gives no answer.
        """
        if counts and await self._is_there():
            await self._exchange.ask(partial(self.store.count_errors, counts))

    async def _decided(self, url: str, request: CheckRequest) -> Verdict:
        answer = await self._exchange.check(request)
        return self._verdict_of(url, answer, request)

    def _verdict_of(self, url: str, answer: Answer, request: CheckRequest) -> Verdict:
        config = self.config
        containment = config.containment
        return verdict_of(url, answer, config.sketch_bits, request=request, containment=containment)

    async def _noted(self, reports: list[Gone]) -> list[bool]:
        if not await self._is_there():
            return [False] * len(reports)
        return await self.store.gone(reports)

    async def _forgotten(self, requests: list[Forget]) -> list[bool]:
        if not await self._is_there():
            return [False] * len(requests)
        return await self.store.forget(requests)
