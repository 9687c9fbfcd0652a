"""Pages made to hurt cost bounded work and never raise.

Work is counted, not timed: elements and blocks that are looked at, and how deep; what is beyond
goes through `unparsed`, which only searches and copies.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from crawler.chrome import (
    canonical,
    extract,
    links,
    parse,
    parse_in_steps,
    published,
    robots,
    strip_chrome,
)
from crawler.chrome.judge import features
from crawler.chrome.page import document as reading
from crawler.chrome.page import unparsed
from crawler.chrome.page.blocks import JUDGED, squeeze_spaces
from crawler.chrome.page.elements import DEEPEST
from crawler.chrome.page.limits import MOST_ENTITIES, MOST_TAGS
from crawler.chrome.page.reader import Reader
from tests.chrome.hostile import MEGABYTE, MILLION, SOUP, hostile_pages
from tests.support.pure import load_pure

pure = load_pure(features.__name__)

# HTML cannot show what stands after a quote, a script or a comment that never ends.
UNSEEN = {"unclosed quote"}


class Work(Reader):
    """A reader that counts what the parser calls."""

    calls = 0
    parsers = 0

    def __init__(self) -> None:
        super().__init__()
        Work.parsers += 1
        start, data, end = self.start, self.data, self.end

        # lxml counts the parameters that these take.
        def counting_start(tag: str, attributes: Mapping[str, str]) -> None:
            Work.calls += 1
            start(tag, attributes)

        def counting_data(text: str) -> None:
            Work.calls += 1
            data(text)

        def counting_end(tag: str) -> None:
            Work.calls += 1
            end(tag)

        self.start, self.data, self.end = counting_start, counting_data, counting_end


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> type[Work]:
    Work.calls = Work.parsers = 0
    monkeypatch.setattr(reading, "Reader", Work)
    monkeypatch.setattr(reading, "COMPILED", False)
    return Work


def test_bounded(
    work: type[Work], monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    """The text is found, by one parser, few calls and few blocks that are looked at.

    The compiled features of these blocks are those of numpy.
    """
    described: list[int] = []
    describe = extract.describe_blocks

    def counting(*arguments: Any) -> Any:
        rows = describe(*arguments)
        described.append(len(rows))
        assert len(arguments[1]) <= 1000  # of the title, in which blocks are looked for
        assert len(rows) == min(len(arguments[0].texts), JUDGED)
        assert np.array_equal(rows, pure.describe_blocks(*arguments))
        return rows

    monkeypatch.setattr(extract, "describe_blocks", counting)
    for name, page in hostile_pages().items():
        with subtests.test(name):
            described.clear()
            work.calls = work.parsers = 0
            document = parse(page)
            found = strip_chrome(document)
            assert name in UNSEEN or any("needle" in block.text for block in found.blocks)
            assert work.parsers == 1
            assert work.calls <= 4 * MOST_TAGS + 2 * MOST_ENTITIES
            assert sum(described) <= JUDGED
            assert len(document.flat.texts) <= 2 * MOST_TAGS + 1
            assert len(document.flat.firsts) <= 2 * MOST_TAGS
            assert max(document.flat.depths) <= DEEPEST + 200
            published(document)
            f"{found.text}{found.title}".encode()


def test_lists_of_words_are_read_to_a_bound() -> None:
    """What a page says in a list counts at its beginning, not after a million other words."""
    for before, counts in (("", True), ("x " * MILLION, False)):
        page = (
            f'<meta name=robots content="{before}noindex"><link rel="{before}canonical" href=/c>'
            f'<a rel="{before}nofollow" href=/a><time itemprop="{before}datePublished" '
            "datetime=2026-05-01>in May</time>"
        )
        document = parse(page)
        assert robots(document).noindex == counts
        assert [link.nofollow for link in links(document)] == [counts]
        assert (canonical(document) is not None) == counts
        assert (published(document) is not None) == counts


def test_blanks_in_robots_tags_take_linear_time() -> None:
    """A thousand of them in each tag made a page take sixty times what others of its size take."""
    tag = '<meta name=robots content="{}noindex">'
    seconds = []
    for before in ("x" * 970 + ",", " " * 971):
        document = parse(tag.format(before) * 1000)
        start = time.process_time()
        assert robots(document).noindex
        seconds.append(time.process_time() - start)
    assert seconds[1] < 10 * seconds[0] + 0.05


@pytest.mark.parametrize("encoding", [None, "cp1252", "utf-8"])
def test_what_is_no_text_is_not_parsed(encoding: str | None, work: type[Work]) -> None:
    """Of an image or a program, and of what it was decoded to, what is ASCII is one block."""
    data = b"<p>tea<p>" + random.Random(1).randbytes(MEGABYTE)
    document = parse(data.decode(encoding, "replace") if encoding else data)
    assert work.calls == 0
    (text,) = document.flat.texts
    assert text.startswith("tea ")
    assert text.isprintable()
    assert "\ufffd" not in text


def test_nothing_is_lost_beyond_the_bounds() -> None:
    """A page of more tags than are looked at keeps all its words, in their order."""
    words = [f"w{i}" for i in range(3 * MOST_TAGS)]
    blocks = strip_chrome("".join(f"<p>{word}</p>" for word in words)).blocks
    assert " ".join(block.text for block in blocks).split() == words


def test_a_script_across_the_bound_stays_unseen() -> None:
    """Where the bound falls into a script or a comment, its end is no text."""
    for paragraph in ("<p>x", f"<p>{'x' * 40}"):
        bound = len(parse(paragraph * 2 * MOST_TAGS).flat.texts)
        assert bound <= MOST_TAGS + 1
        for start, end in (("<script>", "</script>"), ("<STYLE>", "</STYLE>"), ("<!--", "-->")):
            page = paragraph * (bound - 5) + f"{start}{'a<b;' * 20}secret{end}<p>needle"
            texts = " ".join(block.text for block in strip_chrome(page).blocks)
            assert "needle" in texts
            assert "secret" not in texts


@pytest.mark.parametrize(
    "before",
    [
        "<script>$('<style>').appendTo('head')</script>",
        "<script>a = '<style>p {}<\\/style>'</script>",
        "<script>if (text.indexOf('<!--')) run()</script>",
        "<!-- <script> -->",
        "<!-->",
        "<!--->",
        "<!---->",
        "<!-- x --!>",
        "<!--!><script>--><b></b>",
        "<textarea>if (a) <!-- then</textarea>",
    ],
)
def test_what_only_looks_like_a_beginning_hides_nothing(before: str) -> None:
    """A script may have markup in its strings, a comment may have a script: none goes on."""
    page = before + "<p>word" * 2 * MOST_TAGS + "<p>needle"
    assert strip_chrome(page).blocks[-1].text.endswith("needle")
    visible = unparsed.visible_part(f"{before}<p>needle<p>x".encode())
    assert "needle" in unparsed.split_lines(visible)


def test_dense_pages_are_read_to_a_smaller_bound() -> None:
    """Tags without text between them count more: such pages are no pages for people."""
    dense = parse("<p>x" * MOST_TAGS)
    sparse = parse(f"<p>{'x' * 40}" * MOST_TAGS)
    assert len(dense.flat.texts) < len(sparse.flat.texts) / 5


def test_a_list_of_thousands_of_short_entries_is_read_as_one() -> None:
    """As of everything that a program's manual warns of: dense, but a page for people."""
    link = '<li><a href="#DEP{0:04}" class="">Obsolete {0:04}</a></li>'
    menu = "".join(map(link.format, range(1000)))
    entries = "".join(
        f'<h3 id="DEP{i:04}">Obsolete DEP{i:04}</h3><p>It was <b>good</b> before release {i}.</p>'
        for i in range(1500)
    )
    page = f"<nav><ul>{menu}</ul></nav>{entries}"
    assert len(page) < 18 * page.count("<")
    flat = parse(page).flat
    assert flat.texts[-1] == "It was good before release 1499."
    assert len(flat.texts) == 4000


def test_a_hostile_tree() -> None:
    """A tree that somebody else parsed may be deep and long, too."""
    parser = etree.HTMLParser(huge_tree=True)
    for html in ("<div>" * 2000 + "needle", "<p>x" * 50_000 + "<p>needle"):
        found = strip_chrome(etree.fromstring(html, parser))
        assert any("needle" in block.text for block in found.blocks)
    node = root = etree.Element("div")
    for _ in range(5000):
        node = etree.SubElement(node, "div")
    node.text = "needle"
    assert strip_chrome(root).text == "needle"


@pytest.mark.parametrize(
    "html",
    [
        "", " ", "<", "<>", "</", "<!--", "<!doctype", "<p", "\0", "&", "&#x;", b"",
        b"\xef\xbb\xbf",
        b"\xff\xfe", b"\xff\xfe\x00", "<html/>", "<?xml?>", "<![CDATA[", "<a href='", "<script>",
        "\ud800", "<p>\udfff", "</body></html>", "<frameset><frame src=x></frameset>", "<title>",
    ],
)  # fmt: skip
def test_next_to_nothing(html: str | bytes) -> None:
    """Empty and cut-off pages have a text, mostly an empty one."""
    found = strip_chrome(html)
    assert isinstance(found.text, str)
    assert len(found.hashes()) == len(found.blocks) + 1


def test_a_character_that_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lxml cannot decode a piece of a page, the page has its lines all the same."""

    class Cut(Reader):
        def __init__(self) -> None:
            super().__init__()
            data = self.data

            def cutting(text: str) -> None:
                data(text.encode()[:-1].decode())

            self.data = cutting

    monkeypatch.setattr(reading, "Reader", Cut)
    monkeypatch.setattr(reading, "COMPILED", False)
    page = f"<p>tea</p><p>{'cake ' * 20_000}</p><p>na\u00efvet\u00e9</p><p>end</p>"
    steps = parse_in_steps(page)
    next(steps)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    for document in (parse(page), stop.value.value):
        texts = [block.text for block in strip_chrome(document).blocks]
        assert (len(texts), texts[-2:]) == (4, ["na\u00efvet\u00e9", "end"])


def test_lone_surrogates_do_not_survive() -> None:
    """The text of a page can be written as UTF-8."""
    found = strip_chrome("<title>\ud800</title><p>tea \udfff time</p>")
    (found.text + found.title).encode()
    assert "tea" in found.text


@settings(deadline=None)
@given(SOUP)
def test_soup(html: str) -> None:
    """Any soup of tags gives text that consists of the kept blocks; no text block is lost."""
    found = strip_chrome(html)
    blocks = found.blocks
    # A text has a line for each <br>; blocks have a space there.
    assert found.text.split() == " ".join(block.text for block in blocks if block.kept).split()
    assert bool(found.text) == bool(blocks)
    found.text.encode()


def test_what_may_be_written_into_a_page_is_no_text_where_it_is_too_deep() -> None:
    """As elsewhere."""
    page = b"<p>tea<textarea>secret<p></textarea><p>time"
    assert list(unparsed.split_lines(unparsed.visible_part(page))) == ["tea", "time"]


def test_readings_part_nothing_where_a_page_is_too_deep() -> None:
    """There they stay between the letters, and the line is one."""
    assert list(unparsed.split_lines("<p><ruby>東<rt>とう</rt>京</ruby>".encode())) == ["東とう京"]


@settings(deadline=None)
@given(
    st.binary(max_size=400), st.sampled_from([None, "text/html; charset=gbk", "x; charset=\xff"])
)
def test_bytes(body: bytes, content_type: str | None) -> None:
    """Any bytes give a text, under any header."""
    strip_chrome(body, content_type=content_type).text.encode()
    assert parse(body, content_type=content_type).encoding


@given(st.text(alphabet="ab \n\t\u3000", max_size=40), st.integers(1, 9))
def test_squeeze_by_pieces(text: str, piece: int) -> None:
    """Long texts are squeezed piece by piece to the same result."""
    assert squeeze_spaces(text, piece) == " ".join(text.split())


@given(SOUP)
def test_untagged_soup(html: str) -> None:
    """What is not parsed has no tag left, and no text that was not there."""
    data = unparsed.visible_part(html.encode("utf-8", "replace"))
    for text in (unparsed.text_in_one_piece(data), " ".join(unparsed.split_lines(data))):
        assert "<p>" not in text.replace("&lt;", "")
        assert set(text) <= set(html) | set(json.dumps(text)) | {"\ufffd"}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(html=SOUP, size=st.integers(1, 9))
def test_outside_by_pieces(html: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a piece ends makes no difference, be it within a tag or a less-than sign its last."""
    data = html.encode("utf-8", "replace")
    whole = unparsed.text_in_one_piece(data)
    with monkeypatch.context() as patch:
        patch.setattr(unparsed, "PIECE", size)
        assert unparsed.text_in_one_piece(data) == whole


def test_signs_that_are_no_tags_stay() -> None:
    """Beyond what is parsed, too."""
    text = "1 < 2, 3 > 2 and a<b> <"
    assert unparsed.text_in_one_piece(text.encode()) == "1 < 2, 3 > 2 and a <"
