"""Long pages are parsed without holding up the others."""

from __future__ import annotations

import asyncio
from typing import Final

from scrapy.utils.asyncio import is_asyncio_available, run_in_thread

from .. import chrome

# Characters or bytes of HTML from which a page is parsed in a thread. That takes twice the CPU when
# the crawl is busy: the parser asks for Python's lock at every tag.
LONG_PAGE: Final = 1_000_000


async def parse(
    html: str | bytes, *, url: str | None = None, content_type: str | None = None
) -> chrome.Document:
    """Parse as :func:`..chrome.parse` does; the event loop goes on every few milliseconds."""
    if len(html) >= LONG_PAGE:
        return await run_in_thread(chrome.parse, html, url=url, content_type=content_type)
    steps = chrome.parse_in_steps(html, url=url, content_type=content_type)
    pause = is_asyncio_available()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            document: chrome.Document = end.value
            return document
        if pause:
            await asyncio.sleep(0)
