"""Main text: fill it in where an item has only HTML."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.utils.asyncio import run_in_thread

from ..chrome import strip_chrome
from ..dedup.config import DedupConfig
from ..project import project_config
from ..start_errors import speak_plainly
from .page import PageFields

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Characters or bytes of HTML from which a page is parsed in a thread. It would hold the event loop
# for some 15 ms; parsing lets go of Python's lock for much of that, so a thread costs such a page
# nothing, while it makes one of 10 KB, done in 1.2 ms, a fifth slower.
LONG_PAGE = 100_000


class ChromePipeline:
    """Puts the main text of a page into its item and leaves all else as it is.

    Args:
        config: names the fields of the page.
        count: takes the name of a statistic to add one to.
    """

    def __init__(self, config: DedupConfig, count: Callable[[str], None]) -> None:
        self.fields = PageFields(config, count)
        self._count = count

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings; raises :class:`ConfigError` for one that cannot be used."""
        speak_plainly()
        return cls(project_config(crawler.settings), crawler.stats.inc_value)

    async def process_item(self, item: Any) -> Any:
        """Fill in the main text; whatever goes wrong with a page, its item passes."""
        try:
            if ItemAdapter.is_item(item):
                await main_text(item, self.fields)
        except Exception as error:
            self._count(f"dedup/errors/{type(error).__name__}")
            logger.exception("An item passes without its main text")
        return item


async def main_text(item: Any, fields: PageFields) -> str | None:
    """The main text of an item, taken out of its HTML and filled in if the item has none yet.

    None if there is no HTML either; an empty text if the page has none.
    """
    text = fields.text(item)
    if text is not None:
        return text
    html = fields.html(item)
    if html is None:
        return None
    if len(html) < LONG_PAGE:
        page = strip_chrome(html)
    else:
        page = await run_in_thread(strip_chrome, html)
    fields.fill(item, text=page.text, title=page.title)
    return page.text
