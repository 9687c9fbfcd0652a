"""The templates of sites that a crawl knows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary, WeakMethod

from ..chrome import SharedTemplate, SiteTemplates
from ..dedup.identity import host
from ..project import project_config
from .crawl.paused_file import PausedFile

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

Ask = Callable[[str, SharedTemplate], Awaitable[None]]
"""Fetches what other workers know about the template of a URL's site."""

_PAUSED: Final = "dedup-templates.pickle"  # what a paused crawl knew of its sites' templates
_templates: WeakKeyDictionary[Crawler, SiteTemplates | None] = WeakKeyDictionary()
# Weak references: the method may hold the crawler, which would then never be collected.
_asks: WeakKeyDictionary[Crawler, WeakMethod[Ask]] = WeakKeyDictionary()
_asking: WeakKeyDictionary[SharedTemplate, asyncio.Lock] = WeakKeyDictionary()


def ask_of_templates(crawler: Crawler, ask: Ask) -> None:
    """Let `ask` load what the index knows about a site's template before its first page."""
    _asks[crawler] = WeakMethod(ask)


async def site_template(crawler: Crawler, url: str) -> SharedTemplate | None:
    """The template of a page's site; None if ``DEDUP_TEMPLATES`` is off.

    The pipeline shares it with spiders that extract main text themselves.
    """
    if crawler not in _templates:
        on = project_config(crawler.settings).templates
        paused = PausedFile(crawler.settings, _PAUSED).take() if on else None
        _templates[crawler] = (paused or SiteTemplates()) if on else None
    templates = _templates[crawler]
    if templates is None:
        return None
    template = templates[host(url)]
    if not template.asked and crawler in _asks and (ask := _asks[crawler]()) is not None:
        # Pages of the host that come meanwhile wait for one answer.
        async with _asking.setdefault(template, asyncio.Lock()):
            if not template.asked:
                await ask(url, template)
                template.asked = True
        _asking.pop(template, None)
    return template


def save_templates(crawler: Crawler) -> None:
    """Leave what is known of templates to the process that continues this crawl."""
    if templates := _templates.get(crawler):
        PausedFile(crawler.settings, _PAUSED).save(templates)
