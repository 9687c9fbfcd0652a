"""Pages on their way to the server: many at once, and kept for later where it gives no answer."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeAlias, TypeVar

from ..errors import ServerError
from ..store.messages import Answer, CheckRequest, Forget, Gone
from ..store.server.faults import explain_faults, is_connection_lost
from .batch import Batcher
from .spool import Spool
from .spool_lines import Kept

_LONG_WAIT: Final = 1.0  # seconds


class Patience:
    """After a long wait for nothing no page waits before as much time has gone by.

    A server that hangs or is down, or a node of a cluster, must not hold up the crawl for a
    time-out, or for attempts anew, at every exchange.
    """

    def __init__(self) -> None:
        self._resting_until = 0.0
        self._last_error = ""

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Raises :class:`ServerError` at once while the server is left in peace."""
        start = time.monotonic()
        if start < self._resting_until:
            raise ServerError(self._last_error)
        try:
            yield
        except ServerError as error:
            self.failed(start, error)
            raise

    def failed(self, start: float, error: ServerError) -> None:
        """Note that there was no answer to what was asked at `start`, of the monotonic clock."""
        waited = time.monotonic() - start
        # A refused connection is attempted four times, which takes half a second.
        if waited > _LONG_WAIT or is_connection_lost(error.__cause__):
            self._resting_until = time.monotonic() + waited
            self._last_error = str(error)


logger = logging.getLogger(__name__)

Requests = TypeVar("Requests")
Reply = TypeVar("Reply")
Answers: TypeAlias = Sequence[Answer | asyncio.Future[Answer]]


class Exchange:
    """Asks about pages, reports gone ones, and forgets some, in exchanges of up to `limit` each.

    `check`, `report` and `forget` make one; each page may have its answer at its own time. Methods
    raise what these raise; of :class:`ServerError`, what was asked for is in the spool, if there is
    one.
    """

    def __init__(
        self,
        check: Callable[[list[CheckRequest]], Awaitable[Answers]],
        report: Callable[[list[Gone]], Awaitable[list[bool]]],
        forget: Callable[[list[Forget]], Awaitable[list[bool]]],
        *,
        limit: int,
        timeout: float,
        spool: Spool | None,
    ) -> None:
        self._check = check
        self._pages = Batcher(self._send_pages, limit=limit)
        self._reports = Batcher(partial(self._send, report), limit=limit)
        self._forgets = Batcher(partial(self._send, forget), limit=limit)
        self._timeout = timeout
        self._spool = spool
        self._patience = Patience()
        self._has_warned = False

    async def check(self, request: CheckRequest) -> Answer:
        """What the server says of a page."""
        start = time.monotonic()
        answer = await self._pages.submit(request)
        if isinstance(answer, Answer):
            return answer
        try:
            return await answer
        except ServerError as error:
            self._patience.failed(start, error)
            self.keep([request])
            raise

    async def ask(self, question: Callable[[], Awaitable[Reply]]) -> Reply:
        """What the server says to anything else, of which nothing is kept."""
        with self._patience.asking(), explain_faults():
            # A cluster's client would try again and again.
            async with asyncio.timeout(self._timeout):
                return await question()

    async def report(self, gone: Gone) -> bool:
        """Whether a page is noted as gone by now; what fails is not kept, see :meth:`keep`."""
        return await self._reports.submit(gone)

    async def forget(self, request: Forget) -> bool:
        """Whether a page was there and is forgotten now; what fails is not kept."""
        return await self._forgets.submit(request)

    def keep(self, requests: Sequence[Kept]) -> None:
        """Put into the spool what got no answer."""
        if self._spool is None or not requests:
            return
        now = int(time.time())
        try:
            self._spool.add(
                one._replace(since=now) if isinstance(one, CheckRequest) else one
                for one in requests
            )
        except OSError as error:  # the pages pass unchecked all the same
            if not self._has_warned:  # there may be as many as the crawl has pages
                self._has_warned = True
                logger.warning(
                    "DEDUP_DATA_DIR %s cannot store pages that pass unchecked, so they will "
                    "not be checked later: %s",
                    self._spool.folder,
                    error.strerror or error,
                )

    async def _send_pages(self, requests: list[CheckRequest]) -> Answers:
        try:
            return await self._send(self._check, requests)
        except ServerError:
            self.keep(requests)
            raise

    async def _send(
        self, make: Callable[[Requests], Awaitable[Reply]], requests: Requests
    ) -> Reply:
        with self._patience.asking():
            return await make(requests)
