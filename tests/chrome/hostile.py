"""Pages that are made to hurt: some large ones, and any soup of tags."""

from __future__ import annotations

import random
from functools import cache

from hypothesis import strategies as st

from crawler.chrome.page.elements import DEEPEST

MILLION = 1_000_000
MEGABYTE = 1 << 20


@cache
def hostile_pages() -> dict[str, bytes]:
    """Return pages that hurt, by what they have very much of; most have the word needle."""
    return {
        "text": b"<p>" + b"word " * MILLION + b"needle</p>",
        "a word": b"<p>needle " + b"x" * (5 * MEGABYTE),
        "nested tags": b"<div>" * MILLION + b"needle" + b"</div>" * MILLION,
        "nested and never closed": b"<div>x" * 200_000 + b" needle",
        "nested inline tags": b"<b>" * MILLION + b"needle",
        "inline tags that nobody closes": b"<font color=red size=2>tea " * 5000 + b"<p>needle",
        "nested lists": b"<ul><li>x" * 100_000 + b" needle",
        "nested tables": b"<table><tr><td>" * 100_000 + b"needle",
        "nested links": b"<a href=x>y" * 100_000 + b"needle",
        "just not too deep": b"<div>" * (DEEPEST - 2) + b"<p>needle",
        "attributes": b"<div " + b" ".join(b"a%d=1" % i for i in range(MILLION)) + b"><p>needle",
        "attributes without values": b"<div " + b"a " * MILLION + b"><p>needle",
        "quoted attributes": b"<p " + b" ".join(b"a%d='<>'" % i for i in range(300_000))
        + b">needle",
        "attributes behind signs in quotes": b"<p " + b"".join(
            b"a%d " % i + (b'q%d="<a>" ' % i if i % 1000 == 0 else b"") for i in range(40_000)
        ) + b">needle",
        "attributes in many tags": 50
        * (b"<p " + b" ".join(b"a%d" % i for i in range(7000)) + b">x")
        + b"<p>needle",
        "unclosed quote": b"<p>needle<a " + b" x" * 200_000 + b"='",
        "attribute value": b'<div class="' + b"menu " * MILLION + b'" id="' + b"x" * MEGABYTE
        + b'" style="' + b"a:b;" * 100_000 + b'"><p>needle',
        "many classes": b"".join(b'<p class="c%d">x' % i for i in range(50_000)) + b"<p>needle",
        "title": b"<title>" + b"word " * MILLION + b"</title>" + b"<p>others" * 2000 + b"<p>needle",
        "entities": b"<p>" + b"&amp;&foo;&#0;&#xD800;&#99999999;" * 100_000 + b" needle",
        "a number for an entity, deep": b"<div>" * 3000 + b"needle &#" + b"9" * 5000 + b"; x",
        "a number for an entity, late": b"<p>x" * 60_000 + b"needle &#" + b"0" * MILLION + b"65",
        "half entities": b"<p>" + b"&" * MILLION + b"&#" * 100_000 + b" needle",
        "zero bytes": b"<p>nee\0dle</p>\0" * 1000 + b"<p>needle</p>" + b"\0" * MILLION,
        "paragraphs": b"<p>x" * 500_000 + b"<p>needle",
        "table": b"<table>" + b"<tr><td>1<td>2" * 300_000 + b"<tr><td>needle",
        "links": b"<a href=x>y</a>" * 200_000 + b"needle",
        "line breaks": b"x<br>" * 400_000 + b"needle",
        "scripts": b"<script>document.write('<p>x</p>')</script>" * 100_000 + b"<p>needle",
        "scripts that write": b"<p>needle"
        + b"<script>document.write('<p>x')</script><p>x" * 50_000,
        "unclosed script, deep": b"<p>needle" + b"<div>" * 3000 + b"<script>" + b"<div>x" * 100_000,
        "comments": b"<!-- x -->" * 300_000 + b"needle",
        "a comment that never ends": b"<p>needle<!--" + b"<p>x" * 300_000,
        "metas": b"<meta name=robots content=x>" * 100_000 + b"<p>needle",
        "linked data": b'<p>needle<script type="application/ld+json">' + b"[" * MILLION,
        "less-than signs": b"<p>needle" + b"<" * MILLION,
        "instructions": b"<?x ?>" * 300_000 + b"<p>needle",
        "selects": b"<select><option>x" * 100_000 + b"</select>needle",
        "mis-nested": b"<b><p><i></b>x</p></i>" * 100_000 + b"<p>needle",
        "bad bytes": b"<p>\xff\xfe\x80 " * 100_000 + b"<p>needle",
        "random bytes": b"<p>needle<p>" + random.Random(1).randbytes(MEGABYTE),
    }  # fmt: skip


_TAGS = ["p", "div", "a href=x", "b", "td", "table", "li", "ul", "pre", "nav", "h1", "br", "script",
         "button", "form", "svg", "title", "noscript", "select", "p hidden", "template",
         "time pubdate datetime=2026", "meta name=robots content=x", "math", "frameset",
         "script type=application/ld+json", "textarea", "body", "html", "head", "base href=x",
         "p style=x", "ruby", "rt", "rb", "x-y",
         "i style=display:none", "i aria-hidden=true", "mi", "mtd", "annotation",
         "mfrac", "mroot", "msup", "sup", "br",
         "i class=ln", "i class=line style=user-select:none", "b>12<i",
         "xmp", "output"]  # fmt: skip
SOUP = st.lists(
    st.one_of(
        st.sampled_from(_TAGS).map("<{}>".format),
        st.sampled_from(_TAGS).map(lambda tag: f"</{tag.split()[0]}>"),
        st.text(max_size=20),
        st.sampled_from(["<!--", "-->", "&amp;", "&#0;", "<", ">", '"', "\0", "]]>", "<?", "<!"]),
    ),
    max_size=60,
).map("".join)
