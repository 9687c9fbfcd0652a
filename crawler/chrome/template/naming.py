"""The name of a page: its heading, or its title without the site's name."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

import numpy as np
import xxhash
from numpy.typing import NDArray

from ..page.blocks import LIMIT, TAG_CODES, Flat, Ints
from ..page.signs import BIT
from .pairs import FACTS, KEPT, PROSE, block_hash, text_hash

_LEVELS: Final = tuple(TAG_CODES[tag] for tag in ("h1", "h2", "h3"))
_LABELS: Final = tuple(TAG_CODES[tag] for tag in ("h4", "dt", "th"))
_RANKED: Final = _LEVELS + _LABELS
_NEVER: Final = sum(BIT[sign] for sign in ("hidden", "nav", "footer", "c_footer", "c_consent"))
_TITLE: Final = BIT["c_title"]
_READ: Final = 300  # characters
BEGINNING: Final = 60  # characters
_MOST: Final = 4  # headings
_FIRST: Final = 3  # blocks, of which one is seldom only a date and another only a name
_LINES: Final = 64  # short lines of a page
_WELL_LEARNT: Final = 8  # contents, as in dedup/candidates.py
PER_WORD: Final = 2.5  # characters in links, for each word, from which on a block is links
# Flag in front of the 32 bits of a part that titles of a site share; and its form among workers.
IN_TITLES: Final = 1 << 35
TOLD_TITLE: Final = 0x7F4A7C15
WHOLE: Final = 1 << 36  # one more flag, of a whole title
# Separates a title from the site's name, with blanks on both sides; and the same in a title with
# brackets, as in "List< T > Class".
_PART, _BRACKETED_PART = (
    re.compile(rf"\s+(?:[-–—―|•·»«:/\\]|::{signs})+\s+") for signs in ("|<|>", "")
)
_BRACKETS: Final = "()", "[]", "（）", "【】"
_SITE_FIRST: Final = frozenset(("»", ">", "::", "\\"))
_PRINT: Final = (
    r"print(?:able|er[- ]friendly)?(?: (?:version|view|page))?|druck(?:version|ansicht)?|imprimer|"
    r"version imprimable|(?:versión para )?imprimir|versão para impressão|stampa|"
    r"versione (?:stampabile|per la stampa)|afdrukken|printversie|wersja do druku|drukuj|"
    r"версия для печати|печать|utskrift(?:svennlig)?|udskriv|tulosta|yazdır|"
    r"印刷(?:用|用ページ)?|打印(?:版|页)?|列印|인쇄(?:용)?"
)
_PRINTED: Final = re.compile(
    rf"^(?:{_PRINT})\s*[:：]\s*(?=\S)|(?<=\S)\s*[(\[（【]\s*(?:{_PRINT})\s*[)\]）】]\s*$|"
    rf"(?<=\S)\s+[-–—|:]\s+(?:{_PRINT})\s*$",
    re.IGNORECASE,
)
_UNITS: Final = (
    r"[kmgtкмгт]?(?:hz|гц)|(?:kilo|centi|milli)?(?:meter|metre|metro|liter|litre|litro)s?|kilos?|tons?|"
    r"tonnes?|inch(?:es)?|zoll|foot|feet|miles?|meilen?|gallons?|ounces?|pounds?|pfund|volts?|watts?|"
    r"uhr|euros?|dollars?"
)
# Of a section: parts of one digit, since 18.30 may be a time, 24.12. a date and 1.4.2 a version.
_NUMBER: Final = re.compile(
    r"^(?:§\s*(?:\d{1,3}\.)+\d{1,3}\.?|(?P<dotted>(?:\d\.){2,})|\d\.\d)\s+"
    rf"(?!(?i:{_UNITS})\b)(?=[^\W\d_]{{3}})"
)


def heading_of(
    flat: Flat,
    title: str,
    known: NDArray[np.bool_] | None = None,
    *,
    kept: NDArray[np.bool_] | None = None,
    site: AbstractSet[int] = frozenset(),
    learnt: int = 0,
) -> str:
    """Return the page's heading: the first of the highest level, unless that is the site's name.

    `known` are the blocks of the site's template, `site` has the common parts of its titles,
    `learnt` is the number of texts from which these were learnt, and `kept` are the page's own
    blocks of the text. A heading below the first level must be repeated by the title, and a block
    that its class calls a title must repeat what the title says last. If there is none, the title
    without the site's name is used. A title of one part may be the site's, too, while that is
    unknown: then a lower heading is added, or the beginning of the text. All pages may have that
    heading, such as "See also", so the beginning is added to it once the template is well known. A
    title that several pages have is that of a part of the site. A heading that is a link may be
    that of a list's first entry: once the site's name is known, the title stands before it.
    """
    signs = flat.signs_of_blocks[:LIMIT]
    seen = signs & _NEVER == 0
    if known is not None:
        seen &= ~known[:LIMIT]
    codes = np.where(seen, flat.codes[flat.around[:LIMIT]], -1)

    def read(numbers: list[int]) -> list[str]:
        found = [plain_name(flat.texts[at], site) for at in numbers]
        return [name for name in found if name and name != shared]

    def named(*levels: int) -> list[str]:
        found = (np.flatnonzero(codes == code)[:_MOST].tolist() for code in levels)
        return read([at for numbers in found for at in numbers])

    whole, shared = plain_name(title), ""
    if is_of_site(whole, site, WHOLE):
        title, whole, shared = "", "", whole
    parts, own = _split_title(whole), bare_title(title, site)
    if tops := named(_LEVELS[0]):
        if (top := tops[0]) == own:
            return top
        name = _named_by(top, own, whole, named, any(is_of_site(part, site) for part in parts))
        is_other = own and name == top not in own and own not in top
        if is_other and learnt >= _WELL_LEARNT and top in read(_linked_blocks(flat, codes)):
            name = f"{own}: {top}"  # lists may begin with one entry
        if kept is None:
            return name
        # One above the text may be that of dialogs or of a part of the site.
        in_text = read(np.flatnonzero((codes == _LEVELS[0]) & kept[:LIMIT])[:_MOST].tolist())
        is_above = bool(in_text) and top not in in_text and in_text[0] not in name
        return f"{name}: {in_text[0]}" if is_above else name
    titled, lower = read(_titled_blocks(codes, signs)), named(*_LEVELS[1:])
    if said := _said_by(titled, plain_name(title), whole, own or plain_name(shared)):
        return said
    for text in lower:
        if text in whole and (text == own or text not in parts):
            return text
    if own and (len(parts) > 1 or learnt >= _WELL_LEARNT):
        return own
    named_so = titled if learnt >= _WELL_LEARNT else []  # before, one may be the site's
    first = next(iter([*named_so, *lower, *named(*_LABELS)]), "")
    beginning = ""
    if kept is not None and (learnt >= _WELL_LEARNT or ((title or shared) and not first)):
        plain = kept & (flat.linked < PER_WORD * flat.words)
        texts = map(flat.texts.__getitem__, np.flatnonzero(plain)[:_MOST].tolist())
        beginning = next((text for text in texts if plain_name(text, site) != first), "")
    return ": ".join(part for part in (own, first, beginning[:BEGINNING]) if part)


def _named_by(
    top: str, own: str, whole: str, named: Callable[..., list[str]], is_of_part: bool
) -> str:
    """Return the first heading, or what the title says if others repeat that instead."""
    if own and top in _split_title(whole):
        # The title has the heading as the site's name, or in front of it.
        return own if is_of_part or own in named(*_RANKED[1:]) else whole
    return own if top not in whole and own not in top and own in named(*_LEVELS[1:]) else top


def _linked_blocks(flat: Flat, codes: Ints) -> list[int]:
    """Return the first headings of the highest level that are links."""
    is_link = (flat.linked >= PER_WORD * flat.words)[:LIMIT]
    found: list[int] = np.flatnonzero((codes == _LEVELS[0]) & is_link)[:_MOST].tolist()
    return found


def _titled_blocks(codes: Ints, signs: Ints) -> list[int]:
    """Return the first blocks that only their class calls a title; a code below 0 is of no use."""
    numbers = np.flatnonzero((codes >= 0) & (signs & _TITLE > 0))[: 2 * _MOST].tolist()
    return [at for at in numbers if codes[at] not in _RANKED]


def _said_by(titled: list[str], full: str, whole: str, own: str) -> str:
    """Return the first block that its class calls a title, and that the title confirms; or "".

    It is what the title says last, or contains that. Alone, a `full` title may be the site's.
    """
    last = own.rpartition(": ")[2]
    for text in titled:
        if last and (text == last != full or (last in text and text not in whole)):
            return text
    return ""


def plain_name(name: str, site: AbstractSet[int] = frozenset()) -> str:
    """Return a heading without its number, the site's name, and a note such as "print version".

    A number has at least two parts, and a word after it: "1.5 mm" is not one. In scripts without
    capitals only its last point tells it from an amount.

    >>> plain_name("3.2 Tea (print)"), plain_name("Print: Tea"), plain_name("1.5 mm")
    ('Tea', 'Tea', '1.5 mm')
    """
    name = _PRINTED.sub("", name[:_READ].strip())
    if found := _NUMBER.match(name):
        first = name[found.end()]
        if first.isupper() or (found["dotted"] and not first.islower()):
            name = name[found.end() :]
    if site:
        parts = _split_title(name)
        left = [part for part in parts if not is_of_site(part, site)]
        if len(left) < len(parts):
            name = left[-1] if left and _has_site_first(name) else "".join(left[:1])
        head, colon, rest = name.partition(": ")
        if colon and is_of_site(head, site):
            name = rest
    return name.strip()


def bare_title(title: str, site: AbstractSet[int] = frozenset()) -> str:
    """Return a title without the site's name: the parts that other titles do not share.

    >>> bare_title("C++ keywords: bool - cppreference.com"), bare_title("Tea - The Green Handbook")
    ('C++ keywords: bool', 'Tea')
    >>> bare_title("The Green Handbook - Tea", {title_part("The Green Handbook")})
    'Tea'
    >>> bare_title("Home > Lists"), bare_title("List< T > Class Reference - Handbook")
    ('Lists', 'List< T > Class Reference')
    >>> bare_title("Timetable (Line 4 - North) - City Buses"), bare_title("Tea - My Blog :)")
    ('Timetable (Line 4 - North)', 'Tea')
    """
    name = plain_name(title, site)
    return plain_name(_split_title(name)[-1 if _has_site_first(name) else 0])


def _find_separators(name: str) -> list[re.Match[str]]:
    """Return what separates a title's parts: not < and > where these are a pair of brackets.

    Nothing between brackets does, as in "Handbook (Index - X)".
    """
    pattern = _BRACKETED_PART if ">" in name.partition("<")[2] else _PART
    return [one for one in pattern.finditer(name) if not _is_in_brackets(name, one.start())]


def _is_in_brackets(name: str, at: int) -> bool:
    return any(
        name.rfind(first, 0, at) > name.rfind(last, 0, at) and last in name[at:]
        for first, last in _BRACKETS
    )


def _split_title(name: str) -> list[str]:
    """Return the parts of a title."""
    found = _find_separators(name)
    starts, ends = [0, *(one.end() for one in found)], [*(one.start() for one in found), len(name)]
    return [name[start:end] for start, end in zip(starts, ends, strict=True)]


def _has_site_first(name: str) -> bool:
    """Whether parts of a title stand in the order of a path."""
    found = _find_separators(name)
    return bool(found) and found[0].group().strip() in _SITE_FIRST


def title_part(part: str, flag: int = 0) -> int:
    """Return the hash of a part of a title, or of a `WHOLE` one; digits count, as in "Page 3"."""
    seed = flag >> 32
    return IN_TITLES | flag | xxhash.xxh32_intdigest(part.strip().encode("utf-8", "replace"), seed)


def is_of_site(part: str, site: AbstractSet[int], flag: int = 0) -> bool:
    """Whether a template says that the site's titles share a part, or are this `WHOLE` one."""
    number = title_part(part, flag)
    return number in site or number % KEPT ^ TOLD_TITLE in site


def title_parts(title: str) -> list[int]:
    """Return hashes of a title, its parts, and its beginning up to a colon: a site learns them."""
    name = plain_name(title)
    parts = {*_split_title(name)[:_MOST], name.partition(": ")[0]}
    return [title_part(part) for part in parts if part] + [title_part(name, WHOLE)] * bool(name)


def hash_names(
    flat: Flat, title: str, shared: NDArray[np.bool_] | None = None
) -> tuple[int, int, int]:
    """Return three hashes of the page's name.

    The first is of its title and first-level headings without digits: versions of a page share
    it. If it has no such heading, also of the beginnings of its first blocks and its last one
    that are not links. The second is the same with digits. The third, with the beginnings of
    the first blocks, tells apart pages that share the others. What the site is known to share, such
    as a note above, is left out if several blocks remain: one may change in versions of a page.
    """
    is_seen = flat.signs_of_blocks & _NEVER == 0  # outside menus and footers
    found = np.flatnonzero((is_seen & (flat.codes[flat.around] == _LEVELS[0]))[:LIMIT]).tolist()
    plain = _plain_blocks(flat)
    others = _first_besides(found, plain)
    if shared is not None and len(own := _first_besides(found, plain & ~shared)) >= FACTS:
        others = own
    numbers = found
    if not found:
        numbers = np.flatnonzero(plain[:LIMIT]).tolist()
        numbers = [*numbers[:_FIRST], *numbers[-1:]]
    name = "\n".join([title[:_READ], *(flat.texts[at][:BEGINNING] for at in numbers[:_MOST])])
    beginning = "\n".join(flat.texts[at][:BEGINNING] for at in others[:_MOST])
    return block_hash(name), text_hash(name), block_hash(f"{name}\n{beginning}")


def line_hashes(flat: Flat) -> list[int]:
    """Return 16-bit hashes of a page's first short lines; digits count. Facts are short lines."""
    texts = map(flat.texts.__getitem__, np.flatnonzero(_plain_blocks(flat)).tolist())
    short = islice((text for text in texts if len(text) < PROSE), _LINES)
    return [text_hash(text) & 0xFFFF for text in short]


def _plain_blocks(flat: Flat) -> NDArray[np.bool_]:
    """Return which blocks are visible text, outside menus and footers, and no links."""
    found: NDArray[np.bool_] = flat.signs_of_blocks & _NEVER == 0
    return found & (flat.linked < PER_WORD * flat.words)


def _first_besides(headings: list[int], blocks: NDArray[np.bool_]) -> list[int]:
    """Return the numbers of some of the first `blocks` that are not among the `headings`."""
    numbers: list[int] = np.flatnonzero(blocks[:LIMIT])[: 2 * _MOST].tolist()
    return [at for at in numbers if at not in headings]
