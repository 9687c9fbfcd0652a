"""Batches: all requests that wait share the next exchange with the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from ..errors import CLOSED, ServerError
from ..tasks import end_tasks

Request = TypeVar("Request")
Reply = TypeVar("Reply")


class Batcher(Generic[Request, Reply]):
    """Sends a request at once if no exchange is under way, otherwise with all waiting ones.

    So a single page does not wait, and the size of an exchange follows from how long the server
    takes. `send` takes a list of requests and returns the replies in that order; an error that it
    raises reaches every request of its exchange. Requests that fail with :class:`ServerError` are
    handed to `keep`.
    """

    def __init__(
        self,
        send: Callable[[list[Request]], Awaitable[Sequence[Reply]]],
        *,
        limit: int,
        keep: Callable[[list[Request]], None] = lambda requests: None,
    ) -> None:
        self._send = send
        self._limit = limit
        self._keep = keep
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []
        self._sender: asyncio.Task[None] | None = None
        self._is_closed = False

    async def submit(self, request: Request) -> Reply:
        """The reply to `request`. Raises :class:`ServerError` after :meth:`close`."""
        if self._is_closed:
            self._keep([request])
            raise ServerError(CLOSED)
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_all())
        return await future

    async def close(self, seconds: float) -> None:
        """Send what waits; after so many `seconds` it fails."""
        self._is_closed = True
        if self._sender is not None:
            await end_tasks([self._sender], seconds=seconds)

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[: self._limit]
                del self._waiting[: self._limit]
                await self._exchange(batch)
        finally:
            self._sender = None
            if self._waiting:  # the index is closed
                self._fail(self._waiting, ServerError(CLOSED))

    async def _exchange(self, batch: list[tuple[Request, asyncio.Future[Reply]]]) -> None:
        try:
            replies = await self._send([request for request, _ in batch])
        except BaseException as error:
            told = ServerError(CLOSED) if isinstance(error, asyncio.CancelledError) else error
            self._fail(batch, told)
            if not isinstance(error, Exception):
                raise
        else:
            for (_, future), reply in zip(batch, replies, strict=True):
                if not future.done():  # its caller may have been cancelled
                    future.set_result(reply)

    def _fail(
        self, batch: list[tuple[Request, asyncio.Future[Reply]]], error: BaseException
    ) -> None:
        if isinstance(error, ServerError):
            self._keep([request for request, _ in batch])
        for _, future in batch:
            if not future.done():
                future.set_exception(error)
