"""What JSON-LD says of a page, and which blocks are the text that it gives."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import compress, pairwise
from typing import Any, Final

import numpy as np

from . import untagged
from .features import Floats
from .head import RECORD

BONUS: Final = 3.0  # of log-odds, for what stands in the text of an article
AGREES: Final = 0.5  # of that text stands on the page, at least
TELLING: Final = 20  # letters and digits; fewer stand in many texts
_LONGEST: Final = 1_000_000  # characters of JSON-LD that are read
_MOST: Final = 20_000_000  # characters that are looked through
_SIGNS: Final = re.compile(r"[^\w\0]+")


def values(data: list[str], name: str) -> Iterator[str]:
    """Yield what JSON-LD gives the page as `name`: not comments, reviews or others inside of it."""
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


def with_body(likely: Floats, texts: list[str], data: list[str]) -> Floats:
    """Return the likelihoods, higher ones for blocks of the text that JSON-LD gives an article.

    Only if most of that text stands on the page: it may be an old one, or that of another page.
    """
    bodies = "\n".join(values(data, "articleBody"))
    if not bodies or len(bodies) * len(texts) > _MOST:
        return likely
    body = _folded(untagged.whole(bodies.encode("utf-8", "replace")))
    blocks = _folded("\0".join(texts)).split("\0")
    inside = np.array([len(block) >= TELLING and block in body for block in blocks])
    for i, (block, following) in enumerate(pairwise(blocks)):  # a short one beside another
        if min(len(block), len(following)) < TELLING <= len(block) + len(following):
            inside[i : i + 2] |= block + following in body
    if sum(map(len, set(compress(blocks, inside.tolist())))) < AGREES * len(body):
        return likely
    more = likely * np.float32(np.exp(BONUS))
    likelier: Floats = np.where(inside, more / (1 - likely + more), likely)
    return likelier


def _folded(text: str) -> str:
    """Return the letters and digits of a text, and its zero characters."""
    return _SIGNS.sub("", text.lower())
