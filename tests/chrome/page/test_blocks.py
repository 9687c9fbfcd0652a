"""A page without some of its blocks is described as one that never had them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.chrome.page import document
from crawler.chrome.page.blocks import Flat, leave_out_blocks
from tests.chrome.hostile import SOUP


def ranges(flat: Flat) -> set[tuple[str, ...]]:
    """The texts of each container."""
    return {tuple(flat.texts[first:end]) for first, end in zip(flat.firsts, flat.ends, strict=True)}


def test_containers_of_a_page_without_its_menu() -> None:
    """What held the menu holds the rest, and what holds one block only is no container."""
    menu = "<ul><li>Home<li>Shop</ul>"
    page = "<div>{}<section><p>Tea<p>Cake</section><aside><p>Bread{}</aside></div><p>Imprint"
    flat = document.parse(page.format(menu, "<p>Log in")).flat
    cut = np.isin(flat.texts, ["Home", "Shop", "Log in"])
    rest, never = leave_out_blocks(flat, cut), document.parse(page.format("", "")).flat
    assert rest.texts == never.texts == ["Tea", "Cake", "Bread", "Imprint"]
    assert ranges(rest) == ranges(never)
    assert rest.within.tolist() == never.within.tolist()
    assert rest.parents.tolist() == never.parents.tolist()


@settings(deadline=None)
@given(html=SOUP, random=st.randoms(use_true_random=False))
def test_without_some(html: str, random: Any) -> None:
    """All that is left stands where it stood, in the smallest container that is left of it."""
    flat = document.parse(f"<p>a<ul><li>b<li>c</ul>{html}").flat
    cut = np.array([random.random() < 0.5 for _ in flat.texts])
    cut[0] = False
    rest = leave_out_blocks(flat, cut)
    assert rest.texts == [text for text, out in zip(flat.texts, cut, strict=True) if not out]
    number = np.arange(len(rest.texts))
    sizes = rest.ends - rest.firsts
    assert (sizes[1:] > 1).all()
    assert sizes[0] == len(number)
    for column in (rest.words, rest.linked, rest.links, rest.around, rest.within):
        assert len(column) == len(number)
    holds = (rest.firsts <= number[:, None]) & (number[:, None] < rest.ends)
    assert holds[number, rest.within].all()
    assert (np.where(holds, sizes, sizes[0] + 1).min(1) == sizes[rest.within]).all()
