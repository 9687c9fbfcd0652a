"""What a page is known by; URLs of hostile length: nothing takes them apart."""

from __future__ import annotations

import random

import pytest
from w3lib.url import canonicalize_url

from crawler.dedup import DuplicateIndex
from crawler.dedup.config import DedupConfig
from crawler.dedup.identity import _PLAIN, LONGEST_URL, identity, resolved
from crawler.pipelines.item_pages.page_reader import PageReader
from crawler.spiders.links import NewLinks

LONG = "http://a/" + "../" * LONGEST_URL


PIECES = [
    *"aaz09./-_~:@ ?#%+A\né²", *"aaz09///", "..", "www.", "xn--", "-a", ":80", ":443", ":8080",
    "%7e", "%41", "/b", "/c.", "/.", "index.html", "~me", "127.0.0.1", "a" * 64,
]  # fmt: skip


def test_a_plain_url_is_canonical() -> None:
    """Of what is taken as it stands, nothing would be brought into another form."""
    draws = random.Random(5)
    plain = set()
    while len(plain) < 1000:
        scheme = draws.choice(["http://", "https://"])
        url = scheme + "".join(draws.choices(PIECES, k=draws.randrange(2, 9)))
        if _PLAIN.fullmatch(url):
            plain.add(url)
    for url in plain:
        assert canonicalize_url(url) == url
        assert identity(url, canonical=True) == identity(url, canonical=False) == url


@pytest.mark.parametrize(
    "url",
    ["http://A.com/", "http://a.com", "http://a.com/%7e", "http://a.com/#b", "http://a.com/b\n"],
)
def test_what_is_not_canonical_is_made_so(url: str) -> None:
    """Capitals, a missing path, escapes, fragments and line ends are no part of plain URLs."""
    assert identity(url, canonical=True) == canonicalize_url(url) != url


@pytest.mark.parametrize("route", ["#/", "#/tea?pot=1", "#!/tea"])
def test_the_routes_of_an_application_are_pages(route: str) -> None:
    """A browser renders another page for each; other fragments are places in one page."""
    url = f"http://a.com/app{route}"
    assert identity(url, canonical=True) == url
    assert identity("http://a.com/app#a/b", canonical=True) == "http://a.com/app"


@pytest.mark.parametrize(
    "name", ["book#2", "C#", "/data/a#b.jsonl:7", "a?b=2&a=1", "urn:isbn:1#2", "C:\\b#1", "a b"]
)
def test_a_name_that_is_no_url_stays(name: str) -> None:
    """Chapters of a book are no places in one page, of which a load would keep the last alone."""
    assert identity(name, canonical=True) == name


@pytest.mark.parametrize("url", ["file:///a#b", "HTTP://a/#b", " http://a/#b", "//a/b#c"])
def test_urls_of_other_forms_are_made_canonical(url: str) -> None:
    """A file is a page, too, and the place in it is none."""
    assert identity(url, canonical=True) == canonicalize_url(url) != url


def test_an_endless_url_is_a_name_as_it_stands() -> None:
    """It is cut and hashed, without being brought into canonical form first."""
    short, long = ("http://a/?b=2&a=1" + "x" * count for count in (9, LONGEST_URL))
    assert identity(short, canonical=True).startswith("http://a/?a=1x")
    assert identity(long, canonical=True).startswith("http://a/?b=2")
    assert identity(long, canonical=True) != identity(f"{long}x", canonical=True)
    assert len(identity(long, canonical=True)) < 3000


@pytest.mark.parametrize("canonical", [True, False])
@pytest.mark.parametrize("middle", ["b=2&a=1" + "x" * 3000, "q=" + "%e4%bd%a0" * 500, "a\n" * 3000])
def test_what_a_long_url_is_known_by_is_itself(middle: str, canonical: bool) -> None:
    """A list of clusters and the web pages show that form, and people ask for a page with it."""
    known = identity(f"http://a/?{middle}", canonical=canonical)
    assert len(known) == 2033
    assert identity(known, canonical=canonical) == known


async def test_a_page_is_found_by_what_its_long_url_is_known_by(redis_url: str) -> None:
    """It can be shown, and forgotten."""
    url = "http://a/?b=2&a=1" + "x" * 3000
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        await index.check(url, "a page with an address that goes on and on and on")
        record = await index.show(url)
        assert record is not None
        assert record.url != url
        assert await index.show(record.url) == record
        assert await index.forget(record.url)
        assert await index.show(url) is None


def test_an_endless_url_is_no_link() -> None:
    """Neither as the URL that a page names as canonical nor in its text."""
    assert resolved("http://a/b", LONG) is None
    reader = PageReader(DedupConfig(), lambda name: None)
    item = {"url": "http://a/b", "text": "tea", "canonical": LONG}
    assert reader.read(item).canonical is None
    assert list(NewLinks(lambda url: True).resolve_links([LONG, "c"], "http://a/b")) == [
        "http://a/c"
    ]
