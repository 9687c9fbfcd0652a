"""Pages made to hurt cost bounded time and never raise."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.chrome import parse, strip_chrome
from crawler.chrome.blocks import squeeze

SECONDS = 20  # far above what each takes, far below what the quadratic ways take

HOSTILE = {
    "deep": b"<div>" * 300_000 + b"needle" + b"</div>" * 300_000,
    "deep inline": b"<b>" * 300_000 + b"needle",
    "deep lists": b"<ul><li>x" * 50_000 + b" needle",
    "deep tables": b"<table><tr><td>" * 50_000 + b"needle",
    "attributes": b"<div " + b" ".join(b"a%d=1" % i for i in range(500_000)) + b">needle</div>",
    "quoted attributes": b"<p " + b" ".join(b"a%d='<>'" % i for i in range(300_000)) + b">needle",
    "attribute value": b'<div class="' + b"menu " * 4_000_000 + b'">needle</div>',
    "text": b"<p>" + b"word " * 4_000_000 + b"needle</p>",
    "entities": b"<p>" + b"&amp;&foo;&#0;&#xD800;&#99999999;" * 100_000 + b" needle",
    "zero bytes": b"<p>nee\0dle</p>\0" * 1000 + b"<p>needle</p>",
    "paragraphs": b"<p>needle" * 150_000,
    "cells": b"<table>" + b"<tr><td>1<td>2" * 100_000 + b"<tr><td>needle",
    "links": b"<a href=x>y" * 200_000 + b"needle",
    "scripts": b"<script>x</script>" * 100_000 + b"<p>needle",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_bounded(name: str) -> None:
    """The text is still found, within seconds."""
    began = time.process_time()
    found = strip_chrome(HOSTILE[name])
    assert time.process_time() - began < SECONDS
    assert "needle" in found.text or any("needle" in block.text for block in found.blocks)


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
    assert len(found.hashes()) == max(len(found.blocks) - 1, 0)


def test_lone_surrogates_do_not_survive() -> None:
    """The text of a page can be written as UTF-8."""
    found = strip_chrome("<title>\ud800</title><p>tea \udfff time</p>")
    (found.text + found.title).encode()
    assert "tea" in found.text


_TAGS = ["p", "div", "a href=x", "b", "td", "table", "li", "ul", "pre", "nav", "h1", "br", "script",
         "button", "form", "svg", "title", "noscript", "select", "p hidden"]  # fmt: skip
_SOUP = st.lists(
    st.one_of(
        st.sampled_from(_TAGS).map("<{}>".format),
        st.sampled_from(_TAGS).map(lambda tag: f"</{tag.split()[0]}>"),
        st.text(max_size=20),
        st.sampled_from(["<!--", "-->", "&amp;", "&#0;", "<", ">", '"', "\0", "]]>", "<?", "<!"]),
    ),
    max_size=60,
).map("".join)


@settings(deadline=None)
@given(_SOUP)
def test_soup(html: str) -> None:
    """Any soup of tags gives text that consists of the kept blocks; no text block is lost."""
    found = strip_chrome(html)
    blocks = found.blocks
    assert found.text == "\n".join(block.text for block in blocks if block.kept)
    assert bool(found.text) == bool(blocks)
    found.text.encode()


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
    assert squeeze(text, piece) == " ".join(text.split())
