"""Pages that were parsed before: trees, Beautiful Soup, XHTML, and pages in steps."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from lxml import etree

from crawler.chrome import MainText, links, parse, parse_in_steps, read_tree, strip_chrome
from crawler.chrome.page.blocks import JUDGED
from tests.chrome.wrapped import BODY, FIRST, FOOTER, NAV, SECOND, page


def test_a_parsed_tree_gives_the_same_text() -> None:
    """Text, bytes, a document and an lxml tree of one page have one main text."""
    html = page(f"{NAV}<main>{BODY}</main><!-- x -->{FOOTER}")
    tree = etree.HTML(html)
    wanted = strip_chrome(html).text
    for given in (html.encode(), parse(html), tree, tree.getroottree(), read_tree(tree)):
        assert strip_chrome(given).text == wanted


@pytest.mark.parametrize(
    "tree", [etree.ElementTree(), etree.Comment("tea"), etree.PI("tea"), etree.Entity("amp")]
)
def test_a_tree_without_an_element_is_an_empty_page(tree: Any) -> None:
    """As an element that its own parser made of nothing."""
    assert strip_chrome(tree).text == ""


@pytest.mark.parametrize("parser", ["lxml", "html.parser"])
def test_a_page_that_beautiful_soup_has_parsed(parser: str) -> None:
    """It is read as its HTML is, and so is a part of it."""
    html = "<nav><a href=/>Home</a></nav><main><p>Tea is a drink made with hot water.</p></main>"
    soup = BeautifulSoup(html, parser)
    assert strip_chrome(soup).text == strip_chrome(soup.main).text == strip_chrome(html).text


@pytest.mark.parametrize("page", [None, 7])
def test_what_is_no_page_is_named(page: Any) -> None:
    """The error says what can be read, and what was given."""
    with pytest.raises(TypeError, match=rf"tree of lxml or bs4, not a .*{type(page).__name__}$"):
        strip_chrome(page)


def test_text_after_a_comment_in_a_tree_is_kept() -> None:
    """Comments and instructions of a tree part no words and hide none."""
    tree = etree.HTML("<p>tea<!-- x --> time<?pi x?> now</p>")
    assert strip_chrome(tree).text == "tea time now"


def test_xhtml_tree() -> None:
    """Elements in the XHTML namespace are read as HTML."""
    tree = etree.fromstring(
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>un<b>break</b>able</p>'
        "<script>secret</script></body></html>"
    )
    assert strip_chrome(tree).text == "unbreakable"


def test_template_blocks_are_cut() -> None:
    """What the site is known to repeat is cut, and says so; a page never becomes empty."""
    html = page(f"<div>{BODY}<p>{FIRST} Again.</p></div>")
    learnt = strip_chrome(html)
    assert [block.text for block in learnt.blocks][:2] == ["Tea", FIRST]
    found = strip_chrome(html, template=frozenset(list(learnt.hashes())[1:2]))
    assert found.text == f"{SECOND}\n{FIRST} Again."
    assert [block.reason for block in found.blocks][:2] == ["template", "template"]
    everything = frozenset(learnt.hashes())
    assert strip_chrome(html, template=everything).text == learnt.text


def test_the_answer_is_the_same_every_time() -> None:
    """The same page has the same text, whatever was read before."""
    html = page(f"{NAV}<main>{BODY}</main>{FOOTER}")
    first: MainText = strip_chrome(html)
    strip_chrome(page(f"<h1>Other</h1><p>{SECOND}</p>"))
    assert strip_chrome(html).text == first.text
    assert strip_chrome(html).hashes() == first.hashes()


def test_far_down_a_long_page_the_share_of_links_decides() -> None:
    """Of blocks that come too late to be described, prose is kept and lists of links are cut."""
    early = "".join(
        f"<p>Paragraph {i} says a little about the lamp.</p>" for i in range(JUDGED + 9)
    )
    links = "".join(f"<span><a href=/{i}>Go to place {i}</a></span><br>" for i in range(30))
    prose = f"<blockquote>{SECOND}</blockquote>" * 30
    text = strip_chrome(f"<main>{early}</main><div>{links}</div><section>{prose}</section>").text
    assert (text.count("Go to"), text.count(SECOND)) == (0, 30)
    assert text.count("Paragraph") == JUDGED + 9


def test_far_down_a_long_page_a_block_is_as_likely_as_its_like() -> None:
    """That is also what the page without its site's template is judged from."""
    post = f"<p class=post>{SECOND}</p>"
    menu = "".join(f"<li class=nav-item>Place {i}</li>" for i in range(JUDGED // 2))
    later = f"<main>{post}</main><ul class=menu><li class=nav-item>Last place</ul>"
    posts = "".join(f"<p class=post>{SECOND} {i}</p>" for i in range(JUDGED // 2 + 9))
    page = f"<ul class=menu>{menu}</ul><main>{posts}</main>{later}"
    blocks = strip_chrome(page).blocks
    assert len(blocks) > JUDGED
    assert blocks[-2].likelihood == pytest.approx(blocks[JUDGED - 1].likelihood, abs=0.1)
    assert blocks[-1].likelihood == pytest.approx(blocks[9].likelihood, abs=0.1)
    assert blocks[-1].likelihood < 0.5 < blocks[-2].likelihood


@pytest.mark.parametrize("junk", ["", "é" * 40_000, "<!-- " + "x" * 90_000, "<p title='" * 9000])
def test_a_page_in_steps_is_the_same_page(junk: str) -> None:
    """Wherever a step ends, in a tag, a comment or a letter, nothing is read otherwise."""
    word = "<b id=x{0}>a rather long word &amp; number {0}</b> çà and something behind it "
    words = "<p>".join(word.format(number) for number in range(3000))
    html = f"<title>Tea</title><nav><a href=/>Home</a></nav><p>{words}{junk}<p><a href=/z>end</a>"
    steps, count = parse_in_steps(html.encode()), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            document = end.value
            break
        count += 1
    assert count > 2
    at_once = parse(html.encode())
    assert list(links(document)) == list(links(at_once))
    assert strip_chrome(document).blocks == strip_chrome(at_once).blocks
    assert list(parse_in_steps(b"")) == []
