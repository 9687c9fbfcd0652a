"""What a Scrapy project tells the filter, and what a crawl knows of the templates of its sites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.utils.conf import closest_scrapy_cfg

from .chrome import SharedTemplate, SiteTemplates
from .dedup.config import DedupConfig
from .dedup.identity import host

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

_templates: WeakKeyDictionary[Crawler, SiteTemplates | None] = WeakKeyDictionary()


def project_config(settings: Mapping[str, Any]) -> DedupConfig:
    """The configuration in Scrapy settings, a relative ``DEDUP_DATA_DIR`` taken from scrapy.cfg on.

    So a crawl and a command find the same index from whatever subfolder they are started. Raises
    :class:`ConfigError`, which names the setting, for a value that cannot be used.
    """
    config = DedupConfig.from_settings(settings)
    return replace(config, data_dir=Path(closest_scrapy_cfg()).parent / config.data_dir)


def site_template(crawler: Crawler, url: str) -> SharedTemplate | None:
    """What a crawl knows of the template of a page's site; None if ``DEDUP_TEMPLATES`` is off.

    A spider that takes main texts itself and the pipeline share it.
    """
    if crawler not in _templates:
        on = project_config(crawler.settings).templates
        _templates[crawler] = SiteTemplates() if on else None
    templates = _templates[crawler]
    return templates[host(url)] if templates is not None else None
