"""Boilerplate that looks like main text: dialogs, comments, footers, menus.

A page may consist of such a part alone, or be marked as one as a whole. So a sign only counts if
other text is left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import LIMIT, TAG_CODES, Flat, Wide
from ..page.signs import BIT
from . import extras
from .features import count_words, text_lengths
from .phrases import KINDS, MOST_WORDS, PHRASES, first_words

SENTENCE: Final = 8  # words
_MAIN: Final = BIT["main"] | BIT["article"]
_AROUND: Final = BIT["nav"] | BIT["footer"] | BIT["hidden"]
_BESIDE: Final = BIT["aside"] | BIT["form"] | BIT["header"]
_LAW: Final = re.compile(
    r"(?:©|\(c\)|copyright|all rights reserved|(?:distributed|licen[cs]ed|released) under|"
    r"permission (?:to|is)|redistribution and use|(?:this|the) software is provided)\b",
    re.IGNORECASE,
)
_COOKIES: Final = re.compile(r"cookie|consent|クッキー|쿠키|süti|eväste", re.IGNORECASE)
_POLICY: Final = re.compile(
    r"cookie|privacy|polic[yi]|data protection|datenschutz|confidentialit|privacid|prywatno|"
    r"конфиденц|隐私|プライバシー",
    re.IGNORECASE,
)
_COOKIE: Final = "ookie"  # in nearly all languages, and quicker to look for
_PARTNERS: Final = (  # as advertisers' agreed text begins
    "we and our partners", "wir und unsere partner", "nous et nos partenaires",
    "nosotros y nuestros socios", "noi e i nostri partner", "wij en onze partners",
    "nós e os nossos parceiros", "my i nasi partnerzy",
)  # fmt: skip
_ASKS: Final = frozenset(_PARTNERS) | {  # "we use cookies", "we value your privacy"
    phrase
    for phrase, kinds in PHRASES.items()
    if kinds >> KINDS.index("consent") & 1 and phrase.count(" ") > (_COOKIE not in phrase)
}
_SOON: Final = 5  # blocks of a notice, until it says what it wants
_MOST_NOTICES: Final = 64  # parts with headings in which that is looked for
_NAMES: Final = [TAG_CODES[tag] for tag in ("h1", "h2", "h3", "dt")]
_LICENCE: Final = re.compile(r"licen[cs]e|copyright|legal", re.IGNORECASE)


def find_text_places(flat: Flat, sizes: Wide) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which blocks may be text, and which of them are where the page says its text is."""
    signs = flat.signs_of_blocks
    plain = (2 * flat.linked < sizes) & (signs & (_AROUND | BIT["asked"] | BIT["paged"]) == 0)
    return plain, plain & (signs & _MAIN > 0) & (signs & _BESIDE == 0)


def find_doubtful(flat: Flat, title: str, sizes: Wide) -> NDArray[np.bool_]:
    """Return which blocks are not main text by the signs of their page."""
    signs = flat.signs_of_blocks
    on_page = int(np.bitwise_or.reduce(signs))  # most pages have few of them
    codes = flat.codes[flat.around]
    heading = (codes == TAG_CODES["h1"]) & (signs & BIT["hidden"] == 0)
    plain, inner = find_text_places(flat, sizes)
    plain &= (signs & BIT["header"] == 0) | (signs & _MAIN > 0)
    found = np.zeros(len(signs), bool)
    for mark in ("unshown", "paged", "asked", "modal"):
        if not on_page & BIT[mark]:
            continue
        inside = (signs & BIT[mark]) > 0
        others = plain & ~inside & ~found
        if not others.any():
            continue
        if (heading & inside).any() and not (heading & ~inside).any():
            continue
        if mark == "asked":
            found |= _find_named_notices(flat, inside)
            continue
        # Shops put whole parts of a product's page into dialogs.
        numbers = np.flatnonzero(inside).tolist()
        if mark != "modal" or _is_short(flat, inside, others) or _asks_about_cookies(flat, numbers):
            found |= inside
    found |= _find_cookie_notice(flat, title, plain & ~found, heading)
    if on_page & BIT["thread"] and on_page & BIT["definitions"]:
        inside = (signs & BIT["thread"] > 0) & (signs & BIT["definitions"] > 0)
        first = int(np.argmax(inside))
        above = (plain & ~found)[:first] & (flat.words[:first] >= SENTENCE)
        if above.any() and (heading[:first].any() or not heading.any()):
            found |= inside
    if on_page & BIT["footer"] and (inner & ~found & (flat.words >= 3)).any():
        found |= (signs & BIT["footer"] > 0) & (signs & _MAIN == 0)
    if not _LICENCE.search(title):
        found |= _find_owner_notices(flat, plain & ~found)
    found |= extras.find_other_articles(flat, title, codes)
    text = plain & ~found & (count_words(flat.words, sizes) >= SENTENCE)
    if text.any():
        headings = extras.find_headings(codes)
        found |= extras.find_comments(flat, title, text, sizes, codes)
        found |= extras.find_link_rows(flat, text, sizes)
        found |= extras.find_related_links(flat, text, sizes)
        found |= extras.find_banner(flat, title, text, headings)
        found |= extras.find_inherited(flat, text, codes)
    return found


def find_members(flat: Flat) -> NDArray[np.bool_]:
    """Return which blocks are members that a class inherits, by their classes or heading."""
    is_text = find_text_places(flat, text_lengths(flat.texts))[0] & (flat.words >= SENTENCE)
    marked = flat.signs_of_blocks & BIT["unshown"] > 0
    return marked | extras.find_inherited(flat, is_text, flat.codes[flat.around])


def _find_named_notices(flat: Flat, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which blocks are in a part named after cookies or consent that asks for them.

    Manuals name chapters and definitions so, and some put a page's path into the class of its text.
    These have headings or terms, which a notice seldom has that does not ask at once.
    """
    found = np.zeros(len(inside), bool)
    holders = extras.find_outermost(flat, "asked")[flat.around]
    is_named, looked_at = np.isin(flat.codes[flat.around], _NAMES), 0
    numbers = np.flatnonzero(inside)
    for part in np.split(numbers, np.flatnonzero(np.diff(holders[numbers])) + 1):
        is_shut = flat.signs[holders[part[0]]] & (BIT["hidden"] | BIT["modal"]) > 0
        found[part] = is_shut or not is_named[part].any()
        if not found[part[0]] and looked_at < _MOST_NOTICES:
            looked_at += 1
            found[part] = any(_asks(flat.texts[at]) for at in part[:_SOON])
    return found


def _is_short(flat: Flat, inside: NDArray[np.bool_], others: NDArray[np.bool_]) -> bool:
    """Whether blocks have no more words than the others."""
    return bool(flat.words[inside].sum() <= flat.words[others].sum())


def _asks_about_cookies(flat: Flat, numbers: Sequence[int]) -> bool:
    """Whether a fifth of some blocks' words are about cookies, as nearly all languages say."""
    asking = [at for at in numbers if _COOKIES.search(flat.texts[at])]
    return bool(5 * flat.words[asking].sum() >= flat.words[list(numbers)].sum())


def _find_cookie_notice(
    flat: Flat, title: str, plain: NDArray[np.bool_], heading: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which blocks ask about cookies by their words alone, above or below all other text.

    `plain` are the blocks that may be text, `heading` those that may be the page's `<h1>`.
    """
    found = np.zeros(len(plain), bool)
    asking = [at for at, text in enumerate(flat.texts[:LIMIT]) if _COOKIE in text and plain[at]]
    if not asking or _POLICY.search(title):
        return found
    signs = flat.signs_of_blocks
    never = heading | (signs & _MAIN > 0)
    chrome = signs & (BIT["nav"] | BIT["header"] | BIT["footer"]) > 0
    # Numbers of such blocks before each.
    sentences, nevers, chromes = (
        np.concatenate(([0], np.cumsum(blocks))).tolist()
        for blocks in (plain & (flat.words >= SENTENCE), never, chrome)
    )
    around = np.flatnonzero((flat.firsts <= asking[0]) & (flat.ends > asking[-1]))
    ranges = list(zip(flat.firsts[around].tolist(), flat.ends[around].tolist(), strict=True))
    if flat.outer[flat.around[asking[0]]] != flat.holders[around[-1]]:  # it is in a box
        ranges.append((asking[0], asking[-1] + 1))
    for (above, below), (first, end) in pairwise(ranges):
        # What is a part of the text has only text beside it.
        is_beside_menus = chromes[below] > chromes[above]
        texts = sentences[first], sentences[-1] - sentences[end]
        if is_beside_menus and any(texts) and not all(texts) and nevers[end] == nevers[first]:
            is_notice = any(map(_asks, flat.texts[first:end]))
            found[first:end] = is_notice and _asks_about_cookies(flat, range(first, end))
            break
    return found


def _asks(text: str) -> bool:
    """Whether a text begins with such words as "we use cookies"."""
    words = first_words(text)
    return any(" ".join(words[:end]) in _ASKS for end in range(2, MOST_WORDS + 1))


def _find_owner_notices(flat: Flat, plain: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which blocks behind the last sentence say who owns the page, if others are left.

    Headings and short lines may follow, as around the table of contents of a manual.
    """
    found = np.zeros(len(plain), bool)
    numbers = np.flatnonzero(plain).tolist()
    for at in reversed(numbers):
        if _LAW.match(flat.texts[at]):
            found[at] = True
        elif flat.words[at] >= SENTENCE:
            break
    if found.any() and not (plain & ~found & (flat.words >= 3)).any():
        found[:] = False
    return found
