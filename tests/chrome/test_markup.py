"""Tags are told from text as a browser tells them, and elements end where it ends them."""

import pytest

from crawler.chrome import links, parse, strip_chrome, title
from crawler.chrome.markup import attributes, tokens


def texts(html: str) -> list[str]:
    return [block.text for block in strip_chrome(html).blocks]


@pytest.mark.parametrize(
    ("html", "wanted"),
    [
        ("a < b <c> d", ["a < b", "d"]),
        ("<p title='a > b'>one", ["one"]),
        ("<p title=it's>one<p title=two's>two", ["one", "two"]),
        ('<p title="never closed>one</p><p>two', ["one", "two"]),
        ("one<!-- <p>two</p> -->three", ["onethree"]),
        ("one<!-->two<!--->three", ["onetwothree"]),
        ("one<!-- a -- b --!>two", ["onetwo"]),
        ("one<!x>two<?x?>three</ x>four</>five", ["onetwothreefourfive"]),
        ("<SCRIPT>if (a</b) '<p>'</Script >one", ["one"]),
        ("<script>a</scripted>b</script>one", ["one"]),
        ("<script src=x /><p>one", ["one"]),
        ("<svg/><p>one<svg><text>drawing</text></svg></p>", ["one"]),
        ("<P>one<P>two</DIV>", ["one", "two"]),
        ("<p>one<select><option>two</select>three", ["onethree"]),
        ("<p>one<select><option>two", ["one", "two"]),
        ("<p>&lt;p&gt; &amp;amp; &nbsp;x", ["<p> &amp; x"]),
        ("<p>one<br/>two<hr>three", ["one two", "three"]),
        ("<p>one<last", ["one"]),
    ],
)
def test_tags_and_text(html: str, wanted: list[str]) -> None:
    """What is a tag, a comment or a script is not text, and nothing else is lost."""
    assert texts(html) == wanted


def test_attributes_of_all_writings() -> None:
    """Quoted, bare, empty, repeated and joined attributes are read; the first of a name counts."""
    raw = """ a="1>2" B='"' c=x/y d e = f a=2 g="h"i='&lt;'"""
    assert attributes(raw) == {
        "a": "1>2", "b": '"', "c": "x/y", "d": "", "e": "f", "g": "h", "i": "<",
    }  # fmt: skip


def test_links_and_title_keep_their_entities() -> None:
    """Character references in an address and in the title are resolved."""
    document = parse('<TITLE>a &amp; b</TITLE><A class=x HREF="?a=1&amp;b=2">x</A>')
    assert title(document) == "a & b"
    assert [link.href for link in links(document)] == ["?a=1&b=2"]


@pytest.mark.parametrize(
    ("html", "depths"),
    [
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", [3, 3, 5, 3, 1]),
        ("<table><tr><td>a<td>b<tr><td>c</table>d", [4, 4, 4, 1]),
        ("<table><tr><td>a</div></ul>b</table></p>c", [4, 4, 1]),
        ("<div><p>a<div>b</div>c</div>d", [3, 3, 2, 1]),
        ("<dl><dt>a<dd>b<dt>c</dl>d", [3, 3, 3, 1]),
        ("<section><div><ul>a</section>b", [4, 1]),
        ("<h1>a<h2>b</h2>c", [2, 2, 1]),
    ],
)
def test_elements_end_without_end_tags(html: str, depths: list[int]) -> None:
    """Items, cells, rows, terms and paragraphs end where the next begins; strays end nothing."""
    assert parse(html).flat.depths == depths


def test_links_end_with_what_holds_them() -> None:
    """A link that nobody closed does not make the rest of the page a link."""
    blocks = strip_chrome("<div><p><a href=x>one</p></div><p>two</p>").blocks
    assert [block.density for block in blocks] == [0, 1]


def test_time_is_linear_in_the_tokeniser() -> None:
    """After the last tag that is looked at, the rest is left as it stands."""
    assert tokens("<p>a<p>b<p>c", 2) == (["", "a", ""], ["p", "p"], ["", ""], "b<p>c")
