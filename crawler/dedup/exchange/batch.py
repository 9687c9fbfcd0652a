"""Batches: all requests that wait share the next exchange with the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Request = TypeVar("Request")
Reply = TypeVar("Reply")


class Batcher(Generic[Request, Reply]):
    """Sends a request at once if no exchange is under way, otherwise with all waiting ones.

    So a single page does not wait, and the size of an exchange follows from how long the server
    takes. `send` takes a list of requests and returns the replies in that order; an error that it
    raises reaches every request of its exchange.
    """

    def __init__(
        self, send: Callable[[list[Request]], Awaitable[Sequence[Reply]]], *, limit: int
    ) -> None:
        self._send = send
        self._limit = limit
        self._waiting: list[tuple[Request, asyncio.Future[Reply]]] = []
        self._sender: asyncio.Task[None] | None = None

    async def submit(self, request: Request) -> Reply:
        """The reply to `request`."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_all())
        return await future

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                batch = self._waiting[: self._limit]
                del self._waiting[: self._limit]
                await self._exchange(batch)
        finally:
            self._sender = None

    async def _exchange(self, batch: list[tuple[Request, asyncio.Future[Reply]]]) -> None:
        try:
            replies = await self._send([request for request, _ in batch])
        except BaseException as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            if not isinstance(error, Exception):
                raise
        else:
            for (_, future), reply in zip(batch, replies, strict=True):
                if not future.done():  # its caller may have been cancelled
                    future.set_result(reply)
