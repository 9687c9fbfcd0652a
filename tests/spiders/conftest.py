"""A web server that a test fills with pages, and crawls of it in this process."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scrapy import signals
from scrapy.crawler import Crawler

from crawler.items import Page
from crawler.spiders.site import SiteSpider
from tests.spiders.webserver import Result, Web


@pytest.fixture
def crawl(web: Web) -> Callable[..., Awaitable[Result]]:
    """Crawls the web server with the spider's arguments, and settings in capital letters."""

    async def run(**options: Any) -> Result:
        settings = {
            "TWISTED_REACTOR_ENABLED": False,
            "ROBOTSTXT_OBEY": True,
            "REMOTE_CONTROL_ENABLED": False,
            "RETRY_ENABLED": False,
            "LOG_ENABLED": False,
            **{name: value for name, value in options.items() if name.isupper()},
        }
        arguments = {name: value for name, value in options.items() if not name.isupper()}
        crawler = Crawler(SiteSpider, settings)
        items: list[Page] = []

        def keep(item: Page) -> None:
            items.append(item)

        crawler.signals.connect(keep, signal=signals.item_scraped)
        await crawler.crawl_async(**{"url": web.url, **arguments})
        return Result(items, crawler.stats.get_stats())

    return run


@pytest.fixture
def www(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name www.localhost, which not every machine knows."""
    look_up = socket.getaddrinfo

    def known(host: Any, *rest: Any, **options: Any) -> Any:
        here = host in ("www.localhost", b"www.localhost")
        return look_up("localhost" if here else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", known)
