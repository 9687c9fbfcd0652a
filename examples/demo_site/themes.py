"""What surrounds the text on each of the three sites: three hands, three kinds of HTML."""

from __future__ import annotations

from html import escape

from .pages import DemoPage, of_host

# The handbook is old: some of its pages come in the encodings of their day.
ENCODINGS = {"ru": "windows-1251", "el": "iso-8859-7", "ja": "euc-jp"}


def encoding(page: DemoPage) -> str:
    """The encoding in which a page is sent."""
    return ENCODINGS.get(page.language, "utf-8") if page.host == "coast" else "utf-8"


def render(page: DemoPage, hosts: dict[str, str], edition: int) -> str:
    """The HTML of a page; ``hosts`` says at which address each site stands."""
    title, paragraphs = page.title_and_paragraphs(edition)
    body = "\n".join(f"<p>{escape(p)}</p>" for p in paragraphs)
    if page.view in ("home", "index", "noindex"):
        body += _list(_listed(page), edition)
    robots = '<meta name="robots" content="noindex">' if page.view == "noindex" else ""
    head = (
        f'<head><meta charset="{encoding(page)}"><title>{escape(title)} | {NAMES[page.host]}'
        f"</title>{robots}<style>body {{ margin: 2em }}</style></head>"
    )
    if page.view in ("print", "bare"):
        inside = f"<h1>{escape(title)}</h1>\n{body}"
    else:
        inside = _THEMES[page.host](page, escape(title), body, hosts, edition)
    return f'<!doctype html>\n<html lang="{page.language}">{head}\n<body>{inside}</body></html>\n'


NAMES = {"gazette": "Harbour Gazette", "tidewire": "Tidewire", "coast": "Cold Coast Handbook"}


def _listed(page: DemoPage) -> list[DemoPage]:
    """The pages to which an index page leads."""
    own = [p for p in of_host(page.host) if p is not page]
    if page.view == "noindex":
        return [p for p in own if p.view == "unlisted"]
    if page.view == "index":
        return [p for p in own if p.path.startswith(page.path)]
    return [p for p in own if p.view in ("article", "boat", "index") and "/guides/" not in p.path]


def _list(pages: list[DemoPage], edition: int) -> str:
    items = (
        f'<li><a href="{p.path}">{escape(p.title_and_paragraphs(edition)[0])}</a></li>'
        for p in pages
    )
    return f'\n<ul class="teasers">{"".join(items)}</ul>'


def _related(page: DemoPage, edition: int, count: int) -> str:
    """Links to the pages that follow this one, round and round."""
    ring = [p for p in of_host(page.host) if p.view in ("article", "boat")]
    at = ring.index(page) if page in ring else 0
    return _list([ring[(at + n) % len(ring)] for n in range(1, count + 1)], edition)


def _gazette(page: DemoPage, title: str, body: str, hosts: dict[str, str], edition: int) -> str:
    slug = page.path.rsplit("/", 1)[-1]
    printable = any(p.path == f"/print/{slug}" for p in of_host("gazette"))
    tools = f'<a href="/print/{slug}">Print this article</a> ' if printable else ""
    return f"""
<div role="dialog" class="cookie-consent" aria-label="Consent"><p>We use cookies to count our
readers and to remember that you have seen this notice.</p><button>Accept all</button></div>
<header><a href="/">Harbour Gazette</a><p>Printed on the quay since 1921</p>
<nav><ul><li><a href="/">News</a></li><li><a href="/guides/">Leaflets</a></li>
<li><a href="/tides/today">Tides</a></li><li><a href="/opening-hours">Opening hours</a></li>
</ul></nav></header>
<main><article><h1>{title}</h1>
{body}
</article></main>
<aside><h2>More from the harbour</h2>{_related(page, edition, 4)}
<p>Subscribe to our letter and read it before the milk comes.</p></aside>
<footer><p>{tools}<a href="/archive">Archive</a> <a href="/tides/yesterday">Yesterday's tides</a>
<a href="/old/ferry">Ferry</a> <a href="/tide-table.csv">Tide table (CSV)</a>
<a href="/harbour.png">Picture of the day</a> <a href="/lost">Lost and found</a>
<a href="/elsewhere">Our printer</a> <a href="/private/ledger">Ledger</a>
<a href="/login" rel="nofollow">Log in</a> <a href="{hosts["coast"]}/">Handbook</a></p>
<p>&copy; Harbour Gazette. All rights reserved.</p></footer>
<script>window.counter = (window.counter || 0) + 1;</script>
"""


def _tidewire(page: DemoPage, title: str, body: str, hosts: dict[str, str], edition: int) -> str:
    return f"""
<div id="topbar" class="navbar"><div class="logo"><a href="/">TIDEWIRE</a></div>
<div class="menu"><a href="/">Top stories</a> <a href="/world/zh">World</a>
<a href="{hosts["gazette"]}/">Partner: Harbour Gazette</a></div>
<div class="login-box"><a href="/login" rel="nofollow">Sign in</a></div></div>
<div class="breadcrumbs"><a href="/">Home</a> &raquo; Stories</div>
<div id="wrapper"><div class="content"><h1>{title}</h1>
{body}
</div>
<div class="share-buttons"><a href="/login" rel="nofollow">Share</a> <span>214 shares</span></div>
<div class="sidebar widget"><h3>Most read on Tidewire</h3>{_related(page, edition, 6)}</div></div>
<div class="newsletter-signup"><h3>The coast in your inbox</h3><p>Every morning, five stories.</p>
<form><input name="email"><button>Sign up</button></form></div>
<div id="footer" class="footer"><p>Tidewire is published by nobody in particular. Terms of use.
Privacy policy. Imprint.</p></div>
"""


def _coast(page: DemoPage, title: str, body: str, hosts: dict[str, str], edition: int) -> str:
    facts = ""
    if page.view == "boat":
        facts = "<h2>About this boat</h2>"
    return f"""
<nav class="toc sidebar" role="navigation"><a href="/">Cold Coast Handbook</a>
<ul><li><a href="/mirror/guides/">Seamanship leaflets (mirror)</a></li></ul>
{_related(page, edition, 12)}</nav>
<div class="breadcrumbs" role="navigation"><a href="/">Handbook</a> / <span>Page</span></div>
<div role="main" class="document"><h1>{title}</h1>
{facts}
{body}
</div>
<div class="page-nav" role="navigation"><a href="/">Previous</a> <a href="/">Next</a></div>
<div class="feedback"><p>Was this page helpful?</p><button>Yes</button><button>No</button></div>
<footer role="contentinfo"><p>Maintained by the pilots' association.
<a href="{hosts["gazette"]}/guides/">Source of the leaflets</a></p></footer>
"""


_THEMES = {"gazette": _gazette, "tidewire": _tidewire, "coast": _coast}
