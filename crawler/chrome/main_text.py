"""What is left of a page, why each block was kept or cut, and what its site learns from it."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from .blocks import Flat
from .features import Floats, Wide
from .vocabulary import BIT

PROSE: Final = 200  # characters
ROWS: Final = 2  # times that chrome comes on a page, as above and below its text
_SMALL: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_DIGITS: Final = bytes.maketrans(b"0123456789", b"\1" * 10)  # no digit that a text has


class Block(NamedTuple):
    """A piece of the page and what became of it."""

    text: str
    kept: bool
    reason: str
    density: float  # share of its characters outside links
    likelihood: float  # of being main text, before the page as a whole decided


class Pairs(NamedTuple):
    """A 32-bit hash for every two neighbouring blocks of a page, where digits do not count, and
    where they do.
    """

    alike: list[int]
    same: list[int]


class MainText:
    """The main text of a page; its blocks are worked out only when asked for.

    ``text`` has a block in each line, ``title`` is that of the page, white space made single.
    """

    __slots__ = (
        "_alone", "_flat", "_kept", "_known", "_likely", "_pairs", "_whole", "text", "title"
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

    def __repr__(self) -> str:
        return f"MainText(title={self.title!r}, text={self.text[:60]!r}…)"

    @property
    def whole(self) -> str:
        """The main text as it is without what is known of the site's template.

        So it stays the same while that is being learnt.
        """
        return self.text if self._whole is None else self._whole

    def hashes(self) -> dict[int, bool]:
        """Return hashes of every two neighbouring blocks, and whether the page alone keeps one.

        This is what `SiteTemplate.observe` learns from.  What is kept may come back in a print
        view, on page two, or in the next row of a table without being chrome, and with other
        numbers it is another text.  What comes several times on the page is left out: such are the
        cells of its table, and the labels of its posts.
        """
        if self._pairs is None:
            self._pairs = pair_hashes(self._flat.texts)
        alike, same = self._pairs
        kept = self._alone[:-1] | self._alone[1:]
        cut = np.flatnonzero(~kept).tolist()
        hashes = dict.fromkeys(map(alike.__getitem__, cut), False)
        if same is not alike:
            hashes |= dict.fromkeys(map(same.__getitem__, cut), False)
        for pair, times in Counter(map(same.__getitem__, np.flatnonzero(kept).tolist())).items():
            if times > ROWS:
                hashes.pop(pair, None)
            else:  # if it does so anywhere
                hashes[pair] = True
        return hashes

    @property
    def blocks(self) -> list[Block]:
        """All blocks in reading order with what became of them."""
        texts, numbers = self._flat.texts, np.arange(len(self._flat.texts))
        columns = (self._kept, self._likely, self._flat.linked)
        return [
            Block(text, kept, reason, round(1 - linked / max(len(text), 1), 3), likely)
            for text, reason, kept, likely, linked in zip(
                texts, self._reasons(numbers), *(column.tolist() for column in columns), strict=True
            )
        ]

    def cut(self, limit: int) -> list[tuple[str, str]]:
        """Text and reason of the first blocks that were left out, up to `limit`, in their order."""
        numbers = np.flatnonzero(~self._kept)[:limit]
        texts = map(self._flat.texts.__getitem__, numbers.tolist())
        return list(zip(texts, self._reasons(numbers), strict=True))

    def _reasons(self, numbers: NDArray[np.intp]) -> list[str]:
        """Why these blocks were kept or cut."""
        flat, known = self._flat, self._known
        columns = (
            numbers,
            flat.signs[flat.around[numbers]],
            flat.linked[numbers],
            self._kept[numbers],
            np.zeros(len(numbers), bool) if known is None else known[numbers],
        )
        return [
            _reason(signs, linked > len(flat.texts[i]) / 2, kept, templated)
            for i, signs, linked, kept, templated in zip(
                *(c.tolist() for c in columns), strict=True
            )
        ]


def is_running(flat: Flat, sizes: Wide) -> NDArray[np.bool_]:
    """Return which blocks, of so many characters, are long running text."""
    running: NDArray[np.bool_] = (sizes >= PROSE) & (flat.linked * 3 < sizes)
    return running


_SAID: Final = tuple(
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


def _reason(signs: int, linked: bool, kept: bool, templated: bool) -> str:
    if templated:
        return "template"
    if kept:
        return "links in main text" if linked else "main text"
    return _said(signs) or ("links" if linked else "outside main text")


@lru_cache(1024)
def _said(signs: int) -> str | None:
    return next((reason for sign, reason in _SAID if signs & sign), None)


def block_hash(text: str) -> int:
    """Return a stable 64-bit hash of a block; digits, and case within ASCII, do not count.

    >>> block_hash("Seen 1,204 times") == block_hash("seen 9,317 times")
    True
    """
    return xxhash.xxh3_64_intdigest(_small(text).translate(_DIGITS))


def _small(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_SMALL)


def pair_hashes(texts: list[str]) -> Pairs:
    """Return the hashes of every two neighbouring blocks, in which case within ASCII is ignored.

    Chrome comes back with its neighbours; "Parameters:" comes back on many pages of a manual,
    but between other texts on each.
    """
    # All blocks folded at once, for most are short: no page has zero bytes in its text.
    small = _small("\0".join(texts))
    folded = small.translate(_DIGITS)
    alike = _of_pairs(folded)
    return Pairs(alike, alike if small == folded else _of_pairs(small))


def _of_pairs(blocks: bytes) -> list[int]:
    parts = blocks.split(b"\0")
    hashes = np.fromiter(map(xxhash.xxh3_64_intdigest, parts), np.uint64, len(parts))
    pairs: list[int] = ((hashes[:-1] * 3 + hashes[1:]) >> 16).astype(np.uint32).tolist()
    return pairs
