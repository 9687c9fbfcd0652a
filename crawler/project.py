"""What a Scrapy project tells the filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.utils.conf import closest_scrapy_cfg

from .dedup.config import DedupConfig


def project_config(settings: Mapping[str, Any]) -> DedupConfig:
    """The configuration in Scrapy settings, a relative ``DEDUP_DATA_DIR`` taken from scrapy.cfg on.

    So a crawl and a command find the same index from whatever subfolder they are started. Raises
    :class:`ConfigError`, which names the setting, for a value that cannot be used.
    """
    config = DedupConfig.from_settings(settings)
    return replace(config, data_dir=Path(closest_scrapy_cfg()).parent / config.data_dir)
