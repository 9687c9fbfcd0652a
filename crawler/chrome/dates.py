"""When a page says that it was published."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from .document import Document
from .head import DATES, OTHER_DATES
from .linked import values

_YEAR: Final = re.compile(r"[12]\d{3}")


def published(document: Document) -> str | None:
    """Return the date of publication as it stands in the page, None if it names none.

    Asked are, in this order: meta tags (Open Graph, schema.org, Dublin Core), time elements with
    `pubdate` or `itemprop=datePublished`, JSON-LD, meta tags of other names (`pubdate`, `date`).
    What has no year in it is no date.

    >>> from .document import parse
    >>> published(parse('<meta property="article:published_time" content="2026-05-01">'))
    '2026-05-01'
    """
    said = document.head.dates
    named = (said[name] for name in (*DATES, "time") if name in said)
    others = (said[name] for name in OTHER_DATES if name in said)
    for value in chain(named, values(document.head.data, "datePublished"), others):
        if _YEAR.search(value):
            return value
    return None
