"""The main text of a page, why each block was kept or cut, and what its site learns from it."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .judge.doubts import find_members
from .judge.features import text_lengths
from .page.blocks import Flat, Floats, Ints, make_ints
from .page.signs import BIT
from .template.naming import BEGINNING, PER_WORD, hash_names, heading_of, line_hashes, title_parts
from .template.pairs import (
    OFTEN,
    SURE,
    OwnBlocks,
    Pairs,
    find_in_lists,
    make_lesson,
    pair_hashes,
    text_hash,
)

SAID: Final = tuple(
    (BIT[sign], reason)
    for sign, reason in (
        ("hidden", "hidden"),
        ("nav", "navigation"),
        ("footer", "footer"),
        ("c_footer", "footer"),
        ("c_menu", "navigation"),
        ("c_crumbs", "breadcrumbs"),
        ("c_consent", "consent"),
        ("c_related", "related"),
        ("c_share", "sharing"),
        ("c_comment", "comments"),
        ("c_ad", "advertisement"),
        ("c_signup", "sign-up"),
        ("aside", "aside"),
        ("c_sidebar", "sidebar"),
        ("form", "form"),
        ("header", "header"),
        ("c_header", "header"),
    )
)
# Thai to Lao, Burmese, Khmer, kana, Chinese characters.
UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
PER_UNSPACED: Final = 2  # characters that count as a word
PER_UNSPACED_WORD: Final = 0.8  # the same as PER_WORD, for these
_CAPTION_WORDS: Final = 3
_LETTER: Final = re.compile(r"[^\W\d_]")
TEMPLATE: Final = "template"
KEPT: Final = "main text", "links in main text"
CUT: Final = "outside main text", "links"


def give_reasons(
    flat: Flat,
    numbers: NDArray[np.intp],
    kept: NDArray[np.bool_],
    known: NDArray[np.bool_] | None,
) -> list[str]:
    """Return why blocks of these numbers were kept or cut; `known` are the template's."""
    columns = (
        numbers,
        flat.signs_of_blocks[numbers],
        flat.linked[numbers],
        kept[numbers],
        np.zeros(len(numbers), bool) if known is None else known[numbers],
    )
    return [
        _give_reason(signs, linked > len(flat.texts[i]) / 2, keep, templated)
        for i, signs, linked, keep, templated in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _give_reason(signs: int, linked: bool, kept: bool, templated: bool) -> str:
    if templated:
        return TEMPLATE
    if kept:
        return KEPT[linked]
    return _phrase_reason(signs) or CUT[linked]


@lru_cache(1024)
def _phrase_reason(signs: int) -> str | None:
    return next((reason for sign, reason in SAID if signs & sign), None)


class Block(NamedTuple):
    """A piece of the page, and whether it is main text.

    Attributes
    ----------
    text
        Its text.
    kept
        Whether it is main text.
    reason
        Why: ``main text``, or what it is instead, such as ``navigation``.
    density
        The share of its characters outside links, 0 to 1.
    likelihood
        The probability that it is main text, before the page as a whole is considered.
    """

    text: str
    kept: bool
    reason: str
    density: float
    likelihood: float


class MainText:
    """The main text of a page. Its blocks are computed when they are first read.

    Attributes
    ----------
    text
        The main text, one block in each line; a block with line breaks has several lines.
    title
        The page's title, with single spaces.
    learnt
        The number of texts from which the template of the site was learnt.
    """

    __slots__ = (
        "_alone", "_flat", "_kept", "_known", "_likely", "_pairs", "_shared", "_site",
        "_whole", "learnt", "text", "title",
    )  # fmt: skip

    def __init__(
        self,
        text: str,
        title: str,
        flat: Flat,
        kept: NDArray[np.bool_],
        likely: Floats,
        known: NDArray[np.bool_] | None = None,
        whole: str | None = None,
        pairs: Pairs | None = None,
        alone: NDArray[np.bool_] | None = None,
        shared: NDArray[np.bool_] | None = None,
        learnt: int = 0,
        site: AbstractSet[int] = frozenset(),
    ) -> None:
        self.text = text
        self._whole = whole
        self.title = title
        self._flat = flat
        self._kept = kept
        self._likely = likely
        self._known = known
        self._pairs = pairs
        self._alone = kept if alone is None else alone
        self._shared = shared
        self._site = site
        self.learnt = learnt

    def __repr__(self) -> str:
        return f"MainText(title={self.title!r}, text={self.text[:60]!r}…)"

    @property
    def whole(self) -> str:
        """The main text without what is known about the site's template.

        It stays the same while the template is being learnt. If a good part of the text was found
        only with the template, `whole` has this part as well.
        """
        return self.text if self._whole is None else self._whole

    @property
    def heading(self) -> str:
        """The page's heading, or its title without the site's name."""
        return heading_of(
            self._flat, self.title, self._known,
            kept=self._own, site=self._site, learnt=self.learnt,
        )  # fmt: skip

    def heading_below(self, title: str) -> str:
        """The heading, with the `title` that an item gives to a page without one.

        Once the site is well known, such a heading may be the beginning of the text, which several
        items have.
        """
        heading = self.heading
        if self.title or title in heading:
            return heading
        return f"{title}: {heading}" if heading else title

    @property
    def _own(self) -> NDArray[np.bool_]:
        """The kept blocks that are not known to be the site's."""
        return self._kept if self._shared is None else self._kept & ~self._shared

    @property
    def own_words(self) -> int:
        """The number of words that are not known to belong to the template, without lists of links.

        Numbers beside links do not count either. In scripts without spaces between words, two
        characters count as one word.
        """
        return int(self._words_of_own.sum())

    @property
    def own_blocks(self) -> OwnBlocks:
        """The page's own blocks, with what is needed to count their words by another template."""
        _, same, long = self._pairs_of_blocks
        return OwnBlocks(np.array(same, np.uint32), long, self._alone, self._words_of_own)

    @property
    def text_blocks(self) -> OwnBlocks:
        """The blocks of the text, to count the words of those that another template leaves in it.

        While few pages have shown a note, it is not the page's own, but stays in the text.
        """
        blocks = self.own_blocks._replace(words=self._words_among(self._kept), ways=OFTEN | SURE)
        return blocks._replace(then=blocks.find_ways(self._site))

    @property
    def _words_of_own(self) -> Ints:
        return self._words_among(self._own)

    def _words_among(self, blocks: NDArray[np.bool_]) -> Ints:
        """The words of each of these blocks, 0 for lists of links and all others."""
        flat, words = self._flat, self._words
        more = PER_UNSPACED_WORD * (words - flat.words)
        links = flat.linked >= PER_WORD * flat.words + more
        return np.where(blocks & ~links & ~self._find_listed(links), words, 0)

    @property
    def shared_words(self) -> int:
        """The number of template words that stay because the page has too little else."""
        return 0 if self._shared is None else int(self._words[self._kept & self._shared].sum())

    def _find_listed(self, links: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which kept blocks stand in lists of links: captions, numbers, the links as well.

        A list is short lines and links that are mostly links, as a menu and a table of contents.
        """
        flat, sizes = self._flat, text_lengths(self._flat.texts)
        lines = self._kept & (links | (self._words <= _CAPTION_WORDS))
        ends = lines & links
        for at in np.flatnonzero(lines & ~links).tolist():
            ends[at] = _LETTER.search(flat.texts[at]) is None
        return find_in_lists(lines, ends, np.zeros_like(lines), flat.linked, sizes)

    @property
    def _words(self) -> Ints:
        """How many words each block has, those in scripts without spaces included."""
        words = self._flat.words
        if self.text.isascii() or UNSPACED.search(self.text) is None:
            return words
        kept = np.flatnonzero(self._kept)
        words = words.copy()
        words[kept] += make_ints(
            [
                sum(map(len, UNSPACED.findall(text))) // PER_UNSPACED
                for text in map(self._flat.texts.__getitem__, kept.tolist())
            ]
        )
        return words

    @property
    def names(self) -> tuple[int, int, int]:
        """Hashes of the page's title and headings: without digits, with digits, and longer."""
        return hash_names(self._flat, self.title, self._shared)

    @property
    def lines(self) -> list[int]:
        """Hashes of the page's first short lines, kept or cut, without links."""
        return line_hashes(self._flat)

    @property
    def beginning(self) -> int:
        """A hash of how the page's own text begins, without lines that are part of the title.

        A short line is not enough: it may be a label that begins all pages of a site.
        """
        own = self._alone if self._shared is None else self._alone & ~self._shared
        texts = map(self._flat.texts.__getitem__, np.flatnonzero(own)[:BEGINNING].tolist())
        own_lines = (text for text in texts if text not in self.title)
        return text_hash("\n".join(own_lines)[:BEGINNING])

    def hashes(self) -> dict[int, bool]:
        """Return a hash for each pair of neighbouring blocks, and whether it is main text.

        `SiteTemplate.observe` learns from this.  The page's beginning and end count as neighbours.
        Main text is marked because it may come back without being chrome: in a print view, on page
        two, or in the next row of a table.  Pairs that occur several times on the page are left
        out, such as cells of a table.  So are members that a class inherits, since they are another
        page's text.  Parts of the title are included, for the site's name.
        """
        lesson = make_lesson(self._pairs_of_blocks, self._alone, find_members(self._flat))
        return lesson | dict.fromkeys(title_parts(self.title), False)

    @property
    def _pairs_of_blocks(self) -> Pairs:
        if self._pairs is None:
            self._pairs = pair_hashes(self._flat.texts)
        return self._pairs

    @property
    def blocks(self) -> list[Block]:
        """All blocks in reading order, kept and cut."""
        texts, numbers = self._flat.texts, np.arange(len(self._flat.texts))
        columns = (self._kept, self._likely, self._flat.linked)
        return [
            Block(text, kept, reason, round(1 - linked / max(len(text), 1), 3), likely)
            for text, reason, kept, likely, linked in zip(
                texts,
                give_reasons(self._flat, numbers, self._kept, self._known),
                *(column.tolist() for column in columns),
                strict=True,
            )
        ]

    def cut(self, limit: int) -> list[tuple[str, str]]:
        """The text and the reason of the first blocks that were cut, up to `limit`."""
        numbers = np.flatnonzero(~self._kept)[:limit]
        texts = map(self._flat.texts.__getitem__, numbers.tolist())
        return list(
            zip(texts, give_reasons(self._flat, numbers, self._kept, self._known), strict=True)
        )
