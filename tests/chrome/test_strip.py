"""What is kept and what is cut of small pages, and what the answer says about it."""

from typing import Any

import pytest
from bs4 import BeautifulSoup
from lxml import etree

from crawler.chrome import MainText, links, parse, parse_in_steps, read_tree, strip_chrome
from crawler.chrome.page.blocks import JUDGED

NAV = """<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li>
<li><a href="/about">About us</a></li></ul></nav>"""
FOOTER = '<footer><p>Copyright The Leaf</p><a href="/imprint">Imprint</a></footer>'
FIRST = (
    "Tea is an aromatic beverage prepared by pouring hot water over cured leaves, and it is "
    "drunk everywhere in the world, hot or cold, with milk or without."
)
SECOND = (
    "After plain water, it is the most widely consumed drink in the world, in many styles, and "
    "some of them, such as Darjeeling, have a cooling, slightly bitter flavour."
)
BODY = f"<h1>Tea</h1><p>{FIRST}</p><p>{SECOND}</p>"


def page(body: str, head: str = "<title>Tea - The Leaf</title>") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"


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


@pytest.mark.parametrize(
    "word",
    [
        "<ruby>東京都<rp>(</rp><rt>とうきょうと</rt><rp>)</rp></ruby>",
        "<ruby>東<rt>とう</rt>京<rt>きょう</rt>都<rt>と</rt></ruby>",
        "<ruby>東<rt>とう<rt></ruby><ruby>京<rt>きょう</ruby><ruby>都<rt>と</ruby>",
        "<ruby><rb>東</rb><rb>京</rb><rb>都</rb><rtc><rt>とう</rt><rt>きょう</rt></rtc></ruby>",
    ],
)
def test_readings_above_letters_do_not_part_words(word: str) -> None:
    """A Japanese page with furigana says what it says without them, and can be searched."""
    assert strip_chrome(f"<p>{word}は日本の首都である。").text == "東京都は日本の首都である。"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><ruby>東<rt>とう<rb>京<rt><b>きょ</b>う</ruby>は<b>高い</b>。", "東京は高い。"),
        ("<p><ruby>漢字<rt>かんじ<p>次の段落。<div>残り</div>", "漢字\n次の段落。\n残り"),
        ("<p>a<rt>b<i>c<a href=/>d</a>e</i>f", "adef"),
        ("<p>RT<rt>x<br>hello", "RT\nhello"),
    ],
)
def test_readings_that_nobody_closes_end_in_time(html: str, expected: str) -> None:
    """What follows is text."""
    assert strip_chrome(html).text == expected


def test_hidden_blocks_are_marked() -> None:
    """Blocks under hidden, aria-hidden, display:none or popover are known as hidden.

    What can be found, and what React puts into its place, is not.
    """
    hidden = [
        "<div hidden>one</div>",
        '<div aria-hidden="true">two</div>',
        '<div style="display : none">three</div>',
        '<div style="color:red;\nvisibility:\nhidden">four</div>',
        "<div popover>five</div>",
        '<div style="backface-visibility:hidden">six</div>',
        "<div hidden=until-found>seven</div>",
        "<div hidden id=S:0>eight</div>",
    ]
    blocks = strip_chrome(page("".join(hidden) + NAV + BODY + BODY)).blocks
    reasons = {block.text: block.reason for block in blocks if not block.kept}
    assert {reasons.get(text) for text in ("one", "two", "three", "four", "five")} == {"hidden"}
    assert "hidden" not in {reasons.get(text) for text in ("six", "seven", "eight")}


@pytest.mark.parametrize(
    "tag", ["embed src=x", "source src=x", "track", "map name=x", "o:p", "wbr"]
)
def test_what_nobody_closes_hides_no_text(tag: str) -> None:
    """Of tags without an end the parser makes elements that hold what follows."""
    assert FIRST in strip_chrome(page(f"{NAV}<div><{tag}><p>{FIRST}</p></div>{FOOTER}")).text


def test_a_date_is_no_part_of_a_name() -> None:
    """Pages leave it to style sheets to part them."""
    html = "<p><span>Ann Lee</span><time datetime=2026-05-03>3 May</time> (<time>2025</time>)"
    assert strip_chrome(html).text == "Ann Lee 3 May (2025)"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("Roses are<br> red,<br/>\n<br>violets <b>blue<br></b>", "Roses are\nred,\nviolets blue"),
        ("a long\nline - with a\nbreak", "a long line - with a break"),
        ("a nee-\n  dle", "a nee-\ndle"),
        ("<span style='display:none'>Roses<br>fade</span>Tea", "Tea"),
        ("<a href=/>1<br>2</a>\n<math><mtr><mtd>1<mtd>2</math>", "1\n2 1 2"),
    ],
)
def test_lines_are_those_that_a_reader_sees(html: str, expected: str) -> None:
    """Those of the source are none, unless a word may be divided there; a block is one still."""
    found = strip_chrome(f"<p>{html}</p><pre>a<br>b\nc</pre>")
    assert found.text == f"{expected}\na\nb\nc"
    assert found.blocks[0].text == " ".join(expected.split())


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a mast<sup><a href=#fn1>1</a></sup> of", "a mast[1] of"),
        (
            "mast<a id=r2 href=/tea#n2><sup class=x>2</sup></a><sup><a href=#3>3</a></sup>",
            "mast[2] [3]",
        ),
        ("10<sup>6</sup> or m<sup><a href=/power>2</a></sup>", "10 6 or m2"),
        ("$1<b></b>2<sup><b></b>99</sup> 1<sup>1</sup>/2 1<sup>st</sup>", "$12 99 1 1/2 1st"),
        (
            "see <a href=#fn1>1</a>, a<sup><a href=#y>1905</a></sup> b<sup><a href=#z> </a></sup>",
            "see 1, a1905 b",
        ),
        ("<sup>a<p><a href=#1>1</a></sup>b", "a\n1\nb"),
        ("<sup>2 </sup>And <sup class=versenum>3\u00a0</sup>so it was", "[2] And [3] so it was"),
        ("it was <sup>4</sup>so<sup>5</sup>, <sup>th</sup><sup>6</sup>", "it was [4]so5, th6"),
    ],
)
def test_numbers_of_notes_are_none_of_the_words(html: str, expected: str) -> None:
    """Nor those of verses: they are raised, and lead to a place in a page, or stand apart."""
    assert " ".join(strip_chrome(f"<p>{html}").text.split(" ")) == expected


@pytest.mark.parametrize(
    ("behind", "expected"),
    [
        ("Updated", "3 May Updated"),
        ("<span><a href=/>2 comments</a></span>", "3 May 2 comments"),
        ("<script>x</script><!-- x --><b>by</b> Ann", "3 May by Ann"),
        (", 2026", "3 May, 2026"),
        ("\u65e5", "3 May\u65e5"),
        ("<br>Ann", "3 May\nAnn"),
    ],
)
def test_nor_is_what_stands_behind_it(behind: str, expected: str) -> None:
    """A word is parted from the date before it, a comma is not."""
    assert strip_chrome(f"<p><time datetime=2026-05-03>3 May</time>{behind}").text == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a>Buy</a><a>Rent</a><span><a>Sell</a></span>", "Buy Rent Sell"),
        ("<a>Buy</a>, <a>Rent</a>/<a>Sell</a>ers", "Buy, Rent/Sellers"),
        ("<a><b>Sil</b>ver</a><b>ware</b>", "Silverware"),
        ("un<a name=x></a><a href=/>able</a>", "unable"),
        ("<p><a> </a><p><a>x</a>y<a>z</a>", "xyz"),
        ("<pre><a>std</a><a>::sort</a></pre>", "std::sort"),
        ("<p><span style='display:none'>ab<a>c</a></span>xyz<a href=/>L</a>", "xyzL"),
        ("<p><span aria-hidden=true>ab<a>c</a></span>xyz<a href=/>L</a>", "xyzL"),
    ],
)
def test_links_side_by_side_are_no_word(html: str, expected: str) -> None:
    """Style sheets part those of a list, or the text between them does."""
    assert "\n".join(block.text for block in strip_chrome(html).blocks) == expected


def test_zero_bytes_part_no_word() -> None:
    """Browsers leave them out."""
    assert strip_chrome("<p>un\0break\0able").text == "unbreakable"


def test_smart_tags_part_no_sentence() -> None:
    """Word marks places and names with elements of its own in the midst of paragraphs."""
    html = (
        "<p>From <st1:City w:st=on>Lon</st1:City>don, by <st1:place>Dover</st1:place>.<o:p></o:p>"
    )
    assert strip_chrome(html).text == "From London, by Dover."


KATEX = (
    "<span class=katex><span class=katex-mathml>{}</span><span class=katex-html aria-hidden=true>"
    "<span class=mord>x</span><span class=mrel>=</span><span class=mord>2</span></span></span>"
)
MATHML = (
    "<math><semantics><mrow><mi>x</mi><mo>=</mo><mn>2</mn></mrow>"
    "<annotation encoding=application/x-tex>x = 2</annotation></semantics></math>"
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<b>5.0</b><i aria-hidden=true>5</i><i>stars</i>", "5.0 stars"),
        ("<i aria-hidden=true>Tea</i><i aria-hidden=true>time</i>", "Tea time"),
        ("Menu <i class=material-icons aria-hidden=true>arrow_drop_down</i>", "Menu"),
        ("foo<span style='display: NONE'><a href=/>junk</a> x</span>bar", "foobar"),
        ("<a href=/>foo<span style='visibility:hidden'>junk</span>bar</a>", "foobar"),
        (f"so {MATHML} holds", "so x=2 holds"),
        (f"so {KATEX.format(MATHML)} holds", "so x=2 holds"),
        ("<math><mtable><mtr><mtd><mn>1</mn><mtd><mn>2</mtable></math>", "1 2"),
        ("<math>1<mfrac><mn>2</mn><mrow><mn>3</mn><mi>x</mi></mrow></mfrac></math>", "1 2/3x"),
        ("<math><msqrt><mn>4</mn><mi>y</mi></msqrt><mroot><mn>8</mn><mn>3</mroot>", "√4y√8 3"),
        ("<math><msup><mn>10</mn> <!-- --><mn>5</mn></msup><mo>=</math>", "10 ^5="),
        ("<math><munder><mo>∑</mo><mi>n</mi></munder><msub><mi>y</mi><mn>1</msub>", "∑ ny1"),
        (f"a<span style='display:none'>{FIRST * 2}</span>", f"a{FIRST * 2}"),
        ("a <span style='display:none'>no<p>b</span>", "a\nb"),
        ("<b style='visibility:hidden'>To</b> <b style='visibility:hidden'>be</b>", "To be"),
    ],
)
def test_what_is_not_seen_within_text_is_left_out(html: str, expected: str) -> None:
    """Icons, copies for the eye and hidden words go; formulas and long hidden text stay.

    So does what has nothing else beside it in its block.
    """
    assert strip_chrome(f"<p>{html}").text == expected


def test_frames_are_followed() -> None:
    """Nothing else leads to the pages of a site that has its menu in one."""
    rest = "<frameset rows=9,*><frame src=/top><frame></frameset><noframes>Your browser</noframes>"
    document = parse(f"<title>Tea</title><frameset cols=9,*><frame src=menu.html>{rest}")
    assert [link.href for link in links(document)] == ["menu.html", "/top"]
    assert strip_chrome(document).text == ""


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<svg><title>Map</title><g><a xlink:href=/n><path/></a><a href=/s></a><a></a></g></svg>",
         ["/n", "/s"]),
        ("<link rel=Next href=/2><link rel=prev href=/0><link rel=stylesheet href=/css>",
         ["/2", "/0"]),
        ("<link rel=alternate hreflang=de href=/de><link rel=alternate type=rss href=/f>", ["/de"]),
        ("<meta http-equiv=Refresh content='0;URL=/a'><meta http-equiv=refresh content='9'>",
         ["/a"]),
        ("<meta http-equiv=refresh content='0; /b'><meta name=refresh content='0;/c'>", ["/b"]),
        ("""<meta http-equiv=refresh content=".5, url = '/d' x">""", ["/d"]),
        ("<meta http-equiv=refresh content='600; URL='>", []),
    ],
)  # fmt: skip
def test_what_leads_on_without_a_link(html: str, expected: list[str]) -> None:
    """Browsers offer it, or go there; and a page may have no other way to its texts."""
    document = parse(f"{html}<p>tea")
    assert [link.href for link in links(document)] == expected
    assert strip_chrome(document).text == "tea"


def test_links_in_drawings_say_whether_to_follow_them() -> None:
    """As all others do."""
    document = parse("<svg><a href=/x rel=nofollow></a><a href=/y></a></svg>")
    assert [link.nofollow for link in links(document)] == [True, False]


def test_links_that_are_not_seen_are_followed() -> None:
    """They are links of the page, and none of its text."""
    document = parse("<p>tea <span style='display:none'><a href=/x>one</a> two</span> time")
    assert [link.href for link in links(document)] == ["/x"]
    assert (document.flat.linked.tolist(), document.flat.links.tolist()) == ([0], [0])
    copy = "<i aria-hidden=true>{}</i>"
    for html in (f"<a href=/>{copy.format('tea')}</a>", copy.format("<a href=/>tea</a>")):
        flat = parse(f"<p>{html}<p>{html} time<p>end").flat
        assert flat.texts == ["tea", "time", "end"]
        assert (flat.linked.tolist(), flat.links[0]) == ([3, 0, 0], 1)


def test_elements_of_a_site_part_no_sentence() -> None:
    """Custom elements are inline in paragraphs and headings; elsewhere they hold whole parts."""
    html = (
        "<h2>By <user-mention>Ann</user-mention></h2>"
        "<p>A <site-link><a href=/>large study</a></site-link> of te<x-b>a</x-b>.</p>"
        "<my-card>One</my-card><my-card>Two <p>three</p></my-card>"
        "<p>It <picture><source srcset=x><img src=x></picture> is <output>3</output>"
        " <slot>pm</slot>."
    )
    text = "By Ann\nA large study of tea.\nOne\nTwo\nthree\nIt is 3 pm."
    assert strip_chrome(html).text == text


@pytest.mark.parametrize("code_tags", ["<pre><code>{}</code></pre>", "<xmp>{}</xmp>"])
def test_code_keeps_its_line_breaks(code_tags: str) -> None:
    """Lines and indentation inside pre, and its predecessors, are kept as they are."""
    code = "def brew():\n    return 'tea'\n\nbrew()"
    found = strip_chrome(page(f"<main>{BODY}{code_tags.format(code)}<p>{SECOND}</p></main>"))
    assert code in found.text


CODE = ["import os", "", "def main():", "    print(os.getcwd())", "main()"]
NUMBERED = list(enumerate(CODE, 9))
GUTTER = "\n".join(f"<span>{number:2}</span>" for number, _ in NUMBERED)


@pytest.mark.parametrize(
    "html",
    [
        "<span class=linenos>{}</span>{}",  # Sphinx, MkDocs
        "<span class=line><span class=ln> {}</span><span class=cl>{}</span></span>",  # Hugo
        "<span style='white-space:pre;user-select: none'>{}</span><span>{}</span>",
        "<span class='linenumber react-syntax-highlighter-line-number'>{}</span>{}",
        "<span class=sourceLineNo>{:03}</span><a name=line></a>{}",  # javadoc
        "<span class=source-line-no>{:03}</span><span>{}</span>",
        "<a href=#{0} id={0} data-nosnippet>{0}</a>{1}",  # rustdoc
        "<a href=#L{0} class='line-number'>{0}</a>{1}",
    ],
)
def test_numbers_of_lines_are_no_code(html: str) -> None:
    """Code is the same with numbers before its lines."""
    code = "\n".join(html.format(number, line) for number, line in NUMBERED)
    assert strip_chrome(f"<pre><code>{code}</code></pre>").text == "\n".join(CODE)


def test_numbers_of_lines_of_their_own() -> None:
    """Doxygen has an element for each line of code; a bus line's number is another matter."""
    lines = "".join(
        f"<div class=line><a name=l{number:05}></a><span class=lineno>{number:5}</span>&#160;{line}"
        f"</div>"
        for number, line in NUMBERED
    )
    assert strip_chrome(f"<div class=fragment>{lines}</div>").text.split() == " ".join(CODE).split()
    assert strip_chrome("<p><b class=line-number>9</b> to Ayr").text == "9 to Ayr"


def test_linked_numbers_of_code_are_code() -> None:
    """But for those that are said to be of lines; what else is linked there is, too."""
    code = "<a href=#1>1</a> <a href=/x data-nosnippet>tea</a> <a href=/x class=ln>2 cups</a>"
    assert strip_chrome(f"<pre>{code}</pre>").text == "1 tea 2 cups"


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><pre>{}</pre><td><pre>{}</pre></table>",  # Pygments, Rouge, Hexo
        "<div aria-hidden=true>{}</div><pre>{}</pre>",  # VitePress
    ],
)
def test_numbers_beside_code_are_none_of_it(html: str) -> None:
    """Nor do numbers that stand beside all of it belong to it; other numbers do."""
    code = "\n".join(CODE)
    blocks = strip_chrome(html.format(GUTTER, code)).blocks
    assert [block.text for block in blocks] == [code]
    assert strip_chrome(f"<pre>1\n2\n3</pre><p>{FIRST}").text.startswith("1\n2\n3")
    for numbers in ("1\n2\n4", "1 2"):
        assert strip_chrome(f"<table><td><pre>{numbers}").text == numbers


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


def test_inline_markup_does_not_split_words() -> None:
    """Words are joined across inline elements and parted at block ends and line breaks."""
    found = strip_chrome("<p>un<b>break</b>able<br>next<p>para")
    assert found.text.split() == ["unbreakable", "next", "para"]


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
