"""The add-on: one line in ``ADDONS`` turns the filter on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from .pipelines import DuplicatePipeline
from .pipelines.feeds import TagCsvExporter
from .pipelines.log_format import BriefLogFormatter
from .pipelines.origins import OriginTracker
from .pipelines.reading import ResponseParser
from .pipelines.spared.middlewares import LinkMiddleware, RequestMiddleware
from .project import project_config
from .start_errors import speak_plainly

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

# Below the 300 that Scrapy's templates give a project's own pipelines, so that what is dropped
# costs nothing there. A pipeline that fills in the page's html or text needs a lower number still.
PRIORITY = 200
# Next to the spider: nobody has seen its items before.
NEXT_TO_SPIDER = 1000
# Next to the pipelines: whatever other middlewares make of an item, they get this one.
NEXT_TO_PIPELINES = 1
# Behind that, for it waits for the verdict about an item.
BEHIND_ALL = 0
# Behind robots.txt, which needs no turn, and before all that counts or changes a request.
BEFORE_DOWNLOAD = 110


class Addon:
    """Puts :class:`DuplicatePipeline` into ``ITEM_PIPELINES``, unless it stands there already, or a
    class derived from it: to the second of two all pages would be ``unchanged`` or ``updated``.

    And into ``SPIDER_MIDDLEWARES`` what notes the response that an item came from, and what has
    pages parsed once; a :class:`CookiesMiddleware` in the place of Scrapy's keeps cookies as
    browsers do; two more spare requests (``DEDUP_LEARN_URLS``). Where the project has none of its
    own, a log formatter keeps pages out of the log, and an exporter writes tags into CSV as JSON.
    ``DEDUP_ENABLED`` turns all of it off.

    A setting that cannot be used fails the start of the crawl, with an error that names it.
    """

    def update_settings(self, settings: BaseSettings) -> None:
        """Check the settings and add the pipeline."""
        # They need what Scrapy reads domains with, which takes long to import.
        from .spiders.cookies import use_packaged_suffix_list
        from .spiders.downloader_middlewares import COOKIES, added_to

        use_packaged_suffix_list()
        # Contracts pass no items on. A fault here would end the check before them, with its OK.
        if "SCRAPY_CHECK" in os.environ:
            return
        speak_plainly()
        if not project_config(settings).enabled:
            return
        if not _is_there(settings):
            settings.setdefault_in_component_priority_dict(
                "ITEM_PIPELINES", DuplicatePipeline, PRIORITY
            )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", ResponseParser, NEXT_TO_SPIDER
        )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", OriginTracker, NEXT_TO_PIPELINES
        )
        settings.setdefault_in_component_priority_dict(
            "SPIDER_MIDDLEWARES", LinkMiddleware, BEHIND_ALL
        )
        settings.setdefault_in_component_priority_dict(
            "DOWNLOADER_MIDDLEWARES", RequestMiddleware, BEFORE_DOWNLOAD
        )
        if settings.getpriority("LOG_FORMATTER") == SETTINGS_PRIORITIES["default"]:
            settings.set("LOG_FORMATTER", BriefLogFormatter, "addon")
        exporters = settings.getdict("FEED_EXPORTERS")
        if "csv" not in exporters:
            priority = max(
                settings.getpriority("FEED_EXPORTERS") or 0, SETTINGS_PRIORITIES["addon"]
            )
            settings.set("FEED_EXPORTERS", {**exporters, "csv": TagCsvExporter}, priority)
        name = "DOWNLOADER_MIDDLEWARES"
        settings.set(
            name, added_to(settings.getdict(name), COOKIES), settings.getpriority(name) or 0
        )


def _is_there(settings: BaseSettings) -> bool:
    classes = map(load_object, settings.getdict("ITEM_PIPELINES"))
    return any(isinstance(one, type) and issubclass(one, DuplicatePipeline) for one in classes)
