"""Teasers below a heading of the site's template are no part of a page, whichever they are."""

import re
import time
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from crawler.chrome import SiteTemplate, block_hash, parse, strip_chrome
from crawler.chrome.judge.features import text_lengths
from crawler.chrome.template.teasers import find_teasers

NAMES = (
    "Owls",
    "Ferries",
    "Looms",
    "Kilns",
    "Harbours",
    "Orchards",
    "Bridges",
    "Lanterns",
    "Mills",
)


def facts(number: int) -> str:
    name = NAMES[number]
    about = f"What is known of {name.lower()}, with {number + 20} plates and a map of the coast"
    rows = ("Author", f"A. {name}er"), ("Year", 1900 + number), ("Contents", about)
    return f"<h1>{name} of the north</h1><table>{''.join(map(row, rows))}</table>"


def row(fact: tuple[str, object]) -> str:
    return f"<tr><th>{fact[0]}:</th><td>{fact[1]}</td></tr>"


def below(heading: str, numbers: Iterable[int], visit: int) -> str:
    items = "".join(
        f"<li><a href=/{n}>{NAMES[n]} in winter</a> by: Someone. Published: ({1800 + n * visit})"
        for n in numbers
    )
    return f"<section>{heading}<ul>{items}</ul></section>"


def page(number: int, visit: int, heading: str = "<h2>Similar items</h2>", after: str = "") -> str:
    others = [(number * visit + step) % len(NAMES) for step in (1, 2, 4, 5, 7)]
    menu = "<nav><ul><li><a href=/>Catalogue</a><li><a href=/help>Help</a></ul></nav>"
    end = f"{after}<footer>Library of the town</footer>"
    status = "<p>Copy 1</p><p>Available</p>"
    return f"{menu}<main>{facts(number)}{status}{below(heading, others, visit)}</main>{end}"


def known(make: Callable[[int], str]) -> frozenset[int]:
    template = SiteTemplate()
    for number in range(len(NAMES)):
        found = strip_chrome(make(number))
        template.observe(found.hashes(), block_hash(found.text))
    return template.known()


def test_a_list_of_similar_items_is_cut_whatever_it_lists() -> None:
    """So that two visits of a page of a few facts find the same text."""
    template = known(lambda number: page(number, 1))
    first, second = (strip_chrome(page(3, visit), template=template) for visit in (1, 2))
    assert first.text == second.text
    assert "Kilns of the north" in first.text
    assert "1903" in first.text
    assert "in winter" in strip_chrome(page(3, 1)).text  # nobody can tell that by one page
    assert {block.reason for block in first.blocks if "in winter" in block.text} == {"template"}


@pytest.mark.parametrize("heading", ["<h2>Chapters</h2>", "<h2>Works of this author</h2>"])
def test_a_list_below_another_heading_stays(heading: str) -> None:
    """What a site's pages list for its own sake has a heading of the template, too."""
    template = known(lambda number: page(number, 1, heading))
    assert "in winter" in strip_chrome(page(3, 2, heading), template=template).text


def test_running_text_below_such_a_heading_stays() -> None:
    """It is no teaser, and stands there for a heading that somebody left out."""
    prose = "It was a mild evening, and whoever had a boat was out on the water with a lamp. " * 5
    template = known(lambda number: page(number, 1))
    html = page(3, 2).replace("</ul></section>", f"</ul><p>{prose}</p></section>")
    found = strip_chrome(html, template=template)
    assert "a mild evening" in found.text
    assert "in winter" not in found.text


def test_posts_below_such_a_heading_stay() -> None:
    """Forums have "Recommended posts" above all of them, each with a link to who wrote it."""
    posts = "".join(
        f"<div><a href=/{n}>{name}</a><p>I have seen {name.lower()} in the north, all {n}.</div>"
        for n, name in enumerate(NAMES[:3])
    )
    template = known(lambda number: page(number, 1))
    html = re.sub("<ul><li><a href=/[0-9].*</ul>", posts, page(3, 2))
    assert "seen looms in the north" in strip_chrome(html, template=template).text


def test_a_section_ends_at_a_heading_as_high() -> None:
    """A wrapper may go on behind it."""
    template = known(lambda number: page(number, 1))
    own = "<h2>How to find it</h2><p>The shelf is on the second floor, behind the stairs.</p>"
    html = page(3, 2).replace("</ul></section>", f"</ul>{own}</section>")
    assert "behind the stairs" in strip_chrome(html, template=template).text


def test_the_section_may_be_named_in_a_line_of_its_own_element() -> None:
    """But a line among others says nothing of how far it reaches."""
    line = "<div>Similar items</div>"
    template = known(lambda number: page(number, 1, line))
    assert "in winter" not in strip_chrome(page(3, 2, line), template=template).text
    unwrapped = page(3, 2, line).replace("<section>", "").replace("</section>", "")
    assert "in winter" in strip_chrome(unwrapped, template=template).text


def test_a_date_above_the_first_teaser_hides_none() -> None:
    """Digits are ignored, so it is the heading's neighbour on all pages, and known as well."""
    cards = "".join(
        f"<a href=/{n}><div>20{n + 10}-05-17</div><div>{name}</div>"
        f"<div>What everybody here knows of {name.lower()}, and what few know.</div></a>"
        for n, name in enumerate(NAMES[:3])
    )
    html = f"<p>Tea.</p><section><div>Related articles</div><div>{cards}</div></section><p>Home"
    flat = parse(html).flat
    known = np.array([text in ("Related articles", "2010-05-17", "Home") for text in flat.texts])
    found = find_teasers(flat, known, text_lengths(flat.texts))
    left = [text for text, cut in zip(flat.texts, found | known, strict=True) if not cut]
    assert left == ["Tea."]


def test_thousands_of_such_headings_take_linear_time() -> None:
    """Also where each of them is in the section of all before it."""
    seconds = []
    for number in (200, 1600):
        nested = "".join(f"<p>tea<div>Related articles<p>page {i}" for i in range(number))
        flat = parse(nested).flat
        known = np.array([text == "Related articles" for text in flat.texts])
        assert known.sum() == number
        start = time.process_time()
        find_teasers(flat, known, text_lengths(flat.texts))
        seconds.append(time.process_time() - start)
    assert seconds[1] < 20 * seconds[0] + 0.05
