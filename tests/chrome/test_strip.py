"""Main text stays, and navigation goes, whatever the page is wrapped in."""

import pytest

from crawler.chrome import strip_chrome
from tests.chrome.wrapped import BODY, FIRST, FOOTER, NAV, SECOND, page


def test_paragraphs_stay_and_navigation_goes() -> None:
    """Paragraphs are kept in reading order; navigation and footer are cut."""
    found = strip_chrome(page(f"{NAV}<main>{BODY}</main>{FOOTER}"))
    assert found.text.index(FIRST) < found.text.index(SECOND)
    assert "Shop" not in found.text
    assert "Imprint" not in found.text
    assert found.title == "Tea - The Leaf"


def test_a_menu_of_thousands_of_links_goes() -> None:
    """As of a manual that lists all of its functions on each page, beside a few lines."""
    verbs = ("set", "get", "create", "destroy", "find", "split", "count", "paint", "move", "show")
    names = [f"{verb}WindowStyle" for verb in verbs]
    modules = "".join(
        f'<li>shape{i}<ul><li><a href="shape{i}.html">Top of manual page</a></li>'
        + "".join(
            f'<li title="{name}-{i % 7}"><a href="shape{i}.html#{name}">{name}/{i % 7}</a></li>'
            for name in names
        )
        + "</ul></li>"
        for i in range(300)
    )
    menu = f"<aside><nav><p>Manual</p><ul class=flipMenu>{modules}</ul></nav></aside>"
    lines = (
        "<h3>Module</h3><div class=body>Close</div><h3>Module summary</h3><div class=body>"
        "Functions of Close</div><h3>Description</h3><div class=body><p>It holds information "
        "about Close events that a window is sent.</p></div><h3>Data types</h3><p>Close = close</p>"
    )
    body = f"<div><h1>Close</h1></div>{menu}<div class=content><div class=inner>{lines}</div></div>"
    kept = strip_chrome(page(body)).text
    assert "holds information about Close events" in kept
    assert "Top of manual page" not in kept
    assert "paintWindowStyle/3" in strip_chrome(page(menu)).text  # for who asks for that list


@pytest.mark.parametrize("links", [10, 30, 80, 400])
def test_a_line_beside_a_menu(links: int) -> None:
    """A caption is what its page is for, however long the menu is that all pages have."""
    menu = "".join(f"<li><a href=/{i}>Room {i}</a>" for i in range(links))
    body = f"<header><nav><ul>{menu}</ul></nav></header><div><img><p>The old harbour at dawn</div>"
    kept = strip_chrome(page(f"{body}{FOOTER}")).text
    assert ("The old harbour at dawn" in kept, "Room 7" in kept) == (True, False)


def test_a_list_in_a_menu_stays_beside_a_footer() -> None:
    """Where that is what the page is for, as a list of products; and so does an article in it."""
    rows = "".join(
        f"<li><a href=/tea/{i}>Tea of garden number {i}, by the tin</a>" for i in range(25)
    )
    listing = page(f"<main><nav><ul>{rows}</ul></nav></main>{FOOTER}")
    assert "garden number 24" in strip_chrome(listing).text
    links = "".join(f"<li><a href=/{i}>Shelf {i}</a>" for i in range(80))
    unclosed = page(f"<div><nav><ul>{links}</ul><article>{BODY}</article></div>{FOOTER}")
    assert FIRST in strip_chrome(unclosed).text
    header = page(f"<header><nav><ul>{links}</ul><div>{BODY}<ul>{rows}</ul></div>{FOOTER}")
    assert FIRST in strip_chrome(header).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<noscript>", "</noscript>"),
        ("<aside>", "</aside>"),
        ('<div class="has-sidebar banner-wrap">', "</div>"),
        ('<div class="page-navigation-wrapper">', "</div>"),
        ("<button>", ""),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<div><span><b>", "</div>"),
        ("<form>", "</form>"),
    ],
)
def test_content_survives_what_it_is_wrapped_in(before: str, after: str) -> None:
    """The only running text of a page is its content, whatever is around it."""
    found = strip_chrome(page(f"{NAV}{before}{BODY}{after}{FOOTER}"))
    assert FIRST in found.text
    assert SECOND in found.text


def test_scripts_styles_templates_and_alt_text_are_not_text() -> None:
    """What a reader does not see as text is not in the text."""
    found = strip_chrome(
        page(
            f"<script>var secret1</script><style>.secret2</style>"
            f"<template><p>secret3</p></template><svg><title>secret4</title></svg>{BODY}"
            f'<img alt="secret5" src="x"><!-- secret6 -->'
            "<embed src=x><noembed><p>secret7</p></noembed></embed>"
        )
    )
    assert FIRST in found.text
    assert "secret" not in found.text
    assert "secret" not in found.title


def test_all_posts_of_a_thread_are_kept() -> None:
    """A thread's posts are its content, the last like the first."""
    posts = [
        f"In my view number {i} matters most, since the leaves, once cured, lose their taste "
        f"within {i} weeks unless they are kept dry, dark and cool. I tried it for {i} years."
        for i in range(2, 12)
    ]
    thread = "".join(
        f'<article class="post"><div class="author">user{i}</div><p>{post}</p></article>'
        for i, post in enumerate(posts)
    )
    found = strip_chrome(page(f"{NAV}<h1>Storing tea</h1><div>{thread}</div>{FOOTER}"))
    assert [post for post in posts if post not in found.text] == []


@pytest.mark.parametrize(
    "text", ["红茶是一种全发酵的茶，味道浓郁，香气高。" * 9, "شاي أسود، " * 60, "Ok"]
)
def test_no_page_with_text_is_empty(text: str) -> None:
    """Something is kept of any page that has text."""
    assert text.split()[0] in strip_chrome(page(f"<div>{text}</div>")).text


def test_a_page_of_links_keeps_links() -> None:
    """Where there is nothing but links, they are what the page is about."""
    items = "".join(f'<li><a href="/{i}">Tea of the year {i}</a></li>' for i in range(30))
    assert "Tea of the year 17" in strip_chrome(page(f"<ul>{items}</ul>")).text


def test_unclosed_and_misnested_tags() -> None:
    """Broken markup loses no paragraph."""
    found = strip_chrome(f"<div><p>{FIRST}<b><i></b></p></i><td><p>{SECOND}</span></div></html>")
    assert FIRST in found.text
    assert SECOND in found.text


def test_blocks_say_what_became_of_them() -> None:
    """Every block is there once, with a reason, its density and likelihood."""
    found = strip_chrome(page(f"{NAV}<main>{BODY}</main>{FOOTER}"))
    blocks = {block.text: block for block in found.blocks}
    assert blocks[FIRST].kept
    assert blocks[FIRST].reason == "main text"
    assert blocks[FIRST].density == 1
    assert not blocks["Shop"].kept
    assert blocks["Shop"].reason == "navigation"
    assert blocks["Shop"].density == 0
    assert "\n".join(block.text for block in found.blocks if block.kept) == found.text
