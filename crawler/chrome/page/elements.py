"""The meaning of the elements around a text: tags, classes, ids, roles, hiding."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Final

import numpy as np

from .blocks import LIMIT, OTHER, TAG_CODES, Flat, Ints, make_ints
from .signs import BIT, HIDDEN, NAMES, ROLE_BITS, TAG_BITS

DEEPEST: Final = 2000  # libxml2 drops what lies deeper than 2,048 elements
OPEN: Final = 1 << 62  # where elements end that have not ended yet
NAME_READ: Final = 300  # longer class lists are generated; their ends say nothing new
STYLE_READ: Final = 200
UNSHOWN: Final = "w-condition-invisible"  # Webflow's class of what a page is not to have
# Classes of members that a class inherits, which are on another page as well. Doxygen's style hides
# them; "text-inherit" and the like are other styles.
_INHERITED: Final = re.compile(r"(?<!\S)inherit(?:_header)?(?!\S)|inherited")
_DOCUMENTED: Final = re.compile(r"[.(/]")  # "http.cookies", "getComment()": no layout's names
_SOURCE_COMMENT: Final = "tsd-comment"  # TypeDoc's class of what the source says: no reader's
_UNSHOWN: Final = BIT["hidden"] | BIT["unshown"]
MOST_KINDS: Final = 2000  # then classes are read no more; of 880 pages none has 600
# What stands in these is text, whatever stands in it.
PHRASES: Final = frozenset(TAG_CODES[tag] for tag in ("p", "h1", "h2", "h3", "h4"))

# All others are blocks.
SKIPPED, INLINE, READING, LINK, BREAK, TIME, HEAD, PRE, BLOCK, CUSTOM = range(10)
# Annotations repeat a formula in TeX or another markup.
_SKIPPED_TAGS: Final = """
    script style template svg iframe object canvas audio video select datalist textarea input
    param applet noframes noembed progress meter rp annotation annotation-xml
"""
# Nobody closes `embed`, `source` and `track`, so libxml2 puts the text that follows into them.
_INLINE_TAGS: Final = """
    abbr acronym b bdi bdo big cite code data del dfn em embed font i img ins kbd label map mark
    nobr q ruby rb s samp small source span strike strong sub sup track tt u var wbr

    math maction menclose merror mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom
    mprescripts mroot mrow ms mspace msqrt mstyle msub msubsup msup mtable mtext mtr munder
    munderover none semantics
"""
# What stands before the first part of these formulas, and before each later one: it is their places
# alone that tell 1/2 from 12.
FORMULAS: Final = {
    "mfrac": (" ", "/"),  # 3 1/2 is not 31/2
    "msqrt": ("√", ""),
    "mroot": ("√", " "),
    "msup": ("", "^"),
    **dict.fromkeys(("msubsup", "munder", "mover", "munderover"), ("", " ")),
}
# What stands above letters would part the words that it is a reading of.  Nobody has to close it,
# so one ends at whatever cannot be in it.
_READING_TAGS: Final = "rt rtc"
BASE: Final = "rb"
RAISED: Final = "sup"
LONGEST_NOTE: Final = 3  # digits of its number
WHITE: Final = " \t\n\f\r\x1f\xa0"  # beside which it stands apart
_HEAD_TAGS: Final = "title meta link base area frame"
TAGS: Final[dict[str, int]] = {
    **dict.fromkeys(_SKIPPED_TAGS.split(), SKIPPED),
    **dict.fromkeys(_INLINE_TAGS.split(), INLINE),
    **dict.fromkeys(_READING_TAGS.split(), READING),
    **dict.fromkeys(_HEAD_TAGS.split(), HEAD),
    "a": LINK,
    "br": BREAK,
    "mtd": BREAK,
    "time": TIME,
    **dict.fromkeys(("pre", "xmp", "listing", "plaintext"), PRE),
    **dict.fromkeys(("output", "picture", "slot"), CUSTOM),
}


def kind_of(tag: str) -> int:
    """Return how a tag is handled; tags such as Word's `st1:place` are inline, like `span`.

    So are custom elements and pictures within paragraphs and headings; elsewhere they hold whole
    parts of a page.

    >>> kind_of("p") == BLOCK, kind_of("st1:place") == INLINE, kind_of("user-mention") == CUSTOM
    (True, True, True)
    """
    return TAGS.get(tag, INLINE if ":" in tag else CUSTOM if "-" in tag else BLOCK)


class Elements:
    """The elements of a page in order, as columns; the first is the page.

    Their attributes are read when they begin, because memory is faster then.
    """

    __slots__ = (
        "_codes",
        "_labels",
        "_names",
        "_said",
        "ends",
        "firsts",
        "kinds",
        "parents",
        "signs",
    )

    def __init__(self) -> None:
        self.signs = [0]
        self.kinds = [0]  # numbers for all of one tag and class
        self.parents = [0]
        self.firsts = [0]  # blocks
        self.ends = [OPEN]  # the numbers of the blocks after them
        # What all elements of one tag and class share; the first is the page.
        self._codes = [OTHER]
        self._names = [""]
        self._said = [0]
        self._labels: dict[str, int] = {}

    def add_element(self, parent: int, tag: str, attributes: Mapping[str, str], first: int) -> int:
        """Add an element in element `parent`, before block `first`; return its number."""
        bits = self.signs[parent]
        label, names = tag, None
        if attributes:
            names = attributes.get("class")
            if names and len(self._codes) < MOST_KINDS:
                label = f"{tag} {names}"
            if names is None or len(attributes) > 1:
                bits |= other_signs(attributes)
        kind = self._labels.get(label)
        if kind is None:
            # The name of a tag of a site's own says what a class does: `<site-footer>`.
            said = label if "-" in tag else label[len(tag) + 1 :]
            kind = self._labels[label] = self._add_kind(tag, read_names(said))
        kinds = self.kinds
        number = len(kinds)
        kinds.append(kind)
        self.signs.append(bits | self._said[kind])
        self.parents.append(parent)
        self.firsts.append(first)
        self.ends.append(OPEN)
        return number

    def is_phrase(self, number: int) -> bool:
        """Whether an element is a paragraph or a heading."""
        return self._codes[self.kinds[number]] in PHRASES

    def codes_around(self, number: int) -> tuple[int, int]:
        """Return the codes of the tags of an element and of the one around it."""
        return self._codes[self.kinds[number]], self._codes[self.kinds[self.parents[number]]]

    def _add_kind(self, tag: str, names: str) -> int:
        self._codes.append(TAG_CODES.get(tag, OTHER))
        self._names.append(names)
        self._said.append(TAG_BITS.get(tag, 0) | class_signs(names))
        return len(self._said) - 1

    def flatten_page(
        self,
        texts: list[str],
        words: Ints,
        linked: Ints,
        links: Ints,
        around: Ints,
        too_deep: bool,
    ) -> Flat:
        """Return the page, whose blocks know their innermost elements but not the containers."""
        depths, within = [0], [0]
        firsts, ends, parents, holders = [0], [len(texts)], [0], [0]
        rows = zip(self.parents, self.firsts, self.ends, strict=True)
        for parent, first, end in islice(rows, 1, None):
            container = within[parent]
            if end - first > 1 and first < LIMIT:
                parents.append(container)
                container = len(firsts)
                firsts.append(first)
                ends.append(end)
                holders.append(len(within))
            depths.append(depths[parent] + 1)
            within.append(container)
        kinds = make_ints(self.kinds)
        return Flat(
            texts,
            words=words,
            linked=linked,
            links=links,
            around=around,
            within=make_ints(within)[around],
            codes=make_ints(self._codes)[kinds],
            signs=make_ints(self.signs),
            depths=make_ints(depths),
            kinds=kinds,
            outer=make_ints(self.parents),
            firsts=make_ints(firsts),
            ends=np.minimum(make_ints(ends), min(len(texts), LIMIT)),
            parents=make_ints(parents),
            holders=make_ints(holders),
            names=self._names,
            too_deep=too_deep,
        )


def read_names(names: str) -> str:
    """Return an element's classes as far as they say something of its text.

    >>> read_names("tsd-comment tsd-typography")
    'tsd tsd-typography'
    """
    return names[:NAME_READ].replace(_SOURCE_COMMENT, "tsd")


def class_signs(names: str) -> int:
    """Return the meaning of an element's classes for its text."""
    bits = NAMES.bits(names)
    if UNSHOWN in names:
        bits |= _UNSHOWN
    if "inherit" in names and _INHERITED.search(names):
        bits |= BIT["unshown"]
    return bits


def id_signs(name: str) -> int:
    """Return the meaning of an element's id for its text; that of a documented name is none."""
    name = name[:NAME_READ]
    return 0 if _DOCUMENTED.search(name) else NAMES.bits(name)


def other_signs(attributes: Mapping[str, str]) -> int:
    """Return the meaning of an element's id, role and hiding."""
    bits = 0
    if name := attributes.get("id"):
        bits |= id_signs(name)
    if role := attributes.get("role"):
        bits |= ROLE_BITS.get(role, 0)
    hidden = attributes.get("hidden")
    if hidden is not None and is_hidden(hidden, name or ""):
        bits |= HIDDEN
    if "popover" in attributes or attributes.get("aria-hidden") == "true":
        bits |= HIDDEN
    if hides_element(attributes.get("style", "")):
        bits |= HIDDEN
    return bits


def is_hidden(value: str, name: str) -> bool:
    """Whether the attribute `hidden` with that value hides an element with that id.

    Browsers show "until-found" parts when they are searched, and React moves parts that a server
    sends later into their places, for example in Next.js.

    >>> is_hidden("", "menu"), is_hidden("until-found", ""), is_hidden("", "S:1f")
    (True, False, False)
    """
    return value != "until-found" and not name.startswith("S:")


def hides_element(style: str) -> bool:
    """Whether a style attribute hides its element.

    >>> hides_element("color: red; Display: none"), hides_element("backface-visibility: hidden")
    (True, False)
    """
    style = style[:STYLE_READ].lower()
    if "none" not in style and "hidden" not in style:
        return False
    compact = ";" + "".join(style.split())
    return ";display:none" in compact or ";visibility:hidden" in compact
