"""The public function: a page in, its main text out."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .judge import model
from .judge.doubts import find_doubtful, find_members, find_text_places
from .judge.features import TITLED, describe_blocks, text_lengths
from .judge.selection import (
    CHROME,
    DOUBTED,
    below_heading,
    choose_blocks,
    doubt_hidden,
    doubt_menus,
    group_kinds,
    keep_cells,
    keep_contents,
    of_both,
    raise_inside,
    settle_probabilities,
)
from .main_text import MainText
from .page.blocks import JUDGED, LIMIT, TAG_CODES, Flat, Floats, leave_out_blocks
from .page.document import Document, parse, read_tree
from .page.document import title as title_of
from .page.json_ld import in_body, with_body
from .template.pairs import LEAST_OWN, find_templated, find_ways, is_shared, pair_hashes
from .template.teasers import find_teasers

_DENSITY: Final = 0.1, 0.9  # bounds of the likelihood that the density of a later block gives it
# Share of the text kept without the template, and not in it, that has to stay. With less, pages
# that differ in a list may seem alike, and a page unlike itself before the template was known.
_LEAST_OWN: Final = 0.9
_LIKELY: Final = 0.5  # of blocks that were cut without the template
_LEAST_LIKELY: Final = 0.2  # the same, if all other blocks are the site's
# Share of a text that was found only with the template. With more, the text without it may be a
# note of the site, and two pages with the same note are no copies.
_ADDED: Final = 0.1
_TITLE_READ: Final = 1000  # characters of the title that are searched for short blocks


def strip_chrome(
    html: str | bytes | Document | Any,
    *,
    url: str | None = None,
    content_type: str | None = None,
    template: AbstractSet[int] | None = None,
) -> MainText:
    """Return the main text of a page, without navigation, banners and footers.

    Parameters
    ----------
    html
        The page: text, bytes, a :class:`Document`, or a tree of lxml or Beautiful Soup.
    url
        The page's URL. It has no effect on the text.
    content_type
        The value of the HTTP header ``Content-Type``. It helps to decode bytes.
    template
        What :meth:`SiteTemplate.known` has learnt about the site: hashes of pairs of blocks.

    Returns
    -------
    MainText
        Its text is empty if the page has none.

    Raises
    ------
    TypeError
        *html* has another type. Nothing that a page contains raises an error.

    Examples
    --------
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
    if not flat.texts:
        empty = np.zeros(0, np.float32)
        return MainText("", title, flat, empty.astype(bool), empty)
    said = in_body(flat, document.head.data)
    likely, kept = _judge_blocks(flat, title, said)
    if not template:  # a site may have none, which is known after some pages
        learnt = getattr(template, "learnt", 0)
        return MainText(_join_texts(flat, kept), title, flat, kept, likely, learnt=learnt)
    return _cut_template(flat, title, said, likely, kept, template)


def _cut_template(
    flat: Flat,
    title: str,
    said: NDArray[np.bool_],
    likely: Floats,
    alone: NDArray[np.bool_],
    template: AbstractSet[int],
) -> MainText:
    """Return the main text without what its site repeats; `alone` is kept without the template."""
    pairs, kept, sizes = pair_hashes(flat.texts), alone, text_lengths(flat.texts)
    of, signs = find_ways(pairs, kept, template), flat.signs_of_blocks
    signs = signs & ~np.bitwise_and.reduce(signs)  # of a page's <body>, such as "aside-menu-fixed"
    heading = (flat.codes[flat.around] == TAG_CODES["h1"]) & (signs & CHROME == 0)
    plain, inner = find_text_places(flat, sizes)
    known, whole = find_templated(of, kept, flat.linked, sizes, heading, plain), None
    shared, learnt = is_shared(of), getattr(template, "learnt", 0)
    if known is not None and known.any():
        more = known | find_teasers(flat, known, sizes)
        if sizes[kept & ~more].sum() > LEAST_OWN * sizes[kept].sum():
            known = more
        whole = _join_texts(flat, kept)
        kept = kept & ~known
        if len(flat.texts) <= LIMIT:
            rest = np.flatnonzero(~known)
            likely[rest], kept[rest] = _judge_rest(flat, known, title, said, likely, kept)
    only_shared = not (kept & ~shared).any()  # what is kept is the site's
    if only_shared and (known is not None or kept.any()):
        other = plain & ~(shared if known is None else known) & (signs & CHROME == 0)
        alike = group_kinds(flat)  # so that no threshold cuts through a list
        is_likely = np.isin(alike, alike[other & (likely >= _LEAST_LIKELY)])
        # Labels and buttons are no likely text, but where a page says that its text is they are.
        other &= is_likely if (other & ~shared & is_likely).any() else inner
        whole, kept = _join_texts(flat, alone), kept | other
    if not kept.any():  # nothing but the template is text
        known, whole, kept = None, None, alone
    elif sizes[kept & ~alone].sum() > _ADDED * sizes[kept].sum():
        whole = _join_texts(flat, kept | alone)
    return MainText(
        _join_texts(flat, kept),
        title, flat, kept, likely, known, whole, pairs, alone, shared, learnt, template,
    )  # fmt: skip


def _judge_blocks(
    flat: Flat, title: str, said: NDArray[np.bool_], alone: Floats | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return how likely each block is main text, and which of them are kept.

    `said` are those that the page's JSON-LD has as well.  If this is a page without its template,
    `alone` has the likelihoods of these blocks in the whole page.

    All text that was not parsed is one block.  Beside it the paragraphs of the same text look like
    notes, so it is kept, and they are judged without it, unless they are mostly links: such a menu
    alone would be a listing.
    """
    n, sizes = len(flat.texts), text_lengths(flat.texts)
    if flat.has_rest and 2 * flat.linked[:-1].sum() < sizes[:-1].sum():
        alone = None if alone is None else alone[:-1]
        parsed = leave_out_blocks(flat, np.arange(n) == n - 1)
        likely, kept = _judge_blocks(parsed, title, said[:-1], alone)
        return np.append(likely, np.float32(_DENSITY[1])), np.append(kept, True)
    fitted = model.load_model()
    features = describe_blocks(flat, title[:_TITLE_READ], fitted.names)
    likely, titled = fitted.probabilities(features), features[:, TITLED] > 0
    if n > JUDGED:
        rest = np.clip(1 - flat.linked[JUDGED:] / sizes[JUDGED:], *_DENSITY)
        likely = np.concatenate((likely, rest), dtype=np.float32)
        titled = np.append(titled, np.zeros(n - JUDGED, bool))
    likely = with_body(doubt_menus(likely, flat, sizes), said)
    if alone is not None:
        likely = of_both(likely, alone)
    settled = doubt_hidden(settle_probabilities(likely, flat, sizes), flat, sizes)
    settled = np.where(find_doubtful(flat, title, sizes), np.minimum(settled, DOUBTED), settled)
    likely[JUDGED:] = settled[JUDGED:]  # as similar blocks have
    judged = raise_inside(settled, choose_blocks(settled, sizes), flat, sizes)
    kept = keep_cells(keep_contents(choose_blocks(judged, sizes), judged, flat, sizes), flat)
    return likely, below_heading(kept, judged, flat, sizes, titled)


def _judge_rest(
    flat: Flat,
    known: NDArray[np.bool_],
    title: str,
    said: NDArray[np.bool_],
    alone: Floats,
    kept: NDArray[np.bool_],
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return likelihoods and kept blocks of the rest, as if the page had no template.

    `alone` and `kept` are the results for the whole page.
    """
    rest = leave_out_blocks(flat, known)
    sizes, own = text_lengths(rest.texts), kept[~known]
    likely, chosen = _judge_blocks(rest, title, said[~known], alone[~known])
    # Teasers of other pages, which change from visit to visit, look more like text here.
    is_chrome = (rest.signs_of_blocks & CHROME) > 0
    # What is inherited stands below a heading that the site may have on all pages.
    members = find_members(flat)[~known]
    chosen &= own | ((likely >= _LIKELY) & ~is_chrome & ~members)
    if sizes[own & chosen].sum() < _LEAST_OWN * sizes[own].sum():
        chosen |= own
    return likely, chosen


def _join_texts(flat: Flat, kept: NDArray[np.bool_]) -> str:
    """Return the blocks that are kept, a line for each, or several where it has breaks."""
    if not flat.lines:
        return "\n".join(compress(flat.texts, kept.tolist()))
    numbers = np.flatnonzero(kept).tolist()
    return "\n".join(flat.lines.get(number, flat.texts[number]) for number in numbers)
