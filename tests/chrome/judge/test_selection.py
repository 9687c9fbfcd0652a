"""Which blocks are kept: the best ones, and compiled the same as by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.chrome.judge import features, selection
from crawler.chrome.page import document
from crawler.chrome.page.blocks import JUDGED, LIMIT
from crawler.chrome.page.reader import COMPILED
from tests.chrome.hostile import SOUP
from tests.support.pure import load_pure

WAYS: dict[str, Any] = {"numpy": load_pure(selection.__name__)}
if COMPILED:
    WAYS["compiled"] = selection

CHANCES = st.lists(
    st.tuples(st.floats(0, 1, width=32), st.integers(1, 10_000), st.booleans(), st.integers(0, 3)),
    min_size=1,
    max_size=30,
)


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Any:
    return WAYS[request.param]


def expected_f1(kept: np.ndarray, likely: np.ndarray, sizes: np.ndarray) -> float:
    """What F1 of the kept characters amounts to on average, in worlds of lower and higher odds.

    And in each where the longest block is right, and where it is wrong, if it outweighs the others.
    """
    found = []
    longest = min(np.flatnonzero(sizes == sizes.max()), key=lambda i: -likely[i])
    for shift in selection.WORLDS:
        certain = np.minimum(likely, 1 - 1e-12)
        log_odds = selection.SURER * (np.log(certain / (1 - certain)) + shift)
        chances = 1 / (1 + np.exp(-log_odds))
        chance = chances[longest]
        cases = [(chance, 1.0)]
        if 2 * sizes[longest] > sizes.sum():
            cases = [(1.0, chance), (0.0, 1 - chance)]
        for chances[longest], weight in cases:
            wanted = sizes * chances
            found.append(weight * 2 * wanted[kept].sum() / (sizes[kept].sum() + wanted.sum()))
    return sum(found) / len(selection.WORLDS)


@settings(deadline=None)
@given(rows=CHANCES)
@example(rows=[(1 / 8, 1, False, 0), (7 / 128, 7, False, 0), (7 / 128, 10, False, 0)])
def test_no_other_threshold_is_better(rows: list[tuple[float, int, bool, int]]) -> None:
    """Blocks above a threshold are kept, at least one, and the expected F1 is the highest."""
    likely = np.array([max(row[0], 1e-6) for row in rows], np.float64)
    sizes = np.array([row[1] for row in rows], np.float64)
    for one in WAYS.values():
        kept = one.choose_blocks(likely, sizes)
        assert kept.dtype == bool
        assert kept.any()
        assert likely[kept].min() > max(likely[~kept], default=-1)
        best = max(expected_f1(likely >= least, likely, sizes + 1) for least in set(likely))
        assert expected_f1(kept, likely, sizes + 1) == pytest.approx(best)


def test_blocks_in_doubt_are_kept_or_cut_together(way: Any) -> None:
    """Many comments that may be main text bury no article; a page of nothing else keeps them."""
    likely = np.array([0.99] * 2 + [0.3] * 20)
    sizes = np.full(22, 400.0)
    assert way.choose_blocks(likely, sizes).tolist() == [True] * 2 + [False] * 20
    assert way.choose_blocks(likely[2:], sizes[2:]).all()
    alone = sizes * likely  # if each were right or wrong by itself, all would be best
    assert 2 * alone.sum() / (sizes + alone).sum() > 2 * alone[:2].sum() / (800 + alone.sum())


def test_no_block_is_right_in_part(way: Any) -> None:
    """Words for search engines bury no article, however many; a long text beside a menu stays."""
    likely = np.array([0.95] * 10 + [0.13])
    sizes = np.array([200.0] * 10 + [170_000.0])
    assert way.choose_blocks(likely, sizes).tolist() == [True] * 10 + [False]
    likely[:10] = 0.02
    assert way.choose_blocks(likely, sizes).tolist() == [False] * 10 + [True]


def test_a_menu_does_not_come_with_a_few_lines(way: Any) -> None:
    """Hundreds of links, each hardly likely, are not kept for what they come to together."""
    likely = np.array([0.8] + [0.1] * 400)
    sizes = np.array([120.0] + [20.0] * 400)
    assert way.choose_blocks(likely, sizes).tolist() == [True] + [False] * 400


@settings(deadline=None)
@given(html=SOUP, random=st.randoms(use_true_random=False))
def test_siblings_are_settled_together(html: str, random: Any) -> None:
    """Siblings of one tag and class get one likelihood, whoever computes it."""
    flat = document.parse(f"<p>a<ul><li>b<li>c</ul>{html}").flat
    likely = np.array([random.random() for _ in flat.texts], np.float32)
    likely[:2] = 0, 1
    sizes = features.text_lengths(flat.texts)
    wanted = selection.settle_probabilities(likely, flat, sizes)
    kin = selection.group_siblings(flat)
    for one in WAYS.values():
        settled = one.settle_probabilities(likely, flat, sizes)
        np.testing.assert_allclose(settled, wanted, rtol=1e-4)
        assert np.array_equal(settled, settled[kin])


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><th>Weight<td>600 g<tr><th>Colour<td>grey</table>",
        "<table><tr><th class=cell>Weight<td class=cell>600 g<tr><th>Colour<td>grey</table>",
    ],
)
def test_a_label_is_not_kept_without_what_it_names(way: Any, html: str) -> None:
    """Labels are the same on all pages of a shop; what stands beside them tells these apart."""
    flat = document.parse(f"{html}<hr>").flat
    likely = np.array([0.9, 0.4, 0.2, 0.1], np.float32)
    settled = way.settle_probabilities(likely, flat, np.full(4, 6.0))
    assert settled[0] == settled[1] > settled[2] == settled[3]
    apart = "<table><tr><th class=menu>Tea<td class=text>A drink</table>"
    flat = document.parse(apart).flat
    settled = way.settle_probabilities(np.array([0.1, 0.9], np.float32), flat, np.full(2, 6.0))
    assert settled == pytest.approx([0.1, 0.9])


def test_blocks_alike_are_settled_together_in_part(way: Any) -> None:
    """A comment that is like main text is drawn to the other comments, wherever they stand."""
    comment = "<div class=comment><p>a<p>b</div>"
    flat = document.parse(f"<main><p>a<p>b</main>{comment}<hr>{comment}{comment}").flat
    likely = np.array([0.9, 0.9, 0.8, 0.8, *[0.1] * 4], np.float32)
    settled = way.settle_probabilities(likely, flat, np.full(8, 300.0))
    assert settled[:2] == pytest.approx(0.9)
    odds = np.log(np.array([0.8, 0.1]) / [0.2, 0.9])
    shared = (odds[0] + 2 * odds[1]) / 3
    wanted = 1 / (1 + np.exp(-(odds / 3 + shared * 2 / 3)))
    assert settled[2:] == pytest.approx([wanted[0]] * 2 + [wanted[1]] * 4, rel=1e-5)


def test_far_down_a_long_page_blocks_are_like_the_first_of_their_kind(way: Any) -> None:
    """A post that comes too late to be judged is as likely as posts are, a line of its own not."""
    posts = f"<main>{'<p class=post>a' * JUDGED}</main>"
    later = "<main><p class=post>a<p class=other>b</main>"
    flat = document.parse(posts + "<hr>" + later).flat
    likely = np.append(np.full(JUDGED, 0.9), [0.2, 0.2]).astype(np.float32)
    settled = way.settle_probabilities(likely, flat, np.full(JUDGED + 2, 300.0))
    assert settled[JUDGED:] == pytest.approx([0.9, 0.2], rel=1e-4)


def test_lines_inside_the_main_container_get_likelier(way: Any) -> None:
    """Where nearly all that is kept stands; the same lines beside it are as they were."""
    facts = "<dl><dt>Weight<dd>2 kg</dl>"
    flat = document.parse(f"<nav>{facts}</nav><main><h1>Tea</h1><p>A drink.</p>{facts}</main>").flat
    settled, sizes = np.full(6, 0.3), np.array([6, 4, 30, 900, 6, 4.0])
    kept = np.array([False, False, True, True, False, False])
    likelier = 1 / (1 + 0.7 / 0.3 * np.exp(-selection.INSIDE))
    judged = way.raise_inside(settled, kept, flat, sizes)
    assert judged == pytest.approx([0.3] * 2 + [likelier] * 4)
    kept[0] = True  # six characters of 936
    assert way.raise_inside(settled, kept, flat, sizes) == pytest.approx(judged)
    sizes[0] = 200  # of 1,130: no container but the page holds enough
    assert way.raise_inside(settled, kept, flat, sizes) is settled


def test_a_wrapper_around_nearly_all_says_nothing(way: Any) -> None:
    """A line outside of it changes little: a menu inside gets no likelier, however long."""
    menu = "<li><a href=/x>Tea</a>" * 400
    flat = document.parse(f"<p>Skip<div><ul>{menu}</ul><p>A drink.<p>Green.</div>").flat
    settled, kept = np.full(403, 0.3), np.arange(403) > 400
    judged = way.raise_inside(settled, kept, flat, np.full(403, 9.0))
    assert judged == pytest.approx(settled, abs=0.005)
    assert judged[1] > settled[0] == judged[0]


def test_what_follows_the_blocks_that_are_looked_at_is_inside_as_well(way: Any) -> None:
    """No threshold runs through a list because a page is very long."""
    line = "<p>Tea, and cake with it, and bread."
    before, many = LIMIT // 2, LIMIT // 2 + LIMIT
    flat = document.parse(f"{line * before}<main>{line * LIMIT}</main>").flat
    judged = way.raise_inside(np.full(many, 0.3), np.arange(many) >= before, flat, np.ones(many))
    assert judged[:before] == pytest.approx(0.3)
    assert len(set(judged[before:].tolist())) == 1
    assert judged[before] > 0.3


@settings(deadline=None)
@given(html=SOUP, random=st.randoms(use_true_random=False))
def test_inside_the_main_container(html: str, random: Any) -> None:
    """Some blocks get likelier or none does, whoever computes it."""
    flat = document.parse(f"<p>a<ul><li>b<li>c</ul>{html}").flat
    settled = np.array([random.random() for _ in flat.texts])
    sizes = features.text_lengths(flat.texts)
    wanted = selection.raise_inside(settled, settled > 0.5, flat, sizes)
    assert (wanted >= settled).all()
    for one in WAYS.values():
        judged = one.raise_inside(settled, settled > 0.5, flat, sizes)
        np.testing.assert_allclose(judged, wanted, rtol=1e-9)


NOTE = "All of this is as we were told, and we take no responsibility for what is wrong. "


def below_heading(html: str, kept: str, title: str = "", likely: float = 0.1) -> list[str]:
    """The texts of the blocks that are kept if those that contain `kept` would be."""
    flat = document.parse(html).flat
    texts = flat.texts
    chosen = np.array([kept in text for text in texts])
    titled = np.array([text == title for text in texts])
    judged = np.where(chosen, 0.9, likely)
    found = selection.below_heading(chosen, judged, flat, features.text_lengths(texts), titled)
    return [text for text, one in zip(texts, found, strict=True) if one]


@pytest.mark.parametrize(
    "heading", ["<h1>Ann Lee</h1>", "<h1><a href=/>Ann Lee</a></h1>", "<b>Ann Lee</b>"]
)
def test_facts_above_a_note_are_kept(heading: str) -> None:
    """From the heading on, be it marked as one or repeated by the title, but no links."""
    facts = "<ul><li>Baker<li>Room 2<li><a href=/all>All bakers</a></ul>"
    page = f"<p>Welcome<div><p>{heading.format('Ann Lee')}{facts}<p>{NOTE}</div><p>Imprint"
    assert below_heading(page, "responsibility", "Ann Lee") == [
        "Ann Lee", "Baker", "Room 2", NOTE.strip(),
    ]  # fmt: skip


def test_facts_below_a_note_are_kept_if_they_may_be_main_text() -> None:
    """As far as the container of heading and note goes, if they are likelier than chrome is."""
    page = f"<div><h1>Ann Lee</h1><p>{NOTE}<ul><li>Baker<li>Room 2</ul></div><p>Imprint"
    whole = ["Ann Lee", NOTE.strip(), "Baker", "Room 2"]
    assert below_heading(page, "responsibility", likely=selection.AFTER) == whole
    assert below_heading(page, "responsibility", likely=selection.AFTER - 0.01) == whole[:2]


def test_a_menu_above_a_note_stays_where_it_is() -> None:
    """Below a logo may stand a menu that a script opens: it is hardly likely, as no facts are."""
    menu = "".join(f"<div>Shop for {i}</div>" for i in range(50))
    page = f"<h1>Ann Lee</h1>{menu}<p>{NOTE}"
    kept = below_heading(page, "responsibility", likely=selection.ABOVE - 0.01)
    assert kept == ["Ann Lee", NOTE.strip()]


@pytest.mark.parametrize("sign", ["class=teaser", "class=foot", "hidden"])
def test_what_is_said_to_be_something_else_does_not_come_along(sign: str) -> None:
    """Teasers of other pages are others the next time, and a page no copy of itself."""
    more = f"<div {sign}>Read what others have</div>"
    above = "" if sign == "class=teaser" else more  # wrappers around facts are called so, too
    page = f"<div><h1>Ann Lee</h1>{above}<p>{NOTE}{more}</div>"
    assert below_heading(page, "responsibility", likely=0.8) == ["Ann Lee", NOTE.strip()]


def test_a_heading_that_is_hidden_stays_so() -> None:
    """The facts below it are seen."""
    page = f"<h1 hidden>Ann Lee</h1><p>Baker<p>{NOTE}"
    assert below_heading(page, "responsibility") == ["Baker", NOTE.strip()]


def test_a_long_text_is_left_alone() -> None:
    """What stands above it, as its author's name, is no more than a few words of it."""
    page = f"<h1>Ann Lee</h1><p>Baker{f'<p>{NOTE}' * 10}"
    assert below_heading(page, "responsibility") == [NOTE.strip()] * 10


def test_a_long_text_in_one_block_may_be_a_note() -> None:
    """What the page says under its heading may be all that is its own."""
    page = f"<h1>Ann Lee</h1><p>Baker<p>{NOTE * 10}"
    assert below_heading(page, "responsibility") == ["Ann Lee", "Baker", (NOTE * 10).strip()]


def test_a_page_without_a_heading_keeps_what_it_kept() -> None:
    """Nobody knows where its facts would begin."""
    page = f"<p>Welcome<p>Baker<p>{NOTE}"
    assert below_heading(page, "responsibility") == [NOTE.strip()]


@settings(deadline=None)
@given(html=SOUP, random=st.randoms(use_true_random=False))
def test_below_the_heading(html: str, random: Any) -> None:
    """Whatever was kept stays, and nothing that is hidden comes along."""
    flat = document.parse(f"<p>a<h1>b</h1><nav>c</nav>{html}<p hidden>d").flat
    judged, titled = (np.array([random.random() for _ in flat.texts]) for _ in range(2))
    kept = judged > 0.7
    sizes = features.text_lengths(flat.texts)
    found = selection.below_heading(kept, judged, flat, sizes, titled > 0.8)
    assert found[kept].all()
    hidden = (flat.signs[flat.around] & selection.BIT["hidden"]) > 0
    assert not (found & ~kept & hidden).any()
