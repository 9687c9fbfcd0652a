"""The compiled walk over a tree finds what the reader does that listens to the parser."""

from __future__ import annotations

import dataclasses
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lxml import etree

from crawler.chrome import strip_chrome
from crawler.chrome.page import document, encoding, limits, reader, unparsed
from tests.chrome.hostile import SOUP, hostile_pages
from tests.support.pure import load_pure

if not reader.COMPILED:
    pytest.skip("not compiled here: python hatch_build.py", allow_module_level=True)
from crawler.chrome.page._reader import walk_tree

pure = load_pure(reader.__name__)

PAGE = """<!doctype html><html lang=en><title>Tea &amp; cake</title>
<meta property="article:published_time" content=2026-05-01>
<base href=/base><link rel=canonical href=/a><link rel=Next href=/2><link rel=icon href=/i>
<meta http-equiv=refresh content="9;/later">
<script type="application/ld+json">{"a": 1}</script><script>var a = "<p>";</script>
<body class="home page"><nav id=menu role=navigation><a href=/ rel=nofollow>Ho<b>me</b></a>
<a>no link</a><a href="/x  y">two   words </a></nav>
<div hidden>unseen</div><p style="display: none">gone
<main class="content home">A\u00a0caf\u00e9 <i>in</i>side,<br>a second line
<a href=/%C3%A9>l\u00efnk</a>
<pre>
  code
    stays </pre><p>1 &lt; 2 &copy; &nosuch; <![CDATA[x]]> <!-- no --> <?no?> tail
<p class=""> \x1c \x85 </p>
<time pubdate datetime=2026-05-02>today</time><template>no<p>no</template>
<template shadowrootmode=open><p>yes</template><table><tr><td>1<td class=n>2</table>
<map><area href=/area>a map</map>
<p>a<x-y>b<z->c</x-y>d<x-y><div>e</div>f</x-y>g<x-y>h<p>i</x-y>j
<embed src=x><st1:City>t\u00e9</st1:City>a<svg><title>no</title><a xlink:href=/map>
<text>no</a><a href=/s></a></svg>
<ul aria-hidden=true><li>one<li>two</ul></main></html>
<p>after the end</p><!-- end -->"""


def listened(html: bytes) -> Any:
    """What a reader makes of the page that is called by lxml's parser."""
    target: Any = pure.Reader()
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)
    try:
        return etree.fromstring(html, parser)
    except etree.LxmlError:
        return target.close()


def columns(found: Any) -> dict[str, Any]:
    """All fields of what was read, arrays as lists; how a text was cut into pieces is no matter."""
    flat, head = (
        {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        for part in found
    )
    head = {f"head.{name}": value for name, value in head.items()}
    for name in ("head.titles", "head.data"):
        head[name] = "".join(head[name])
    if flat["too_deep"]:  # then nothing is asked of the blocks
        return head
    return head | {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in flat.items()
    }


def both(html: bytes) -> tuple[Any, Any]:
    """What the walk and the reader make of a page: of none where no tree can, or may, be built."""
    data, _, crowded = limits.bound_page(document._decode_html(html, None)[2])
    heard = walked = listened(data)
    if not crowded:
        tree = None
        with suppress(etree.LxmlError):
            tree = etree.fromstring(data, etree.HTMLParser(encoding="utf-8", huge_tree=True))
        # libxml2 compares each attribute with all before it in its tag.
        elements = () if tree is None else tree.iter(etree.Element)
        assert sum(len(element.attrib) ** 2 for element in elements) < 1 << 29
        empty: Any = pure.Reader()
        walked = empty.close() if tree is None else walk_tree(tree)
    return columns(walked), columns(heard)


def test_hostile_pages(subtests: pytest.Subtests) -> None:
    """Nothing that hurts is read in two ways."""
    for name, page in hostile_pages().items():
        with subtests.test(name):
            walked, heard = both(page)
            assert walked == heard


def test_a_page() -> None:
    """Each kind of tag and attribute that the reader knows is known to both."""
    found, heard = both(PAGE.encode())
    assert found == heard
    assert found["head.titles"] == "Tea & cake"
    assert found["head.hrefs"] == ["/2", "/later", "/", "/x  y", "/%C3%A9", "/area", "/map", "/s"]
    assert "Home no link two words" in found["texts"]
    assert found["texts"][-1] == "after the end"


@settings(deadline=None, max_examples=400)
@given(SOUP)
@example("<p>a <sup><time>12</sup>1")
@example("<p>a <sup><a href=x>12</sup><a href=y>b")
@example("<p>1<sup><time>2</sup>3<sup><a href=x>4</a></sup><a href=y>5")
@example("<mfrac><rt><mroot>1<mn>2<p>3</mfrac>4<mi>5")
def test_soup(html: str) -> None:
    """Nor is any soup of tags."""
    walked, heard = both(html.encode("utf-8", "replace"))
    assert walked == heard


SPACES = "".join(map(chr, range(1, 0x3100))) + "\U0001f600"


@settings(deadline=None)
@given(st.text(st.one_of(st.sampled_from(" \t\n\x85\xa0\u2009\u3000\u200b"), st.characters())))
def test_white_space(text: str) -> None:
    """Words are parted, and characters counted, where Python parts them, in any script."""
    walked, heard = both(f"<p>{text}<a href=/>a{text}b</a>{text}".encode("utf-8", "replace"))
    assert walked == heard


def test_each_white_space() -> None:
    """Of all characters up to the ideographic space none is taken for another kind."""
    # What may end a page, or change how it is read, has one of its own.
    alone = [char for char in SPACES if char < "\xa0" and char not in "<&"]
    others = SPACES[SPACES.index("\xa0") :]
    for spaces in (*alone, *(others[at : at + 50] for at in range(0, len(others), 50))):
        page = "".join(f"<p>a{space}b<a href=/>c{space} d{space}</a>e" for space in spaces)
        walked, heard = both(page.encode())
        assert walked == heard, repr(spaces)


ATTRIBUTES = st.sampled_from(
    [
        *("id=footer", "id='Main nav'", "id=\u4e2dfooter", "id", "x:id=menu"),
        *("role=banner", "role=x", "role=''", "hidden", "aria-hidden=true", "aria-hidden=false"),
        *("hidden=until-found", "hidden id=S:0", "popover"),
        *("style='Display : none'", "style='visibility: hidden'", "style=color:red", "style"),
        *("class='a footer'", "class=A\u00e9", "class=''"),
        *("id=" + "x-" * 150 + "footer", "class=" + "y-" * 150 + "menu"),
    ]
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["p", "div", "ul", "pre"]), st.lists(ATTRIBUTES))))
def test_attributes(tags: list[tuple[str, list[str]]]) -> None:
    """What elements say of their text: classes, ids, roles, hiding."""
    html = "".join(f"<{tag} {' '.join(said)}>text" for tag, said in tags)
    walked, heard = both(html.encode())
    assert walked == heard


XHTML = """<?xml version="1.0"?><!DOCTYPE html [<!ENTITY own "its own">]>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:x="urn:x"><head><title>Tea</title></head>
<body x:class="no" class="a &amp; b"><p x:id="no">
<a x:href="no" href="/yes">&own; &amp; &#x4e2d;</a></p>
<x:script>unseen</x:script><Div>kept</Div><![CDATA[ <raw> ]]><?pi?>tail</body></html>"""


@pytest.mark.parametrize("entities", [True, False])
def test_trees_of_others(entities: bool) -> None:
    """XHTML read as XML, with namespaces, and one element of a page, are read alike."""
    parser = etree.XMLParser(resolve_entities=entities)
    root = etree.fromstring(XHTML, parser)
    for element in (root, *root.iter(etree.Element)):
        assert columns(walk_tree(element)) == columns(pure.walk_tree(element))
    for element in etree.HTML(PAGE).iter(etree.Element):
        assert columns(walk_tree(element)) == columns(pure.walk_tree(element))


def test_without_the_compiled_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has the same main text where the walk is not compiled."""
    with_it = strip_chrome(PAGE)
    assert document.walk_tree is walk_tree
    monkeypatch.setattr(document, "COMPILED", False)
    monkeypatch.setattr(document, "walk_tree", pure.walk_tree)
    for html in (PAGE, PAGE.encode(), etree.HTML(PAGE)):
        found = strip_chrome(html)
        assert (found.text, found.title) == (with_it.text, with_it.title)
        assert found.blocks == with_it.blocks


TAGS = st.lists(
    st.sampled_from(
        ["<p", "<script>", "</script>", "<!--", "-->", ">", "<", "'", '"', "=", " ", "/", "a", "b"]
        + [f" a{number}" for number in range(9)]
        + [f' b{number}="' for number in range(9)]
        + [f"/c{number}='" for number in range(9)]
    ),
    max_size=60,
).map("".join)


@settings(deadline=None, max_examples=1000)
@given(TAGS, st.integers(0, 6))
@example("""<p b0=" b0="' a0<script>""", 2)
@example("""<p b0=""<p/= a0<script>""", 3)
@example("""<p" b0="<script>"<p </script>""", 3)
@example('<script><p b="</script><p a b c d>"', 3)
@example("<p a==' b='>' c d>", 3)
@example("<p a=b=' b='>' c d>", 3)
@example("<p =' b='>' c d>", 3)
@example("<p=' b='>' c d>", 2)
@example("<p a=\v' b='>' c d>", 3)
def test_no_tag_has_more_attributes(html: str, most: int) -> None:
    """Whatever quotes, scripts and comments hide: a tag of more attributes is announced."""
    if limits._is_crowded(html.encode(), most):
        return
    with suppress(etree.LxmlError):
        for element in etree.HTML(f"<p>.{html}").iter(etree.Element):
            assert len(element.attrib) <= most


def test_ordinary_tags_are_not_crowded() -> None:
    """What stands between tags, and many tags, make no tag crowded; many attributes do."""
    page = '<p class="a b" id=c>' + "word " * 100 + "</p><a href='x>y'>"
    assert not limits._is_crowded((page * 1000).encode(), 8)
    assert limits._is_crowded((page + "<p " + "a " * 9 + ">").encode(), 8)


@pytest.mark.parametrize("between", [1, 100, 1000, 10**6])
@pytest.mark.parametrize("sign", [b">", b"a>b", b"/>", b"><p>"])
def test_signs_in_quotes_hide_no_attributes(between: int, sign: bytes) -> None:
    """However often a value has the end of a tag in it, so many attributes are too many."""
    many = b" ".join(
        b"a%d" % i + (b"='%b'" % sign if i % between == 0 else b"") for i in range(20_000)
    )
    assert limits.bound_page(b"<p>text<p " + many + b">more")[2]


@given(st.binary(max_size=20), st.integers(0, 300), st.integers(0, 255), st.integers(0, 255))
def test_frequent_characters_are_counted(page: bytes, times: int, one: int, other: int) -> None:
    """However many there are of them, and however many side by side."""
    page = page * times + b"<" * times
    first, last = sorted((one, other))
    found = sum(first <= char <= last for char in page)
    assert encoding.count_bytes(page, first, last) == found


def test_so_many_are_left_out() -> None:
    """Later scripts are taken for text, and those before the part are not counted."""
    page = b"<script>a</script>" * (unparsed.MOST_SKIPPED + 2)
    for since in 0, 18 * 5:
        found = unparsed.visible_part(page[since:], page[:since])
        assert found.count(b"<script>a") == 2 - bool(since) * 2


@pytest.mark.parametrize("attributes", [98, 99, 100])
def test_an_anchor_of_very_many_attributes_is_none(attributes: int) -> None:
    """As the expression has it: the address is one of them."""
    page = b"<a " + b"x " * (attributes - 1) + b"href=/y>"
    expected = [("/y", None)] * (attributes <= unparsed.MOST_ATTRIBUTES)
    assert list(unparsed.find_links(page, 9)) == expected


ICONS = [
    *("<table>", "<tr>", "<td>", "<th>", "<dd>", "<li>", "<div>", "<p>", "<pre>", "<a href=/>"),
    *("<i class='fa fa-check'>", "<i class='bi bi-x-lg' aria-hidden=true>", "<i class=fa-times>"),
    *("<span title=Yes>", "<b aria-label='4 of 5'>", "<i class=icon-no style=display:none>"),
    *("<img alt=Yes>", "<img src=/no.svg>", "<img class=latex alt='x^2'>", "<img alt='$\u00e9$'>"),
    *("<input type=checkbox disabled>", "<input type=radio disabled checked>", "<meter value=3>"),
    *("<svg class=star>", "<use href=#check>", "<use>", "<title>No</title>", "</svg>", "<rt>"),
    *("<script type=math/tex>", "</script>", "</i>", "</span>", "</td>", "</li>", "</a>", "<br>"),
    *("<i class='fa fa-star'></i>", "<time>1</time>", "word", " ", "\u00a0", "\u3000", "2"),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(ICONS), max_size=40).map("".join))
@example("<table><td>" + "<i class=star></i>" * 12 + "<td><svg><use href=#x-check></svg>")
def test_pictures(html: str) -> None:
    """Icons and formulas are read in the same places, with the same words."""
    walked, heard = both(html.encode())
    assert walked == heard
