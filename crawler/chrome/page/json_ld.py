"""The JSON-LD of a page, and the blocks of the text that it contains."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import chain, compress, islice, pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import unparsed
from .blocks import Flat, Floats
from .document import Document
from .head import DATES, OTHER_DATES, RECORD
from .signs import BIT

_YEAR: Final = re.compile(r"[12]\d{3}")


def published(document: Document) -> str | None:
    """Return the date of publication, as written in the page; None if it has none.

    The first of these with a year in it counts: meta tags (Open Graph, schema.org, Dublin Core),
    time elements with ``pubdate`` or ``itemprop=datePublished``, JSON-LD, other meta tags
    (``pubdate``, ``date``).

    Examples
    --------
    >>> from .document import parse
    >>> published(parse('<meta property="article:published_time" content="2026-05-01">'))
    '2026-05-01'
    """
    said = document.head.dates
    named = (said[name] for name in (*DATES, "time") if name in said)
    others = (said[name] for name in OTHER_DATES if name in said)
    for value in chain(named, find_values(document.head.data, "datePublished"), others):
        if _YEAR.search(value):
            return value
    return None


BONUS: Final = 3.0  # of log-odds, for what stands in the text of an article
AGREES: Final = 0.5  # of that text stands on the page, at least
RUN: Final = 3  # words in a row
MOST_BODIES: Final = 5  # that a page may give
MOST_WORDS: Final = 20_000  # of each
MOST_READ: Final = 200_000  # characters of a page that is compared with them
_LONGEST: Final = 500_000  # characters of JSON-LD that are read
_WORD: Final = re.compile(r"\w+")
# No site puts its articles there; some give what stands there on each page as the text of all.
_NEVER: Final = sum(BIT[sign] for sign in ("nav", "footer", "c_footer", "c_consent"))


def find_values(data: list[str], name: str) -> Iterator[str]:
    """Yield what JSON-LD gives as `name` of the page itself, not of comments or reviews."""
    for script in "".join(data)[:_LONGEST].split(RECORD):
        try:
            # Not strict: some write the line breaks of a description as they are.
            found: Any = json.loads(script, strict=False) if name in script else None
        except (ValueError, RecursionError):
            continue
        for thing in found if isinstance(found, list) else [found]:
            graph = thing.get("@graph") if isinstance(thing, dict) else None
            for one in (thing, *(graph if isinstance(graph, list) else ())):
                value = one.get(name) if isinstance(one, dict) else None
                if isinstance(value, str):
                    yield value.strip()


def in_body(flat: Flat, data: list[str]) -> NDArray[np.bool_]:
    """Return which blocks are in the text that JSON-LD gives for an article.

    Only if most of that text is on the page: it may be old, or belong to another page.
    """
    inside = np.zeros(len(flat.texts), bool)
    said = islice(find_values(data, "articleBody"), MOST_BODIES)
    bodies = [
        _split_words(unparsed.text_in_one_piece(text.encode("utf-8", "replace"))) for text in said
    ]
    if not bodies or sum(map(len, flat.texts)) > MOST_READ:
        return inside
    blocks = list(map(_split_words, flat.texts))
    may_be = (flat.signs_of_blocks & _NEVER) == 0
    for body in bodies:
        runs = set(zip(*(body[at:MOST_WORDS] for at in range(RUN)), strict=False))
        found = np.array([_stands_in(block, runs) for block in blocks])
        for i, (block, following) in enumerate(pairwise(blocks)):  # a short one beside another
            if min(len(block), len(following)) < RUN and _stands_in(block + following, runs):
                found[i : i + 2] = True
        found &= may_be
        there = {tuple(block) for block in compress(blocks, found.tolist())}
        if sum(map(len, there)) >= AGREES * max(len(body), 1):
            inside |= found
    return inside


def with_body(likely: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return the likelihoods, raised for the blocks of that text."""
    if not inside.any():
        return likely
    more = likely * np.float32(np.exp(BONUS))
    likelier: Floats = np.where(inside, more / (1 - likely + more), likely)
    return likelier


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _stands_in(words: list[str], runs: set[tuple[str, ...]]) -> bool:
    """Whether a block of those words stands in a text of those runs, by five of its own."""
    last = len(words) - RUN
    places = {last * quarter // 4 for quarter in range(5)}
    return last >= 0 and all(tuple(words[at : at + RUN]) in runs for at in places)
