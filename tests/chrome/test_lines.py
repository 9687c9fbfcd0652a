"""Lines are those that a reader sees, without numbers, readings and what is hidden in them."""

import pytest

from crawler.chrome import strip_chrome
from tests.chrome.wrapped import BODY, FIRST, FOOTER, NAV, SECOND, page


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


def test_inline_markup_does_not_split_words() -> None:
    """Words are joined across inline elements and parted at block ends and line breaks."""
    found = strip_chrome("<p>un<b>break</b>able<br>next<p>para")
    assert found.text.split() == ["unbreakable", "next", "para"]
