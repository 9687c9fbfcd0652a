"""Selection of the main text from the likelihoods of blocks."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import JUDGED, LIMIT, TAG_CODES, TAGS, Flat, Floats, Ints, Wide
from ..page.signs import BIT
from .features import count_words, first_equal

HELD: Final = 0.9  # share of the kept text that the main container holds
INSIDE: Final = 1.0  # added to log-odds inside it
OUTSIDE: Final = 0.25  # of a page's blocks; a container with fewer outside it weighs less
ALIKE: Final = 2 / 3  # share of a block's log-odds that is the mean of its kind
LATER: Final = 1e-9  # weight of a block beyond the judged ones, relative to a judged one
SHORT: Final = 5  # characters that each block counts for besides its own
LONG: Final = 200  # characters: longer blocks tell no more
WORLDS: Final = (-4.0, -1.0, 2.0)  # possible errors of a page's log-odds, equally likely
SURER: Final = 1.5  # factor of log-odds if the error were known
TINY: Final = 1e-6
REST: Final = 2 / 3  # share of a block's log-odds that comes from the page without its template
THIN: Final = 150  # words: no more may be a note that stands on all pages of a site
BESIDE: Final = 0.2  # of those words: so few beside a single block, which may be such a note, too
ABOVE: Final = 0.05  # least likelihood between its heading and that; menus have less
AMONG: Final = 0.5  # the same among the blocks that such a page keeps
AFTER: Final = 0.3  # the same behind them
LONG_MENU: Final = 1000  # links: of such a menu they are hardly main text
LABEL: Final = 7  # words, at most
MENU: Final = 10  # the same of a menu in a header
# Signs of blocks that are not kept along with a short text.
_NEVER: Final = sum(BIT[sign] for sign in ("hidden", "nav", "footer", "c_footer", "c_consent"))
CHROME: Final = _NEVER | BIT["c_menu"] | BIT["c_related"]  # facts may have the latter signs, too
_HEAD, _CELL = TAG_CODES["th"], TAG_CODES["td"]
_CELLS: Final = np.isin(TAGS, ("th", "td"))
HIDDEN: Final = 0.2  # of the text that is likely and seen
DOUBTED: Final = 0.01  # likelihood, at most
LISTED: Final = 0.3  # the same at least, of a table of contents beside less text
_MARKED: Final = CHROME | sum(
    BIT[sign]
    for sign in (
        "header", "c_header", "aside", "c_sidebar", "form", "c_crumbs", "c_share", "c_comment",
        "c_ad", "c_signup",
    )
)  # fmt: skip


def group_siblings(flat: Flat) -> Ints:
    """Return for each block the first of its group: siblings of one tag and class.

    A label in a table is a sibling of the cell that it names. Blocks that are alone in an element
    between, such as the line of a banner, are not siblings.
    """
    kinds, above = group_labels(flat)[flat.kinds[flat.around]], flat.kinds[flat.outer[flat.around]]
    many = flat.kinds.max() + 1
    return first_equal((flat.within * many + kinds) * many + above)


def group_labels(flat: Flat) -> Ints:
    """Return for each kind its sibling kind: `th` and `td` of one class are one.

    Otherwise a table might keep only its labels, which are the same on all pages.
    """
    found = np.arange(len(flat.names))
    is_cell = np.zeros(len(found), bool)
    is_cell[flat.kinds] = _CELLS[flat.codes]
    firsts: dict[str, int] = {}
    for kind in np.flatnonzero(is_cell).tolist():
        found[kind] = firsts.setdefault(flat.names[kind], kind)
    return found


def group_kinds(flat: Flat) -> Ints:
    """Return for each block the first of its group: those in elements of one tag and class.

    The two elements around them must be of one tag and class, too, as for the paragraphs of all
    comments.
    """
    of_kind, above = flat.kinds, flat.outer[flat.around]
    many = of_kind.max() + 1
    return first_equal(
        (of_kind[flat.around] * many + of_kind[above]) * many + of_kind[flat.outer[above]]
    )


def doubt_menus(likely: Floats, flat: Flat, sizes: Wide) -> Floats:
    """Return the likelihoods, lowered for the links of a site's menu, or all of a very long one.

    The model has seen too few such menus: beside a page's single line it takes them for a listing.
    Shorter ones elsewhere may be one, such as a table of contents or a list of products, and text
    beside them may be there because of an unclosed tag.
    """
    signs = flat.signs_of_blocks
    menu = (signs & BIT["nav"]) > 0
    is_long = flat.links[menu].sum() >= LONG_MENU
    if not is_long:
        menu &= (signs & BIT["header"]) > 0
        other = likely * sizes * (2 * flat.linked < sizes)
        # A header with more text than the rest of the page was not closed.
        if flat.links[menu].sum() < MENU or other[menu].sum() > other[~menu].sum():
            return likely
    if menu.all():
        return likely
    linked = menu & (2 * flat.linked >= sizes)
    if is_long:  # what opens a group of links is no text either
        linked[1:-1] |= (menu & (flat.words <= LABEL))[1:-1] & linked[:-2] & linked[2:]
    return np.where(linked, np.minimum(likely, np.float32(DOUBTED)), likely)


def settle_probabilities(likely: Floats, flat: Flat, sizes: Wide) -> Wide:
    """Return the likelihoods of a page's blocks, all of them considered together.

    Similar blocks share their log-odds in part, weighted by length; `sizes` are their characters.
    Blocks after the first `JUDGED` take them from similar ones. Siblings share them completely, so
    no threshold cuts through a list.
    """
    odds, is_later = _log_odds(likely), np.arange(len(likely)) >= JUDGED
    weights = np.sqrt(np.minimum(sizes + SHORT, LONG)) * np.where(is_later, LATER, 1)
    shared = _group_means(odds, group_kinds(flat), weights)
    odds += np.where(is_later, 1, ALIKE) * (shared - odds)
    settled: Wide = 1 / (1 + np.exp(-_group_means(odds, group_siblings(flat), np.ones(len(odds)))))
    return settled


def of_both(rest: Floats, alone: Floats) -> Floats:
    """Return the likelihoods of blocks, combined from the page with and without its template."""
    odds = REST * _log_odds(rest) + (1 - REST) * _log_odds(alone)
    return (1 / (1 + np.exp(-odds))).astype(np.float32)


def _log_odds(likely: Floats) -> Wide:
    exact = likely.astype(np.float64)
    # `np.clip` would take as long as all the rest for a page's few numbers.
    right = np.minimum(np.maximum(exact, TINY), 1 - TINY)
    odds: Wide = np.log(right / np.minimum(np.maximum(1 - exact, TINY), 1))
    return odds


def doubt_hidden(settled: Wide, flat: Flat, sizes: Wide) -> Wide:
    """Return the likelihoods, lowered for a little hidden text beside visible text.

    If much is hidden, a script may show it, such as panels of tabs or the rest of a long text, but
    not outside the element that is said to hold the main text, if more of that is visible.
    """
    hidden = (flat.signs_of_blocks & BIT["hidden"]) > 0
    if not hidden.any():
        return settled
    expected = settled * sizes
    if expected[hidden].sum() > HIDDEN * expected[~hidden].sum():
        inner = (flat.signs_of_blocks & (BIT["main"] | BIT["article"])) > 0
        hidden &= ~inner
        if expected[hidden].sum() > expected[inner & ~hidden].sum():
            return settled
    return np.where(hidden, np.minimum(settled, DOUBTED), settled)


def _group_means(values: Wide, groups: Ints, weights: Wide) -> Wide:
    """Return for each value the mean of its group."""
    counts = np.bincount(groups, weights)
    mean: Wide = np.bincount(groups, values * weights)[groups] / counts[groups]
    return mean


def choose_blocks(likely: Wide, sizes: Wide) -> NDArray[np.bool_]:
    """Return which blocks to keep, so that the expected F1 of the page's text is highest.

    `sizes` are the blocks' characters. Keeping the blocks above a threshold is optimal (Lewis 1995,
    Jansche 2007). The threshold depends on how much likely text the page has: a page of links keeps
    its links. But that assumes independent blocks, and blocks depend on each other: of comments
    below an article all are main text, or none. So F1 is the mean for likelihoods that are much
    lower, lower and higher, and surer in each case. Otherwise the expectation for a page of a few
    lines would mostly come from the many links of its menu, each of them hardly likely. Nor is a
    block partly right: for a block longer than all others together, such as thousands of words for
    search engines, F1 is the mean of both cases.
    """
    sizes = sizes + 1
    order = np.argsort(-likely, kind="stable")
    size, ranked = sizes[order], likely[order]
    taken = np.cumsum(size)
    longest = int(np.argmax(size))
    split = 2 * size[longest] > taken[-1]
    expected = np.zeros(len(size))
    wrong, right = (1 - ranked) ** SURER, ranked**SURER
    for odds in np.exp(np.multiply(WORLDS, SURER)):
        chances = right * odds / (wrong + right * odds)
        chance = chances[longest]
        for sure, weight in ((1.0, chance), (0.0, 1 - chance)) if split else ((chance, 1.0),):
            chances[longest] = sure
            gained = np.cumsum(size * chances)
            expected += weight * gained / (taken + gained[-1])
    last = np.append(ranked[:-1] > ranked[1:], True)  # equally likely blocks stay together
    kept: NDArray[np.bool_] = likely >= ranked[int(np.argmax(np.where(last, expected, -1)))]
    return kept


def raise_inside(settled: Wide, kept: NDArray[np.bool_], flat: Flat, sizes: Wide) -> Wide:
    """Return the likelihoods of a page's blocks, raised inside its main container.

    That is the smallest container of nearly everything that would be kept. A line there, such as a
    fact about a product, is more likely main text than the same line elsewhere. The effect is
    weaker the more of the page the container holds: a wrapper around everything means nothing.
    """
    many = len(settled)
    # What follows in a very long page is no other part of it.
    ends = np.where(flat.ends < flat.ends[0], flat.ends, many)
    before = np.concatenate(([0], np.cumsum(sizes * kept)))
    held = before[ends] - before[flat.firsts] >= HELD * before[-1]
    main = int(np.argmin(np.where(held, ends - flat.firsts, many)))
    first, end = flat.firsts[main], ends[main]
    outside = 1 - (end - first) / many
    if not outside:
        return settled
    judged = settled.copy()
    odds = settled[first:end] / (1 - settled[first:end])
    odds *= np.exp(INSIDE * min(outside / OUTSIDE, 1))
    judged[first:end] = odds / (1 + odds)
    return judged


def keep_contents(
    kept: NDArray[np.bool_], judged: Wide, flat: Flat, sizes: Wide
) -> NDArray[np.bool_]:
    """Return which blocks to keep; also others, if more text is expected in these.

    The title page of a manual has a notice on its licence, which is as likely main text as any
    prose, and a table of contents. That may be a menu, so F1 is expected to be highest without it.
    But then a manual's title page is a copy of that of each manual with this notice.
    """
    other = ~kept & (judged >= LISTED) & ((flat.signs_of_blocks & _MARKED) == 0)
    return kept | other if (judged * sizes)[other].sum() > sizes[kept].sum() else kept


def below_heading(
    kept: NDArray[np.bool_],
    judged: Wide,
    flat: Flat,
    sizes: Wide,
    titled: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return which blocks to keep; if a page keeps little, also what follows its heading.

    Beside a note that is on all pages of a site, the few facts about a person, a place or a match
    look like a menu, and all these pages would be copies of each other. So the blocks from the
    heading to the first kept block are kept, unless they are links, and likely blocks among and
    after them, within the smallest common container. `titled` says which blocks the page's title
    repeats.
    """
    words = count_words(flat.words, sizes)[kept]
    if words.sum() > THIN and words.sum() - words.max() > BESIDE * words.sum():
        return kept
    signs = flat.signs_of_blocks
    plain = (2 * flat.linked < sizes) & ((signs & _NEVER) == 0)
    likelier = plain & ((signs & CHROME) == 0)
    first, behind = int(np.argmax(kept)), len(kept) - int(np.argmax(kept[::-1]))
    heading = titled | (flat.codes[flat.around] == TAG_CODES["h1"])
    heading &= (signs & BIT["nav"]) == 0
    start = int(np.flatnonzero(heading[: first + 1]).max(initial=-1))
    found: NDArray[np.bool_] = kept.copy()
    found[first:behind] |= (likelier & (judged >= AMONG))[first:behind]
    if start >= 0:
        found[start:first] = (plain & (judged >= ABOVE))[start:first]
        found[start] |= not signs[start] & BIT["hidden"]
        # What follows in a very long page is no other part of it.
        ends = np.where(flat.ends < flat.ends[0], flat.ends, len(kept))
        holds = (flat.firsts <= start) & (ends >= behind)
        end = int(ends[holds].min())
        found[behind:end] |= (likelier & (judged >= AFTER))[behind:end]
    return found


def keep_cells(kept: NDArray[np.bool_], flat: Flat) -> NDArray[np.bool_]:
    """Return which blocks to keep; of a table whose heads alone would be, also the cells.

    The heads of columns are the same on all pages of a site, so its lists of other items would be
    copies of each other. A single head may be the title of a page whose layout is a table.
    """
    around = flat.around[:LIMIT]
    codes = flat.codes[[around, flat.outer[around]]]  # the text of a cell may be in a <div>
    is_cell, heads = (codes == _CELL).any(0), (codes == _HEAD).any(0) & kept[:LIMIT]
    found, end = kept.copy(), 0
    for at in np.flatnonzero(heads).tolist():
        if at < end:
            continue
        table = int(flat.within[at])
        while table and not is_cell[at : flat.ends[table]].any():
            table = int(flat.parents[table])
        end = int(flat.ends[table])
        below = slice(at, end)
        if table and heads[below].sum() > 1 and not (kept[below] & ~heads[below]).any():
            found[below] |= is_cell[below] & (flat.signs_of_blocks[below] & CHROME == 0)
    return found


with suppress(ImportError):  # compiled, they do the same in less time
    from ._selection import choose_blocks, raise_inside, settle_probabilities  # noqa: F401
