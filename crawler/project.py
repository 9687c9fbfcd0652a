"""The configuration of the filter in a Scrapy project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.utils.conf import closest_scrapy_cfg

from .dedup.config import DedupConfig


def project_config(settings: Mapping[str, Any]) -> DedupConfig:
    """The configuration in Scrapy settings; ``DEDUP_DATA_DIR`` is relative to scrapy.cfg.

    So crawls and commands find the same index from every subfolder. Raises :class:`ConfigError`,
    which names the setting, for an invalid value.
    """
    config = DedupConfig.from_settings(settings)
    return replace(config, data_dir=Path(closest_scrapy_cfg()).parent / config.data_dir)
