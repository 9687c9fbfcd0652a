"""The add-on: one line in ``ADDONS`` turns the filter on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from .pipelines import DuplicatePipeline
from .pipelines.feeds import EXPORTERS
from .pipelines.item_pages.origins import OriginPipeline
from .pipelines.log_format import BriefLogFormatter
from .pipelines.reading import ResponseParser
from .pipelines.result_middleware import ResultMiddleware
from .pipelines.spared.request_middleware import RequestMiddleware
from .project import project_config
from .start_errors import speak_plainly

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# Below the 300 that Scrapy's templates give a project's own pipelines, so that dropped items do not
# reach them. A pipeline that fills in the page's html or text needs a number below this one.
PRIORITY = 200
# Before all other pipelines.
FIRST = -1_000_000
# Next to the spider: the first to see its items.
NEXT_TO_SPIDER = 1000
# Next to the pipelines: it sees the items that pipelines get, after all other middlewares.
NEXT_TO_PIPELINES = 0
# After robots.txt, which needs no turn, and before all that counts or changes a request.
BEFORE_DOWNLOAD = 110


class Addon:
    """Enables the duplicate filter for all spiders of a project.

    It adds :class:`DuplicatePipeline` to ``ITEM_PIPELINES``, unless that or a subclass is there
    already. It also adds

    - a pipeline and middlewares that remember the response of each item, parse each page once,
      and spare requests (``DEDUP_LEARN_URLS``);
    - a :class:`CookiesMiddleware` in place of Scrapy's, which limits cookies as browsers do;
    - unless the project has its own, a log formatter that keeps pages out of the log, and
      exporters that write tags into CSV as JSON, and into other feeds as plain values.

    ``DEDUP_ENABLED = False`` turns all of it off. If a setting cannot be used, the crawl does not
    start, and the error names the setting.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Check the settings and add the pipeline."""
        # Imported here, because both import tldextract, which is slow to import.
        from .spiders.cookies import use_packaged_suffix_list
        from .spiders.downloader_middlewares import COOKIES, added_to

        use_packaged_suffix_list()
        # `scrapy check` passes no items on, and an error here would end it with an OK.
        if "SCRAPY_CHECK" in os.environ:
            return
        speak_plainly()
        if not project_config(settings).enabled:
            return
        if not _is_there(settings):
            settings.setdefault_in_component_priority_dict(
                "ITEM_PIPELINES", DuplicatePipeline, PRIORITY
            )
        settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", OriginPipeline, FIRST)
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ResponseParser, NEXT_TO_SPIDER
        )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ResultMiddleware, NEXT_TO_PIPELINES
        )
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", RequestMiddleware, BEFORE_DOWNLOAD
        )
        if settings.getpriority("LOG_FORMATTER") == SETTINGS_PRIORITIES["default"]:
            settings.set("LOG_FORMATTER", BriefLogFormatter, "addon")
        exporters = settings.getdict("FEED_EXPORTERS")
        priority = max(settings.getpriority("FEED_EXPORTERS") or 0, SETTINGS_PRIORITIES["addon"])
        settings.set("FEED_EXPORTERS", EXPORTERS | exporters, priority)
        name = "DOWNLOADER_MIDDLEWARES"
        settings.set(
            name, added_to(settings.getdict(name), COOKIES), settings.getpriority(name) or 0
        )


def _is_there(settings: BaseSettings) -> bool:
    classes = map(load_object, settings.getdict("ITEM_PIPELINES"))
    return any(isinstance(one, type) and issubclass(one, DuplicatePipeline) for one in classes)
