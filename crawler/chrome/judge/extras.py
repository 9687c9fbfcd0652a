"""Text of others beside a main text: comments, other articles, links to other pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import LIMIT, TAG_CODES, TAGS, Flat, Ints, Wide
from ..page.signs import BIT
from .phrases import KINDS, PHRASES, READ, first_words, phrase_kinds

_HEADER: Final = BIT["c_header"] | BIT["header"]
_COMMENTS: Final = 1 << KINDS.index("comments")
_RELATED: Final = 1 << KINDS.index("related")
_SIGNED: Final = re.compile(r"(?=.*\b(?:19|20)\d\d\b)(?=.*\b\d{1,2}[:.h]\d\d\b)", re.DOTALL)
_LONGEST_SIGNATURE: Final = 160  # characters
_LONGEST_COMMENT: Final = 3  # sentences above the first signature, if it stands below
_SEPARATORS: Final = re.compile(r"[|｜¦·•●»›]")
_BETWEEN: Final = 3  # characters from one link of a row to the next
# As generators of manuals head what a class has from another one, which a single name follows.
_INHERITED: Final = re.compile(
    r"(?:[\w/]+ )?(?:methods|functions|fields|properties|attributes|constants|variables|events|"
    r"signals|members|types|(?:nested )?classes(?:/interfaces)?) inherited from (?:[a-z]+ )?"
    r"[\w.:$\\]+(?: ?<.*>)?(?: \(\d+\))?|"
    # Rustdoc's, with its sign: a chapter about traits may have such a heading, too.
    r"(?:(?:auto )?trait|blanket) implementations ?§|"
    r".*(?:から継承された(?:メソッド|フィールド|ネスト|プロパティ)|继承的(?:方法|字段|嵌套|属性)).*",
    re.IGNORECASE,
)
# As pydoctor introduces a table of them. A single member, and prose, may say the same.
_TABLE: Final = re.compile(r"Inherited from [\w.]+(?: \(via [\w., ]+\))?:")
_LONGEST_HEADING: Final = 160  # characters; it may have the full name of a class
# Of each tag, the higher the more a heading of it holds; 0 for others.
_RANKS: Final = np.zeros(len(TAGS), np.int64)
_RANKS[[TAG_CODES[tag] for tag in ("th", "h6", "h5", "h4", "h3", "h2", "h1")]] = range(1, 8)
_CELL: Final = TAG_CODES["td"]
_TOP: Final = TAG_CODES["h1"]
_IS_HEADING: Final = np.isin(np.arange(len(TAGS)), [TAG_CODES[tag] for tag in ("h1", "h2", "h3")])


def find_comments(
    flat: Flat, title: str, text: NDArray[np.bool_], sizes: Wide, codes: Ints
) -> NDArray[np.bool_]:
    """Return which blocks are comments: below such a heading, signed with day and time.

    `text` are the sentences that may be the page's; some must be above the heading. A manual has a
    chapter "Discussion", too, and below all chapters the time of its last change.
    """
    found = np.zeros(len(text), bool)
    headings = find_headings(codes)
    first = int(np.argmax(text))
    heads = [at for at in headings if at >= first and _heads_comments(flat, title, headings, at)]
    signed = [
        number
        for number in range(heads[0] + 1 if heads else LIMIT, min(len(text), LIMIT))
        if sizes[number] <= _LONGEST_SIGNATURE and _SIGNED.match(flat.texts[number])
    ]
    for heading in heads:
        after = signed[bisect_right(signed, heading) :]
        if after and _signs_comment(text, codes, heading, after[0]):
            holds = (flat.firsts <= heading) & (flat.ends > signed[-1])
            found[heading : int(flat.ends[holds].min(initial=len(text)))] = True
            break
    return found


def _signs_comment(text: NDArray[np.bool_], codes: Ints, heading: int, signature: int) -> bool:
    """Whether the first signature below a heading is so near that it may sign a comment."""
    ranks = _RANKS[codes[heading:signature]]
    between = text[heading:signature]
    last = int(np.flatnonzero(ranks >= ranks[0])[-1])  # heading that is no lower, or itself
    return int(between[1:].sum()) <= _LONGEST_COMMENT and not between[1:last].any()


def _heads_comments(flat: Flat, title: str, headings: list[int], heading: int) -> bool:
    """Whether a heading says that comments follow: "Comments", "2 responses to" the page."""
    text = flat.texts[heading]
    if len(text) <= READ and PHRASES.get(" ".join(first_words(text)), 0) & _COMMENTS:
        return True
    if len(text) > _LONGEST_HEADING or not phrase_kinds(text)[1] & _COMMENTS:
        return False
    above = (flat.texts[at] for at in headings if at < heading)
    return any(name in text and name in title for name in above)


def find_headings(codes: Ints) -> list[int]:
    """Return the numbers of the blocks that are headings, by the codes of all blocks."""
    found: list[int] = np.flatnonzero(_IS_HEADING[codes[:LIMIT]]).tolist()
    return found


def find_link_rows(flat: Flat, text: NDArray[np.bool_], sizes: Wide) -> NDArray[np.bool_]:
    """Return which blocks are rows of links with separators, above or below the text."""
    found = np.zeros(len(text), bool)
    first, last = int(np.argmax(text)), len(text) - 1 - int(np.argmax(text[::-1]))
    many = flat.links >= 2
    many[first : last + 1] = False
    if not many.any():
        return found
    between = sizes - flat.linked
    many &= (between >= flat.links - 1) & (between <= _BETWEEN * flat.links)
    for at in np.flatnonzero(many).tolist():
        found[at] = len(_SEPARATORS.findall(flat.texts[at])) >= flat.links[at] - 1
    return found


def find_related_links(flat: Flat, text: NDArray[np.bool_], sizes: Wide) -> NDArray[np.bool_]:
    """Return which blocks between sentences link to another page: "Read more: ..."."""
    found = np.zeros(len(text), bool)
    is_line = (flat.links == 1) & (flat.linked < sizes) & (2 * flat.linked >= sizes) & ~text
    for at in np.flatnonzero(is_line).tolist():
        head, colon, rest = flat.texts[at][:READ].partition(":")
        if colon and rest and phrase_kinds(head)[1] & _RELATED:
            found[at] = text[:at].any() and text[at:].any()
    return found


def find_other_articles(flat: Flat, title: str, codes: Ints) -> NDArray[np.bool_]:
    """Return which blocks belong to further articles, after the one that the title names."""
    found = np.zeros(len(flat.texts), bool)
    tops = np.flatnonzero(codes[:LIMIT] == _TOP).tolist()
    if len(tops) < 2:
        return found
    named = [flat.texts[at] in title for at in tops]
    if not named[0] or any(named[1:]):
        return found
    around = flat.around[:LIMIT]
    holders = find_outermost(flat, "article")[around]
    own = holders[tops[0]]
    for at in tops[1:]:
        if own and holders[at] and holders[at] != own:
            found[: len(around)] |= holders == holders[at]
    return found


def find_outermost(flat: Flat, sign: str) -> NDArray[np.int64]:
    """Return for each element the outermost one around it with a sign, 0 where there is none."""
    found = np.zeros(len(flat.signs), np.int64)
    has_sign = (flat.signs & BIT[sign]) > 0
    for number in np.flatnonzero(has_sign).tolist():  # in the order of the document
        outer = int(flat.outer[number])
        found[number] = found[outer] if has_sign[outer] else number
    return found


def find_banner(
    flat: Flat, title: str, text: NDArray[np.bool_], headings: list[int]
) -> NDArray[np.bool_]:
    """Return which blocks are in a header above the heading that the title repeats."""
    found = np.zeros(len(text), bool)
    for at in headings:
        if flat.texts[at] not in title:
            continue
        inside = (flat.signs_of_blocks & _HEADER) > 0
        if not inside[at] and (text & ~inside)[at:].any():
            found[:at] = inside[:at]
        break
    return found


def find_inherited(flat: Flat, text: NDArray[np.bool_], codes: Ints) -> NDArray[np.bool_]:
    """Return which blocks are members that a class inherits, below a heading that says so.

    They are on the page of the other class. Such a list ends with the container of its heading, or
    at the next heading that is neither lower nor deeper. Some text must be left.
    """
    found = np.zeros(len(text), bool)
    ranks, depths = _RANKS[codes[:LIMIT]], flat.depths[flat.around[:LIMIT]]
    cells = np.flatnonzero(codes[1:LIMIT] == _CELL).tolist()
    tables = {at for at in cells if _TABLE.fullmatch(flat.texts[at])}
    ranks[list(tables)] = 1
    for at in np.flatnonzero(ranks).tolist():
        heading = flat.texts[at]
        if found[at] or len(heading) > _LONGEST_HEADING:
            continue
        if at not in tables and not _INHERITED.fullmatch(heading):
            continue
        end = int(flat.ends[flat.within[at]])
        below = slice(at + 1, end)
        is_next = (ranks[below] >= ranks[at]) & (depths[below] <= depths[at])
        found[at : at + 1 + int(np.argmax(is_next)) if is_next.any() else end] = True
    if not (text & ~found).any():
        found[:] = False
    return found
