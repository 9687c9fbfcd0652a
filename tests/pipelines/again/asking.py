"""A spider whose pages are asked for again, and how."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request, Spider

from tests.pipelines.crawls import prose

HOST = "Contents " + prose(9999)
IN_ORDER = {"DEDUP_LEARN_URLS": False}  # pages come in the order of their links


class Other(Spider):
    """Yields dicts, with what a callback was called with; it fetches pages that link to nothing."""

    name = "other"
    paths = ("/new", "/old")

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url

    async def start(self) -> AsyncIterator[Request]:
        for path in self.paths:
            yield Request(
                self.url + path, self.parse_page, cb_kwargs={"at": path}, meta={"mine": [1]}
            )

    def parse_page(self, response: Any, at: str) -> Iterator[Any]:
        yield {"url": response.url, "text": response.text, "at": at, "mine": response.meta["mine"]}
