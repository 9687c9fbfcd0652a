"""Tables of contents: the text of a manual's title page, beside a notice that others have, too."""

from __future__ import annotations

from crawler.chrome import strip_chrome
from crawler.dedup import Sketcher, estimate

NOTICE = (
    "This manual is free software; you can redistribute it and/or modify it under the terms of "
    "the GNU General Public License as published by the Free Software Foundation; either version "
    "2 of the License, or (at your option) any later version."
)
WORK = "Choosing", "Buying", "Cleaning", "Mending", "Keeping", "Selling"
TEA = (
    "the first pot",
    "cups for many guests",
    "leaves from far away",
    "water without lime",
    "old spoons",
)
KNOTS = (
    "a strong rope",
    "loops for a climber",
    "hitches on wet poles",
    "nets of thin twine",
    "a sail",
)


def sections_of(things: tuple[str, ...]) -> list[list[str]]:
    """The titles of a manual's sections, by chapters."""
    return [[f"{work} {thing}" for thing in things] for work in WORK]


def title_page(name: str, things: tuple[str, ...]) -> str:
    """A title page as DocBook's style sheets make it."""
    chapters = "".join(
        f"<dt><span><a href=ch{at}.html>{WORK[at]}</a></span></dt><dd><dl>"
        + "".join(f"<dt><span><a href=ch{at}.html#{at}>{one}</a></span></dt>" for one in sections)
        + "</dl></dd>"
        for at, sections in enumerate(sections_of(things))
    )
    return (
        f"<title>{name}</title><body><div class=book><div class=titlepage><h1>{name}</h1>"
        f"<div class=legalnotice><p>{NOTICE}</p></div></div>"
        "<div class=toc><p><b>Table of Contents</b></p>"
        f"<dl class=toc>{chapters}</dl></div></div></body>"
    )


def count_sections(text: str, things: tuple[str, ...]) -> int:
    """How many of a manual's sections a text names."""
    return sum(title in text for chapter in sections_of(things) for title in chapter)


def test_title_pages_of_two_manuals_with_one_licence_are_no_copies() -> None:
    """Only the licence is prose. All else is links, and hardly likelier main text than not."""
    tea = strip_chrome(title_page("The Tea Manual", TEA)).text
    knots = strip_chrome(title_page("The Knot Manual", KNOTS)).text
    assert NOTICE in tea
    assert count_sections(tea, TEA) == len(WORK) * len(TEA)
    assert count_sections(knots, KNOTS) == len(WORK) * len(KNOTS)
    sketcher = Sketcher()
    assert estimate(sketcher.sketch(tea), sketcher.sketch(knots)).similarity < 0.5


def test_a_list_that_is_marked_as_a_menu_stays_cut() -> None:
    """A menu may have more text than its page."""
    page = title_page("The Tea Manual", TEA).replace("class=toc", "class=sidebar")
    text = strip_chrome(page).text
    assert NOTICE in text
    assert not count_sections(text, TEA)
