"""The front door: a page in, its main text out, and on demand why each block was kept or cut."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from . import model
from .blocks import LIMIT, Flat
from .document import Document, parse, read_tree
from .document import title as title_of
from .features import Floats, Ints, Wide, describe, first_equal, lengths
from .template import LONG
from .vocabulary import BIT

PROSE: Final = 200  # characters; kept blocks of this length are chrome only on nearly all pages
_MOST_LONG: Final = 0.5  # of what a page alone would keep
_MOSTLY: Final = 0.5  # of the text between two blocks of the template
_BONUS: Final = 0.25  # of log-odds
_TRUST: Final = 0.5
_CAUTION: Final = 0.85
_TINY: Final = 1e-6
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")


class Block(NamedTuple):
    """A piece of the page and what became of it."""

    text: str
    kept: bool
    reason: str
    density: float  # share of its characters outside links
    likelihood: float  # of being main text, before the page as a whole decided


class MainText:
    """The main text of a page; its blocks are worked out only when asked for.

    ``text`` has a block in each line, ``title`` is that of the page, white space made single.
    """

    __slots__ = (
        "_flat", "_kept", "_known", "_likely", "_pairs", "_sure", "_whole", "text", "title"
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
        pairs: list[int] | None = None,
        sure: NDArray[np.bool_] | None = None,
    ) -> None:
        self.text = text
        self._whole = whole
        self.title = title
        self._flat = flat
        self._kept = kept
        self._likely = likely
        self._known = known
        self._pairs = pairs
        self._sure = sure

    def __repr__(self) -> str:
        return f"MainText(title={self.title!r}, text={self.text[:60]!r}…)"

    @property
    def whole(self) -> str:
        """The main text as it is without what is known of the site's template.

        So it stays the same while that is being learnt.
        """
        return self.text if self._whole is None else self._whole

    def hashes(self) -> list[tuple[int, bool]]:
        """Return a hash of every two neighbouring blocks, and whether they are surely content.

        This is what `SiteTemplate.observe` learns from.  Sure is long running text that the page
        alone would keep: it may come back in a print view or on page two without being chrome.
        """
        if self._sure is None:
            self._sure = _sure(self._flat, self._kept)
        sure = self._sure
        if self._pairs is None:
            self._pairs = pair_hashes(self._flat.texts)
        return list(zip(self._pairs, (sure[:-1] | sure[1:]).tolist(), strict=True))

    @property
    def blocks(self) -> list[Block]:
        """All blocks in reading order with what became of them."""
        return [self._block(i) for i in range(len(self._flat.texts))]

    def cut(self, limit: int) -> list[Block]:
        """The first blocks that were left out, up to `limit`, in reading order."""
        return [self._block(i) for i in np.flatnonzero(~self._kept)[:limit].tolist()]

    def _block(self, i: int) -> Block:
        flat, known = self._flat, self._known
        text, signs = flat.texts[i], int(flat.signs[flat.around[i]])
        kept = bool(self._kept[i])
        density = 1 - int(flat.linked[i]) / max(len(text), 1)
        templated = known is not None and bool(known[i])
        reason = _reason(signs, density, kept, templated)
        return Block(text, kept, reason, round(density, 3), float(self._likely[i]))


def _sure(flat: Flat, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of the kept blocks are surely content: long running text."""
    chars = lengths(flat.texts)
    sure: NDArray[np.bool_] = kept & (chars >= PROSE) & (flat.linked * 3 < chars)
    return sure


_SAID: Final = (
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


def _reason(signs: int, density: float, kept: bool, templated: bool) -> str:
    if templated:
        return "template"
    if kept:
        return "main text" if density > 0.5 else "links in main text"
    for sign, reason in _SAID:
        if signs & BIT[sign]:
            return reason
    return "links" if density < 0.5 else "outside main text"


def block_hash(text: str) -> int:
    """Return a stable 64-bit hash of a block; case and digits do not count.

    >>> block_hash("Seen 1,204 times") == block_hash("seen 9,317 times")
    True
    """
    return xxhash.xxh3_64_intdigest(_fold(text))


def _fold(text: str) -> bytes:
    return text.lower().encode("utf-8", "replace").translate(_DIGITS)


def pair_hashes(texts: list[str]) -> list[int]:
    """Return a 32-bit hash for every two neighbouring blocks.

    Chrome comes back with its neighbours; "Parameters:" comes back on many pages of a manual,
    but between other texts on each.
    """
    # All blocks folded at once, for most are short: no page has zero bytes in its text.
    folded = _fold("\0".join(texts)).split(b"\0")
    hashes = np.fromiter(map(xxhash.xxh3_64_intdigest, folded), np.uint64, len(folded))
    pairs: list[int] = ((hashes[:-1] * 3 + hashes[1:]) >> 16).astype(np.uint32).tolist()
    return pairs


def _known(
    pairs: list[int], sure: NDArray[np.bool_], template: AbstractSet[int]
) -> NDArray[np.bool_]:
    """Return which blocks stand in a pair of the template; sure ones in one of running text.

    Somebody may repeat another's paragraphs where they count as chrome, in a menu of theirs.
    """
    known, long = np.zeros(len(sure), bool), np.zeros(len(sure), bool)
    for i, pair in enumerate(pairs):
        if pair in template:
            known[i : i + 2] = True
    for i in np.flatnonzero(sure[:-1] | sure[1:]).tolist():
        if pairs[i] | LONG in template:
            long[i : i + 2] = True
    both: NDArray[np.bool_] = np.where(sure, long, known)
    return both


def between(settled: Wide, kept: NDArray[np.bool_], known: NDArray[np.bool_], sizes: Wide) -> Wide:
    """Return the likelihoods of a page's blocks, those of its template 0.

    What stands between two blocks of the template belongs together: if most of it would be kept,
    the rest is likelier to be main text, too.
    """
    gap, new = np.cumsum(known), np.where(known, 0, sizes)
    share = np.bincount(gap, new * kept) / np.maximum(np.bincount(gap, new), 1)
    odds = settled / (1 - settled) * np.where(share >= _MOSTLY, np.exp(_BONUS), 1)[gap]
    judged: Wide = np.where(known, 0, odds / (1 + odds))
    return judged


def join(texts: list[str], kept: NDArray[np.bool_]) -> str:
    """Return the blocks that are kept, a line for each."""
    return "\n".join(compress(texts, kept.tolist()))


def siblings(flat: Flat) -> Ints:
    """Return for each block the first of its group: siblings of one tag and class."""
    kinds = flat.kinds[flat.around]
    return first_equal(flat.within * (kinds.max() + 1) + kinds)


def settle(likely: Floats, flat: Flat) -> Wide:
    """Return what to make of the likelihoods of a page's blocks, all of them seen together.

    Siblings of one tag and class share their likelihood, so that no threshold runs through the
    middle of a list.  Blocks are right or wrong together, which `choose` does not know; so all
    are drawn towards the middle, and a little down.
    """
    # `np.clip` would take as long as all the rest for a page's few numbers.
    right = np.minimum(np.maximum(likely, _TINY), 1 - _TINY)
    wrong = np.minimum(np.maximum(1 - likely, _TINY), 1)
    odds = np.log(right / wrong)
    kin = siblings(flat)
    shared = (np.bincount(kin, odds) / np.maximum(np.bincount(kin), 1))[kin]
    settled: Wide = 1 / (1 + np.exp(_CAUTION - _TRUST * shared))
    return settled


def choose(likely: Wide, texts: list[str]) -> NDArray[np.bool_]:
    """Return which blocks to keep so that the expected F1 of the page's text is highest.

    Keeping the blocks above a threshold is optimal; the threshold depends on how much the page
    has that is likely: a page of links alone keeps its links.  (Lewis 1995, Jansche 2007.)
    """
    sizes = lengths(texts) + 1
    order = np.argsort(-likely, kind="stable")
    taken = np.cumsum(sizes[order])
    right = np.cumsum((sizes * likely)[order])
    best = int(np.argmax(right / (taken + right[-1])))
    kept: NDArray[np.bool_] = likely >= likely[order[best]]
    return kept


def strip_chrome(
    html: str | bytes | Document | Any,
    *,
    url: str | None = None,
    content_type: str | None = None,
    template: AbstractSet[int] | None = None,
) -> MainText:
    """Return the main text of a page: what is left without navigation, banners, footers.

    `html` may be text, bytes (then `content_type`, the HTTP header, helps to decode them), a
    `Document` or an lxml tree that is parsed already.  `url` is that of the page; nothing is
    decided by it.  `template` is what `SiteTemplate.known` has learnt of this site.  Never raises
    for what stands in the page; a page without text has an empty one.

    >>> menu = "<nav><ul><li><a href=/>Home</a><li><a href=/shop>Shop</a></ul></nav>"
    >>> page = f"{menu}<main><h1>Tea</h1><p>An aromatic drink, and much loved.</p></main>"
    >>> print(strip_chrome(page).text)
    Tea
    An aromatic drink, and much loved.
    """
    if isinstance(html, (str, bytes)):
        document = parse(html, url=url, content_type=content_type)
    elif isinstance(html, Document):
        document = html
    else:
        document = read_tree(html, url)
    title = title_of(document)
    flat = document.flat
    texts = flat.texts
    n = len(texts)
    if not n:
        empty = np.zeros(0, np.float32)
        return MainText("", title, flat, empty.astype(bool), empty)
    fitted = model.load()
    likely = fitted.probabilities(describe(flat, title, fitted.names))
    if n > LIMIT:
        rest = 1 - flat.linked[LIMIT:] / lengths(texts[LIMIT:])
        likely = np.concatenate((likely, rest), dtype=np.float32)
    settled = settle(likely, flat)
    kept = choose(settled, texts)
    known = whole = pairs = sure = None
    if template:
        pairs, sure = pair_hashes(texts), _sure(flat, kept)
        known = _known(pairs, sure, template)
        long, sizes = known & sure, lengths(texts)
        if sizes[long].sum() > _MOST_LONG * sizes[kept].sum():  # another version of a page
            known &= ~sure
        left = choose(between(settled, kept, known, sizes), texts) & ~known
        if left.any():
            kept, whole = left, join(texts, kept)
        else:  # a page must not end up empty because its site repeats it
            known[:] = False
    return MainText(join(texts, kept), title, flat, kept, likely, known, whole, pairs, sure)
