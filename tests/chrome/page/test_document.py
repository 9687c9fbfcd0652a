"""What a crawler asks of a page besides its main text."""

import pytest

from crawler.chrome import Link, base, canonical, links, parse, robots, title
from crawler.chrome.page import unparsed
from crawler.chrome.page.document import MOST_LINKS
from crawler.chrome.page.limits import MOST_TAGS

PAGE = """<html><head><base href=" /docs/ "><title>A &amp; B</title>
<link rel="canonical" href="https://example.com/a">
<meta name="robots" content="NOINDEX, follow"><meta name="teabot" content="nofollow">
</head><body><a href=" one.html ">1</a><a name="x">no</a><a href="two" rel="ugc nofollow">2</a>
<map><area href="three"></map><svg><title>drawing</title></svg></body></html>"""


def test_links_in_order_with_nofollow() -> None:
    """Hrefs of a and area come raw, in order, with their rel."""
    assert list(links(parse(PAGE))) == [
        Link("one.html", False),
        Link("two", True),
        Link("three", False),
    ]


def test_commas_between_words() -> None:
    """Rel is parted by blanks; search engines take commas, too."""
    assert [link.nofollow for link in links(parse('<a href=/ rel="noopener,NoFollow">x'))] == [True]


def test_head() -> None:
    """Title, base and canonical are those of the page, not of a drawing in it."""
    document = parse(PAGE)
    assert title(document) == "A & B"
    assert base(document) == "/docs/"
    assert canonical(document) == "https://example.com/a"


def test_robots() -> None:
    """Directives count for all agents, and for one if it is named."""
    assert robots(parse(PAGE)) == (True, False)
    assert robots(parse(PAGE), agent="TeaBot") == (True, True)
    assert robots(parse('<meta name=ROBOTS content="none">')) == (True, True)
    assert robots(parse("<p>")) == (False, False)
    previews = "index, follow, max-image-preview \t:  none, max-snippet:-1"
    assert robots(parse(f'<meta name=robots content="{previews}">')) == (False, False)


def test_nothing_declared() -> None:
    """A page without a head has empty answers."""
    document = parse("<p>hello")
    assert (title(document), base(document), canonical(document)) == ("", None, None)
    assert list(links(document)) == []


class Text(str):
    """As lxml and markupsafe derive classes, but this one does nothing right."""

    __slots__ = ()
    encode = __len__ = __getitem__ = __str__ = None  # type: ignore[assignment]


class Body(bytes):
    decode = __len__ = __getitem__ = __bytes__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("page", [Text(PAGE), Body(PAGE.encode())], ids=["str", "bytes"])
async def test_a_class_of_its_own_is_what_it_is_derived_from(page: str | bytes) -> None:
    """Of text and bytes what they hold counts, whatever their class makes of that."""
    assert title(parse(page)) == title(parse(page, text=PAGE)) == "A & B"


@pytest.mark.parametrize("row", ["<li>{}", '<tr><td class="name">{}<td>what it does'])
def test_links_beyond_what_is_parsed(row: str) -> None:
    """An index of very many pages, of which a part is no longer parsed, leads to all of them."""
    rows = MOST_TAGS // 2
    wanted = [Link(f"page-{i}.html?a&b", nofollow=i % 3 == 0) for i in range(rows)]
    rel = {False: "", True: " rel='ugc nofollow'"}
    rows_of = (
        row.format(f'<a class="x"{rel[nofollow]} HREF = "{href.replace("&", "&amp;")}">a</a>')
        for href, nofollow in wanted
    )
    none = "<a href=none>"
    unseen = f"<script>'{none}'</script><!-- {none} --><textarea>{none}</textarea>"
    page = f"<ul>{''.join(rows_of)}{unseen}<map><area href=last></map>"
    document = parse(page)
    assert len(document.flat.texts) < rows  # the rest is one block
    assert list(links(document)) == [*wanted, Link("last", nofollow=False)]


def test_links_beyond_what_is_parsed_are_bounded() -> None:
    """Millions of links are no page for people."""
    found = list(links(parse("<a href=x>y</a>" * (MOST_TAGS + 2 * MOST_LINKS))))
    assert MOST_LINKS < len(found) <= MOST_LINKS + MOST_TAGS


@pytest.mark.parametrize("row", ["<div>{}", "<br><font color=red>{}", "<ul><li>{}<p>a b c d e"])
def test_links_deeper_than_the_parser_goes(row: str) -> None:
    """Old pages close no tags, so that all of them lie in each other."""
    wanted = [Link(f"page-{i}.html", nofollow=False) for i in range(3000)]
    rows = (row.format(f"<a href={link.href}>a text</a> of it") for link in wanted)
    page = f"<title>All</title><script>'<a href=none>'</script>{''.join(rows)}"
    document = parse(page)
    assert list(links(document)) == wanted
    assert title(document) == "All"


def test_a_tip_in_a_link_that_the_parser_has_met() -> None:
    """Of what is not parsed no such link is found; of what is, none is lost for what is deeper."""
    shallow = "<a data-tip='<b>new</b>' href=/tea>Tea</a><a href=/cake>Cake</a>"
    page = f"{shallow}{'<div>' * 3000}<a href=/bread>Bread</a>"
    assert [link.href for link in links(parse(page))] == ["/tea", "/cake", "/bread"]


@pytest.mark.parametrize(
    "tag",
    [
        '<a href="/?a=1&copy=2&amp;b=3&region;&#38;c&#x26;d&eacute;&notit;&#0;&#x110000;">',
        "<A\nclass='x y' HREF='/a b'\trel=NoFollow>",
        "<a href=/a/b?c='d'>",
        "<a class=x rel='' href = /tea >",
        '<area shape=rect href="/tea"/>',
        '<a href="/té">',
        '<a title="x -> y" rel=nofollow href="/x">',
        '<a href="/a>b">',
        '<a title="use href=foo rel=nofollow here" href="/real">',
        """<a data-u="/go/href=/bad" class=it's href="/y"rel='ugc'>""",
        """<a onclick="x; href='/js'">""",
        "<a href=/first href=/second>",
    ],
)
def test_a_link_is_the_same_unparsed(tag: str) -> None:
    """As the parser has it, entities, blanks and all."""
    head = parse(tag).head
    assert list(unparsed.find_links(tag.encode(), 9)) == list(
        zip(head.hrefs, head.rels, strict=True)
    )


def test_what_is_no_text_has_no_links() -> None:
    """As an archive in which pages are stored."""
    body = b"PK\x03\x04" + bytes(range(16, 27)) * 200 + b'<a href="http://example.com/">'
    assert list(links(parse(body))) == []


@pytest.mark.parametrize("tag", ["<a name=x>", "<abbr href=x>", "<a data-href=x>", "<a href>"])
def test_what_is_no_link_is_none_unparsed_either(tag: str) -> None:
    """As in what is parsed."""
    assert list(unparsed.find_links(f"{tag}x".encode(), 9)) == list(links(parse(tag))) == []


@pytest.mark.parametrize(
    ("page", "is_binary"),
    [
        (b"%PDF-1.7" + bytes(range(256)) * 9, True),
        ((b"%PDF-1.7" + bytes(range(256)) * 9).decode("latin-1"), True),
        (PAGE, False),
        ("<p>ЧАЙ ПЬЮТ ВО ВСЕХ СТРАНАХ".encode("utf-16") * 40, False),
        (bytes(2000), False),
        ("", False),
    ],
)
def test_files_that_are_no_pages(page: str | bytes, is_binary: bool) -> None:
    """Whoever wants pages alone can tell."""
    assert parse(page).is_binary is is_binary
