"""Main text: fill it in where an item has only HTML."""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Protocol, Self

from itemadapter import ItemAdapter
from scrapy.utils.asyncio import run_in_thread
from scrapy.utils.misc import load_object

from ..chrome import Document, MainText, strip_chrome
from ..dedup.config import DedupConfig
from ..dedup.errors import ConfigError
from ..long_pages import LONG_PAGE, parse
from ..project import project_config
from ..start_errors import speak_plainly
from .page import PageFields, Tree

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Extractor(Protocol):
    """Takes the HTML, or its tree, and what is known of the template of its site."""

    def __call__(
        self, html: str | bytes | Document | Tree, template: AbstractSet[int] = frozenset(), /
    ) -> MainText | str: ...


def own(html: str | bytes | Document | Tree, template: AbstractSet[int] = frozenset()) -> MainText:
    """This package's extractor."""
    return strip_chrome(html, template=template)


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
    """

    def __init__(self, config: DedupConfig, count: Callable[[str], None]) -> None:
        self.fields = PageFields(config, count)
        self.extract = extractor(config)
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
                await main_text(item, self.fields, self.extract)
        except Exception as error:
            self._count(f"dedup/errors/{type(error).__name__}")
            logger.exception("An item passes without its main text")
        return item


def extractor(config: DedupConfig) -> Extractor:
    """The function that ``DEDUP_EXTRACTOR`` names, or this package's own.

    Raises :class:`ConfigError` if there is no such function.
    """
    if config.extractor is None:
        return own
    try:
        function = load_object(config.extractor)
    except (ImportError, NameError, ValueError) as error:
        raise ConfigError(
            f"DEDUP_EXTRACTOR {config.extractor!r} cannot be loaded: {error}"
        ) from None
    if not callable(function) or iscoroutinefunction(function):
        raise ConfigError(
            f"DEDUP_EXTRACTOR {config.extractor!r} expects a function that returns a text, and is "
            f"{'one that is awaited' if callable(function) else 'none'}"
        )

    def extract(
        html: str | bytes | Document | Tree, template: AbstractSet[int] = frozenset()
    ) -> MainText | str:
        text = function(html)
        if text is not None and not isinstance(text, (str, MainText)):
            # The name of an object, taken for the text, would make copies of all pages.
            raise TypeError(f"DEDUP_EXTRACTOR expects a text, and got {type(text).__name__}")
        return text or ""

    return extract


async def main_text(
    item: Any, fields: PageFields, extract: Extractor, template: AbstractSet[int] = frozenset()
) -> MainText | str | None:
    """The main text of an item, taken out of its HTML and filled in if the item has none yet.

    A :class:`MainText` if it was taken by this package. None if there is no HTML either; an empty
    text if the page has none.
    """
    ready = fields.main(item) or fields.text(item)
    if ready is not None:
        return ready
    html = fields.html(item)
    if html is None:
        return None
    page: str | bytes | Document | Tree = html
    short = False  # how long a tree is shows only when it is read
    if isinstance(html, (str, bytes)):
        if not html or html.isspace():
            return ""
        short = len(html) < (LONG_PAGE if extract is own else _LONG_FOR_OTHERS)
        if short and extract is own:
            page = await parse(html)
    if short:
        found = extract(page, template)
    else:
        found = await run_in_thread(extract, page, template)
    text, title = (found, "") if isinstance(found, str) else (found.text, found.title)
    fields.fill(item, text=text, title=title)
    return found
