"""The main text of items that have only HTML."""

from __future__ import annotations

import logging
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Self

from itemadapter import ItemAdapter

from ..chrome import Document, MainText, title
from ..chrome.page.reader import COMPILED
from ..chrome.template.naming import heading_of
from ..dedup.config import DedupConfig
from ..extractor import extract_main_text, load_extractor
from ..files import FileError, can_read_files, is_file, read_file
from ..project import project_config
from ..scrapy_versions import run_in_thread
from ..start_errors import speak_plainly
from .failures import Failures
from .item_pages.item_page import ItemPage, Missing
from .item_pages.page_reader import PageReader
from .item_pages.values import is_blank
from .notices import Notices
from .reading import LONG_PAGE, ResponseTrees, parse_in_turns
from .writing import ItemWriter

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from .calls import Count

logger = logging.getLogger(__name__)

# Characters or bytes of HTML from which another extractor works in a thread.
_LONG_FOR_OTHERS = 100_000


class ChromePipeline:
    """Puts the main text of a page into its item, and changes nothing else.

    Parameters
    ----------
    config
        Names the fields of the page.
    count
        Called with the name of a statistic to increase by one.
    trees
        The trees of responses that were parsed before the spider got them.
    """

    def __init__(
        self, config: DedupConfig, count: Count, trees: ResponseTrees | None = None
    ) -> None:
        self.config = config
        self.texts = MainTexts(config, count, trees)
        self._failures = Failures(count)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Read the settings. Raises :class:`ConfigError` for one that cannot be used."""
        speak_plainly()
        config = project_config(crawler.settings)
        return cls(config, crawler.stats.inc_value, ResponseTrees.of_crawl(crawler))

    async def process_item(self, item: Any, spider: Any = None) -> Any:
        """Fill in the main text. The item passes even if that fails."""
        try:
            if ItemAdapter.is_item(item):
                await self.texts.fill_in(item)
        except Exception as error:
            if self._failures.is_news(error):
                logger.exception("An item passes without its main text, and others may, too")
        return item


class MainTexts:
    """Takes the main text from the pages of items, and fills it into the items."""

    def __init__(
        self, config: DedupConfig, count: Count, trees: ResponseTrees | None = None
    ) -> None:
        notices = Notices()
        self.reader = PageReader(config, count, notices)
        self.writer = ItemWriter(config, count, notices)
        self.extract = load_extractor(config)
        self._trees = trees or ResponseTrees()
        self._reads_files = config.files and can_read_files()
        self._count = count

    async def fill_in(self, item: Any) -> None:
        """Fill the main text into an item that has HTML, whatever its URL."""
        await self.take_text(item, self.reader.read_fields(item))

    async def take_text(
        self, item: Any, page: ItemPage, template: AbstractSet[int] = frozenset()
    ) -> MainText | str | None:
        """The main text of an item's page, which is also filled into the item.

        A :class:`MainText` if this package extracted it. None if the item has neither text nor
        HTML, or has a file that cannot be read; an empty text if the page has none.
        """
        ready = page.main or page.text
        if ready is not None:
            return ready
        html = page.html
        if html is None:
            return None
        if is_blank(html):
            return ""
        if isinstance(html, bytes) and is_file(html):
            return await self._take_file_text(item, page, html)
        short = self.extract is extract_main_text and (COMPILED or isinstance(html, Document))
        if isinstance(html, (str, bytes)):
            short = len(html) < (
                LONG_PAGE if self.extract is extract_main_text else _LONG_FOR_OTHERS
            )
            if self.extract is extract_main_text:
                html = await self._read_html(page, html)
        if isinstance(html, Document):
            page.document = html
            if html.is_binary:
                self.reader.missing.tell_of_file(item, page)
                return None
        if short:
            found = self.extract(html, template)
        else:
            found = await run_in_thread(self.extract, html, template)
        if not page.of_response:
            text, title = (found, "") if isinstance(found, str) else (found.text, found.title)
            self.writer.fill_fields(item, text=text, title=title)
        return found

    async def find_heading(
        self,
        page: ItemPage,
        found: MainText | str,
        response: Response | None,
        template: AbstractSet[int] = frozenset(),
    ) -> str:
        """The heading of an item's page with this main text: of an item's own text, its title.

        Without one, it begins with the heading of the response, which may be the site's name. A
        shop has one description for several sizes, whose pages it heads differently.
        """
        main = found if isinstance(found, MainText) else None
        titled = page.title or (main and main.title)
        if not titled and response is not None and self.reader.is_part(page, response):
            document = await self._read_html(page, response.body)
            page.title = heading_of(document.flat, title(document), site=template)
        return main.heading_below(page.title) if main else page.title

    async def _read_html(self, page: ItemPage, html: str | bytes) -> Document:
        """The blocks of a page, which may be known from its response."""
        known: dict[str, Any] = {"url": page.url or None, "content_type": page.content_type}
        return self._trees.read_page(html, **known) or await parse_in_turns(html, **known)

    async def _take_file_text(self, item: Any, page: ItemPage, file: bytes) -> str | None:
        """The text of a PDF, Word or EPUB file, filled in as main text is; None if it has none."""
        if not self._reads_files:
            self.reader.missing.tell_of_file(item, page)
            return None
        try:
            found = await run_in_thread(read_file, file)
        except FileError as error:
            page.missing = Missing.FILE
            self._count("dedup/files/unreadable")
            logger.info("The file %r passes unchecked: %s", page.url, error)
            return None
        self._count("dedup/files")
        page.title = page.title or found.title
        if not page.of_response:
            self.writer.fill_fields(item, text=found.text, title=found.title)
        return found.text
