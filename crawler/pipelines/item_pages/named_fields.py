"""Watches for fields that settings name and no item has, such as misspelt ones."""

from __future__ import annotations

import logging
from typing import Any, Final

from ...dedup.config import DedupConfig
from ...items import value_of

logger = logging.getLogger(__name__)

_DEFAULT: Final = DedupConfig()
# The settings, and what becomes of items without the field.
_WITHOUT_SCOPE: Final = "all pages have shared one scope"
_WITHOUT_PAGE: Final = "pages were looked for elsewhere"


class NamedFields:
    """The fields that `config` names, as long as no item has filled them."""

    def __init__(self, config: DedupConfig) -> None:
        named = {
            "DEDUP_URL_FIELD": (config.url_field, _DEFAULT.url_field),
            "DEDUP_HTML_FIELD": (config.html_field, _DEFAULT.html_field),
            "DEDUP_TEXT_FIELD": (config.text_field, _DEFAULT.text_field),
            "DEDUP_SCOPE": (config.scope_field or "", ""),
        }
        self._unfound = {
            setting: field for setting, (field, default) in named.items() if field != default
        }
        self._has_items = False

    def look_into(self, item: Any) -> None:
        """Note which of the fields an item has."""
        self._has_items = True
        if self._unfound:
            self._unfound = {
                setting: field
                for setting, field in self._unfound.items()
                if value_of(item, field) is None
            }

    def log_unfound(self) -> None:
        """Log the fields that no item had; one of a scope as a warning, for pages may be lost."""
        for setting, field in self._unfound.items() if self._has_items else ():
            is_scope = setting == "DEDUP_SCOPE"
            logger.log(
                logging.WARNING if is_scope else logging.INFO,
                "No item has the field %r, which %s names: %s. If it is misspelt, correct it",
                field,
                setting,
                _WITHOUT_SCOPE if is_scope else _WITHOUT_PAGE,
            )
