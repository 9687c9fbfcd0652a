"""The page in an item, whatever the type of the item."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any, Final

from itemadapter import ItemAdapter

from ..chrome import Document, MainText
from ..chrome.page.document import TREES
from ..dedup.config import DedupConfig
from ..dedup.identity import resolved
from ..extractor import Tree
from ..items import value_of
from .reading import PagesRead

logger = logging.getLogger(__name__)

_FIELDS_SHOWN: Final = 12


class PageFields:
    """Reads and writes the fields of items that hold a page: those that `config` names.

    Nothing here raises for what an item holds or cannot hold. What was missing, of a wrong type or
    could not be written is counted with `count`, which takes the name of a statistic. `pages` are
    those that were read when the spider yielded them.
    """

    def __init__(
        self, config: DedupConfig, count: Callable[[str], None], pages: PagesRead | None = None
    ) -> None:
        self.config = config
        self.pages = pages or PagesRead()
        self._count = count
        self._warned: set[tuple[type, str]] = set()
        self._empty: Any = None  # the last item of which it was said that it has nothing of a page
        # A document of this package says nothing to another one's extractor.
        self._html_types = (str, bytes, *TREES, *([] if config.extractor else [Document]))

    def url(self, item: Any) -> str | None:
        """The page's address, None if there is none."""
        name = self.config.url_field
        url: str | None = self._read(item, name, (str,))
        if url is None or not url.strip():
            self._count(f"dedup/missing_field/{name}")
            self._tell_of_no_page(item)
            self._warn_once(
                item,
                name,
                "%s has no page address (str) in the field %r%s: its items pass unchecked. Name "
                "the field that has it in DEDUP_URL_FIELD.",
                _instead(item, name),
            )
            return None
        return url

    def text(self, item: Any) -> str | None:
        """The main text, None if the field is to be filled."""
        text: str | None = self._read(item, self.config.text_field, (str,))
        return text if text and text.strip() else None

    def main(self, item: Any) -> MainText | None:
        """The main text that this package took out of the page, if it is still the item's."""
        main = getattr(item, "main", None)
        return main if isinstance(main, MainText) and main.text == self.text(item) else None

    def title(self, item: Any) -> str:
        """The title, if the item has one."""
        title = value_of(item, self.config.title_field)
        return title if isinstance(title, str) else ""

    def canonical(self, item: Any, url: str) -> str | None:
        """The address that the page at `url` names as canonical, None if it names none."""
        named = value_of(item, self.config.canonical_field)
        return resolved(url, named) if isinstance(named, str) and named.strip() else None

    def date(self, item: Any) -> datetime | None:
        """When the page's text was published, None if that is not known."""
        return read_date(value_of(item, self.config.date_field))

    def html(self, item: Any) -> str | bytes | Tree | None:
        """The HTML, or the tree that it was parsed into; None if there is none.

        An empty page is HTML, of which nothing can be read.
        """
        name = self.config.html_field
        html: str | bytes | Tree | None = self._read(item, name, self._html_types)
        if html is None or (isinstance(html, (str, bytes)) and (not html or html.isspace())):
            self._count(f"dedup/missing_field/{name}")
        if html is None:
            self._warn_once(
                item,
                name,
                "%s has no HTML (str, bytes or an lxml tree) in the field %r%s and no text%s: such "
                "items pass unchecked. Name the fields in DEDUP_HTML_FIELD or DEDUP_TEXT_FIELD.",
                _instead(item, name),
                _instead(item, self.config.text_field),
            )
        return html

    def tell_of_file(self, item: Any) -> None:
        """Count what is no page, although it is of the type of one, and say so once.

        Two PDFs with the same fonts are alike in most of their bytes, whatever they say.
        """
        name = self.config.html_field
        self._count(f"dedup/wrong_type/{name}")
        self._warn_once(
            item,
            self.config.text_field,
            "%s has no text in the field %r, and in %r a binary file, as a PDF: such items pass "
            "unchecked. Put the file's text there, or name the field that has it in "
            "DEDUP_TEXT_FIELD.",
            name,
        )

    def fill(self, item: Any, *, text: str, title: str) -> None:
        """Put the main text and the title into those of their fields that the item has, unfilled.

        A dict takes the text as a new field, so that a feed has it; the title it must have asked
        for, by an empty field. What is there and is no text, as a list of paragraphs, stays.
        """
        adapter = ItemAdapter(item)
        name = self.config.text_field
        if name in adapter.field_names() or isinstance(item, dict):
            there = value_of(item, name)
            if there is None or isinstance(there, str):
                _write(adapter, name, text)
        name = self.config.title_field
        if name in adapter.field_names() and not adapter.get(name):
            _write(adapter, name, title)

    def tag(self, item: Any, value: dict[str, Any]) -> None:
        """Put the verdict into its field; an item that has none passes without, with one warning.

        Only a dict takes a field that its type does not know.
        """
        name = self.config.tag_field
        if name is None or _write(ItemAdapter(item), name, value):
            return
        self._count("dedup/untagged")
        self._warn_once(
            item,
            name,
            "%s takes no field %r: its items pass without their verdict. Give the class that "
            "field, not frozen, name another one in DEDUP_TAG_FIELD, or empty that setting.",
        )

    def _tell_of_no_page(self, item: Any) -> None:
        """Say once of a type of items that they have nothing of a page, in place of all else."""
        config = self.config
        page = config.url_field, config.html_field, config.text_field
        if any(value_of(item, name) is not None for name in page):
            return
        self._warn_once(
            item,
            config.url_field,
            "%s has nothing in the fields %r, %r and %r: its items pass unchecked. If they are "
            "pages, name the fields in DEDUP_URL_FIELD and DEDUP_HTML_FIELD or DEDUP_TEXT_FIELD; "
            "if not, a class derived from DuplicatePipeline can return them as they are.",
            *page[1:],
        )
        self._empty = item

    def _warn_once(self, item: Any, name: str, message: str, *values: str) -> None:
        if item is not self._empty and (type(item), name) not in self._warned:
            self._warned.add((type(item), name))
            message += " The item has %s."
            logger.warning(message, type(item).__qualname__, name, *values, _fields(item))

    def _read(self, item: Any, name: str, types: tuple[type, ...]) -> Any:
        value = value_of(item, name)
        if value is None:
            return None
        if not isinstance(value, types):
            self._count(f"dedup/wrong_type/{name}")
            return None
        return value


def read_date(value: Any) -> datetime | None:
    """A date, in UTC where it names no zone; None for what is none, as are other calendars' years.

    >>> read_date("2026-05-01T12:00:00+02:00").isoformat()
    '2026-05-01T12:00:00+02:00'
    >>> read_date("Fri, 01 May 2026 10:00:00 GMT").isoformat()
    '2026-05-01T10:00:00+00:00'
    >>> read_date("last week"), read_date("1405-02-11")
    (None, None)
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    elif isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            try:
                value = parsedate_to_datetime(value)
            except (ValueError, IndexError, OverflowError):
                return None
    # ISO 8601 begins with 1583; Persian and Islamic years are lower, Buddhist ones higher.
    if not isinstance(value, datetime) or not 1583 <= value.year <= datetime.now(UTC).year + 1:
        return None
    return value if value.utcoffset() is not None else value.replace(tzinfo=UTC)


def _instead(item: Any, name: str) -> str:
    """What a field holds that is no text, for a warning."""
    value = value_of(item, name)
    if value is None or isinstance(value, str):
        return ""
    # A list of Selectors, which is derived from it, is of nobody who has forgotten that.
    hint = ", as of an item loader without TakeFirst()" if type(value) is list else ""
    return f" (but {type(value).__name__}{hint})"


def _fields(item: Any) -> str:
    """The fields of an item that hold something, for a warning."""
    names = ItemAdapter(item).field_names()
    filled = list(islice((n for n in names if value_of(item, n) is not None), _FIELDS_SHOWN + 1))
    shown = ", ".join(map(repr, filled[:_FIELDS_SHOWN])) + ", …" * (len(filled) > _FIELDS_SHOWN)
    return shown or "no field that is filled"


def _write(adapter: ItemAdapter, name: str, value: Any) -> bool:
    """Whether the item took the value: its type may lack the field, be frozen, or check values."""
    try:
        adapter[name] = value
    except Exception:  # a type's own checks raise what they like
        return False
    return True
