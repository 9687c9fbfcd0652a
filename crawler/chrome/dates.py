"""When a page says that it was published."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from .document import Document
from .head import DATES, OTHER_DATES, RECORD

_LONGEST: Final = 1_000_000  # characters of JSON-LD that are read
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
    for value in chain(named, _linked(document.head.data), others):
        if _YEAR.search(value):
            return value
    return None


def _linked(data: list[str]) -> Iterator[str]:
    """Yield what JSON-LD says of the page: not of comments, reviews or others inside of it."""
    for script in "".join(data)[:_LONGEST].split(RECORD):
        try:
            # Not strict: some write the line breaks of a description as they are.
            found: Any = json.loads(script, strict=False) if "datePublished" in script else None
        except (ValueError, RecursionError):
            continue
        for thing in found if isinstance(found, list) else [found]:
            graph = thing.get("@graph") if isinstance(thing, dict) else None
            for one in (thing, *(graph if isinstance(graph, list) else ())):
                value = one.get("datePublished") if isinstance(one, dict) else None
                if isinstance(value, str):
                    yield value.strip()
