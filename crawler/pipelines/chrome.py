"""Main text: fill it in where an item has only HTML."""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter
from scrapy.utils.asyncio import run_in_thread

from ..chrome import Document, MainText
from ..chrome.page.reader import COMPILED
from ..dedup.config import DedupConfig
from ..extractor import Extractor, Tree, extractor, own
from ..project import project_config
from ..start_errors import speak_plainly
from .failures import Failures
from .page import PageFields
from .reading import LONG_PAGE, PagesRead, parse

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

# Characters or bytes of HTML from which another extractor works in a thread.
_LONG_FOR_OTHERS = 100_000


class ChromePipeline:
    """Puts the main text of a page into its item and leaves all else as it is.

    Parameters
    ----------
    config
        Names the fields of the page.
    count
        Takes the name of a statistic to add one to.
    pages
        Those that were read when the spider yielded them.
    """

    def __init__(
        self, config: DedupConfig, count: Callable[[str], None], pages: PagesRead | None = None
    ) -> None:
        self.fields = PageFields(config, count, pages)
        self.extract = extractor(config)
        self._failures = Failures(count)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings; raises :class:`ConfigError` for one that cannot be used."""
        speak_plainly()
        config = project_config(crawler.settings)
        return cls(config, crawler.stats.inc_value, PagesRead.of(crawler))

    async def process_item(self, item: Any) -> Any:
        """Fill in the main text; whatever goes wrong with a page, its item passes."""
        try:
            if ItemAdapter.is_item(item):
                await main_text(item, self.fields, self.extract)
        except Exception as error:
            if self._failures.is_news(error):
                logger.exception("An item passes without its main text, and others may, too")
        return item


async def main_text(
    item: Any, fields: PageFields, extract: Extractor, template: AbstractSet[int] = frozenset()
) -> MainText | str | None:
    """The main text of an item, taken out of its HTML and filled in if the item has none yet.

    A :class:`MainText` if it was taken by this package. None if there is no HTML either, or a file
    that is none; an empty text if the page has none.
    """
    ready = fields.main(item) or fields.text(item)
    if ready is not None:
        return ready
    html = fields.html(item)
    if html is None:
        return None
    page: str | bytes | Tree = html
    # How long a tree is shows only when it is read, which takes long where that is not compiled.
    short = extract is own and (COMPILED or isinstance(html, Document))
    if isinstance(html, (str, bytes)):
        if not html or html.isspace():
            return ""
        short = len(html) < (LONG_PAGE if extract is own else _LONG_FOR_OTHERS)
        if extract is own:
            page = fields.pages.take(html) or await parse(html)
    if isinstance(page, Document) and page.is_binary:
        fields.tell_of_file(item)
        return None
    if short:
        found = extract(page, template)
    else:
        found = await run_in_thread(extract, page, template)
    text, title = (found, "") if isinstance(found, str) else (found.text, found.title)
    fields.fill(item, text=text, title=title)
    return found
