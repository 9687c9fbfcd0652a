"""Tells of items that lack the fields which settings name, such as misspelt ones."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Final

from ...dedup.config import DedupConfig
from ...items import value_of
from ..notices import Notices, held_instead
from .item_page import ItemPage, Missing
from .values import is_blank

if TYPE_CHECKING:
    from ..calls import Count

logger = logging.getLogger(__name__)

_DEFAULT: Final = DedupConfig()
# The settings, and what becomes of items without the field.
_WITHOUT_SCOPE: Final = "all pages have shared one scope"
_WITHOUT_PAGE: Final = "pages were looked for elsewhere"


class MissingFields:
    """Counts items without a page of their own, and logs for each type what to set."""

    def __init__(self, config: DedupConfig, count: Count, notices: Notices) -> None:
        self._config = config
        self._count = count
        self._notices = notices

    def tell_of_page(self, item: Any, page: ItemPage) -> None:
        """Count and log what is missing in an item whose page is in its own fields."""
        config = self._config
        if not page.url:
            page.missing = Missing.URL
            self._count(f"dedup/missing_field/{config.url_field}")
            if not self._tell_of_none(item):
                self._notices.warn_about(
                    item,
                    config.url_field,
                    "%s has no URL (str) in the field %r%s: its items pass unchecked. "
                    "Name the field that has it in DEDUP_URL_FIELD.",
                    config.url_field,
                    held_instead(item, config.url_field),
                )
        if page.text is None and (page.url or page.html is not None):
            self.tell_of_html(item, page)

    def tell_of_html(self, item: Any, page: ItemPage) -> None:
        """Count and log that an item has neither HTML nor a text, if so."""
        config = self._config
        if page.text is not None or not is_blank(page.html):
            return
        self._count(f"dedup/missing_field/{config.html_field}")
        if page.html is None:
            page.missing = Missing.FIELDS
            self._notices.warn_about(
                item,
                config.html_field,
                "%s has no HTML (str, bytes or an lxml tree) in the field %r%s and no text%s: "
                "such items pass unchecked. Name the fields in DEDUP_HTML_FIELD or "
                "DEDUP_TEXT_FIELD.",
                config.html_field,
                held_instead(item, config.html_field),
                held_instead(item, config.text_field),
            )

    def tell_of_number(self, item: Any, name: str) -> None:
        """Count and log that an item lacks a number by which copies are chosen."""
        self._count(f"dedup/missing_field/{name}")
        self._notices.warn_about(
            item,
            f"number in {name}",
            "%s has no number in the field %r, which DEDUP_PREFER names%s: of copies, one that "
            "has a number is kept.",
            name,
            held_instead(item, name),
        )

    def _tell_of_none(self, item: Any) -> bool:
        """Whether an item has no field of a page; if so, warn once for its type."""
        config = self._config
        names = config.url_field, config.html_field, config.text_field
        if any(value_of(item, name) is not None for name in names):
            return False
        self._notices.warn_about(
            item,
            "",
            "%s has nothing in the fields %r, %r and %r: its items pass unchecked. If they are "
            "pages, name the fields in DEDUP_URL_FIELD and DEDUP_HTML_FIELD or DEDUP_TEXT_FIELD; "
            "if not, a class derived from DuplicatePipeline can return them as they are.",
            *names,
        )
        return True

    def tell_of_file(self, item: Any, page: ItemPage) -> None:
        """Count an item with a binary file in place of HTML, and warn once for its type.

        It is not compared: two PDFs with the same fonts share most bytes, whatever they say.
        """
        page.missing = Missing.FILE
        self._count(f"dedup/wrong_type/{self._config.html_field}")
        self._notices.warn_about(
            item,
            self._config.text_field,
            "%s has no text in the field %r, and in %r a binary file such as a PDF: its items pass "
            "unchecked. Install the extra `files`, for PDF, Word and EPUB files, or name the field "
            "that has the file's text in DEDUP_TEXT_FIELD.",
            self._config.text_field,
            self._config.html_field,
        )


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
