"""Exchanges with the server: many pages at once; requests without an answer go to the spool."""

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

logger = logging.getLogger(__name__)

_LONG_WAIT: Final = 1.0  # seconds

Requests = TypeVar("Requests")
Reply = TypeVar("Reply")
Answers: TypeAlias = Sequence[Answer | asyncio.Future[Answer]]


class CircuitBreaker:
    """After a long wait without an answer, lets requests fail at once.

    They do so for as long as the wait took. So a server or cluster node that hangs or is down does
    not hold up the crawl for a timeout, or for retries, at every exchange.
    """

    def __init__(self) -> None:
        self._resting_until = 0.0
        self._last_error = ""

    @contextmanager
    def guard_request(self) -> Iterator[None]:
        """Raise :class:`ServerError` at once while the server is not asked."""
        start = time.monotonic()
        if start < self._resting_until:
            raise ServerError(self._last_error)
        try:
            yield
        except ServerError as error:
            self.note_failure(start, error)
            raise

    def note_failure(self, start: float, error: ServerError) -> None:
        """Note that a request made at `start`, by the monotonic clock, got no answer."""
        waited = time.monotonic() - start
        # A refused connection is attempted four times, which takes half a second.
        if waited > _LONG_WAIT or is_connection_lost(error.__cause__):
            self._resting_until = time.monotonic() + waited
            self._last_error = str(error)

    def note_answer(self) -> None:
        """Note that the server answers again."""
        self._resting_until = 0.0


class Exchange:
    """Checks pages, reports gone URLs, and forgets pages, in exchanges of up to `limit` each.

    `check`, `report` and `forget` each make one exchange; a page may get its answer earlier than
    others. Methods raise the errors of these functions. After a :class:`ServerError`, a page's
    request is in the spool, if there is one. The `breaker` is also told of questions that are asked
    without this exchange.
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
        self._pages = Batcher(partial(self._send, check), limit=limit, keep=self.keep)
        self._reports = Batcher(partial(self._send, report), limit=limit)
        self._forgets = Batcher(partial(self._send, forget), limit=limit)
        self._timeout = timeout
        self._spool = spool
        self.breaker = CircuitBreaker()
        self._has_warned = False

    async def check(self, request: CheckRequest) -> Answer:
        """The server's answer about a page."""
        start = time.monotonic()
        answer = await self._pages.submit(request)
        if isinstance(answer, Answer):
            return answer
        try:
            return await answer
        except ServerError as error:
            self.breaker.note_failure(start, error)
            self.keep([request])
            raise

    async def ask(self, question: Callable[[], Awaitable[Reply]]) -> Reply:
        """The server's answer to any other question, which never goes to the spool."""
        with self.breaker.guard_request(), explain_faults():
            # A cluster's client would try again and again.
            async with asyncio.timeout(self._timeout):
                return await question()

    async def report(self, gone: Gone) -> bool:
        """Whether a URL is now recorded as gone; a failed report is not kept, see :meth:`keep`."""
        return await self._reports.submit(gone)

    async def forget(self, request: Forget) -> bool:
        """Whether a page was known and is now forgotten; a failed request is not kept."""
        return await self._forgets.submit(request)

    async def close(self) -> None:
        """End the exchanges under way, whose callers may no longer wait."""
        batchers = (self._pages, self._reports, self._forgets)
        await asyncio.gather(*(one.close(self._timeout) for one in batchers))

    def keep(self, requests: Sequence[Kept]) -> None:
        """Put requests without an answer into the spool."""
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

    async def _send(
        self, make: Callable[[Requests], Awaitable[Reply]], requests: Requests
    ) -> Reply:
        with self.breaker.guard_request():
            return await make(requests)
