"""The web page of an index, served in a thread of the test's process."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.report.web.server import serve

TOKEN = "a-token-for-tests"


class Answer(NamedTuple):
    """What the server says."""

    status: int
    headers: Mapping[str, str]
    text: str


class Served:
    """The address of the page, and questions to it that no browser would ask."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.port = urlsplit(address).port
        self.root = f"http://127.0.0.1:{self.port}"

    def ask(
        self, path: str, method: str = "GET", form: Mapping[str, str] | None = None, **headers: str
    ) -> Answer:
        """One request; underscores in the names of headers are hyphens."""
        body = urlencode(form) if form is not None else None
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return self.send(path, body, method, **headers)

    def send(self, path: str, body: str | None, method: str = "POST", **headers: str) -> Answer:
        """One request with a body, as a program makes it."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, names)
            response = connection.getresponse()
            text = response.read().decode()
            return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text)
        finally:
            connection.close()

    def read(self, path: str, **options: Any) -> Answer:
        """A request with the token, as Prometheus sends it."""
        return self.ask(path, **{"Authorization": f"Bearer {TOKEN}", **options})


@contextmanager
def served(config: DedupConfig) -> Iterator[Served]:
    """The page of an index, until the end of the block."""
    address: Future[str] = Future()
    stop: list[Any] = []

    async def work() -> None:
        async with DuplicateIndex.open(config) as index:
            task = asyncio.ensure_future(
                serve(index, host="127.0.0.1", port=0, token=TOKEN, announce=address.set_result)
            )
            stop.extend((asyncio.get_running_loop(), task))
            with suppress(asyncio.CancelledError):
                await task

    thread = threading.Thread(target=asyncio.run, args=[work()])
    thread.start()
    try:
        yield Served(address.result(timeout=60))
    finally:
        loop, task = stop
        loop.call_soon_threadsafe(task.cancel)
        thread.join(60)
