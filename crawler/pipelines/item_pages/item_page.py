"""What is known about an item's page, and why an item has none that can be checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from ...chrome import Document, MainText
from ...extractor import Tree
from .carried import BegunItem
from .values import is_blank


class Missing(StrEnum):
    """Why an item has no page that can be checked."""

    FIELDS = "no_fields"  # no page in the fields, and no response to take it from
    URL = "no_url"  # no URL, and no response to take it from
    FILE = "file"  # a PDF or the like in the field of the HTML
    LISTING = "listing"  # several items of one response
    SHORT_TEXT = "short_text"  # a text that may be a field, and no response to take the page from
    ERROR = "error"  # the response has an error's status
    NOT_HTML = "not_html"  # the response is no HTML
    OTHER_URL = "other_url"  # the item's URL differs from its response's
    OTHER_PAGE = "other_page"  # the item was begun on another page, and has no URL of its response
    OTHER_TEXT = "other_text"  # the main text of the response has no text of the item


@dataclass(slots=True)
class ItemPage:
    """What is known about an item's page before it is checked.

    ``html`` is None if there is none; an empty page is HTML without text. ``main`` is the main text
    that this package extracted earlier. If the page is `of_response`, only the verdict is written
    into the item. ``document`` is the parsed ``html``, if it was parsed. ``scope`` is the item's
    value of the field that ``DEDUP_SCOPE`` names, and ``fields`` its numbers in the fields that
    ``DEDUP_PREFER`` names. If the item was ``begun`` on another page, the response must have one of
    these texts.
    """

    url: str = ""
    text: str | None = None
    html: str | bytes | Tree | None = None
    main: MainText | None = None
    title: str = ""
    canonical: str | None = None
    date: datetime | None = None
    of_response: bool = False
    content_type: str | None = None
    missing: Missing | None = None
    document: Document | None = None
    scope: str | None = None
    fields: Mapping[str, float] = field(default_factory=dict)
    begun: BegunItem | None = None

    @property
    def has_content(self) -> bool:
        """Whether the item itself has text or HTML."""
        return self.text is not None or not is_blank(self.html)
