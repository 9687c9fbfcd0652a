"""The settings of the filter, read once and checked; each error names its setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from .crawl_settings import CrawlSettings
from .errors import ConfigError
from .identity import identity
from .index_settings import IndexSettings
from .parsing import parse_value, pick_settings, setting_name
from .verdict import CONTAINED


@dataclass(frozen=True, kw_only=True)
class DedupConfig(IndexSettings, CrawlSettings):
    """All settings of the filter; a field ``x`` is the Scrapy setting ``DEDUP_X``.

    Raises :class:`ConfigError`, which names the setting, for an invalid value.
    """

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, parse_value(item, getattr(self, item.name)))
        self._check_numbers()
        self._check_method()
        self._check_fields()
        if CONTAINED in self.drop and self.containment is None:
            raise ConfigError("DEDUP_DROP expects DEDUP_CONTAINMENT to be set for 'contained'")

    def _check_fields(self) -> None:
        # The setting of each field: one field for two settings would compare HTML as a text.
        taken: dict[str, str] = {}
        for item in sorted(fields(self), key=lambda item: item.name == "tag_field"):
            name = getattr(self, item.name)
            if item.name.endswith("_field") and name is not None:
                own = setting_name(item)
                if name in taken:
                    raise ConfigError(f"{own} expects another field than {taken[name]}")
                taken[name] = own

    def identity(self, url: str) -> str:
        """The URL under which the index knows a page, see :func:`~.identity.identity`."""
        return identity(url, canonical=self.canonical_urls)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the configuration from Scrapy settings. Unset settings get their defaults.

        Examples
        --------
        >>> DedupConfig.from_settings({"DEDUP_THRESHOLD": "0.9"}).threshold
        0.9
        >>> DedupConfig.from_settings({"DEDUP_TRESHOLD": 0.9})
        Traceback (most recent call last):
        ...
        crawler.dedup.errors.ConfigError: DEDUP_TRESHOLD is not a setting; did you mean ...?
        """
        return cls(**pick_settings(settings, fields(cls)))
