"""When a page was published, as the page says."""

import json

import pytest

from crawler.chrome import parse, published, read_tree


def linked(*things: object) -> str:
    return "".join(
        f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things
    )


ARTICLE = {"@type": "NewsArticle", "datePublished": "2026-05-01T10:00:00+02:00"}


@pytest.mark.parametrize(
    ("html", "date"),
    [
        ('<meta property="article:published_time" content=" 2026-05-01 ">', "2026-05-01"),
        ('<meta itemprop="datePublished" content="2026-05-02">', "2026-05-02"),
        ('<meta name="datePublished" content="2026-05-03">', "2026-05-03"),
        ('<meta name="DC.Date" content="2026-05-04">', "2026-05-04"),
        ('<meta name="PubDate" content="2026-05-04 09:52">', "2026-05-04 09:52"),
        ("<p>by Ann, <time pubdate datetime=2026-05-05>in May</time>", "2026-05-05"),
        ('<time itemprop="datePublished" datetime="2026-05-06">in May</time>', "2026-05-06"),
        (linked({"@type": "Organization"}, ARTICLE), ARTICLE["datePublished"]),
        (linked([ARTICLE]), ARTICLE["datePublished"]),
        (linked({"@graph": [{"@type": "WebSite"}, ARTICLE]}), ARTICLE["datePublished"]),
        (linked(ARTICLE).replace("+json", "+JSON; charset=utf-8"), ARTICLE["datePublished"]),
        (linked(ARTICLE).replace("Article", "Article\n\tof today"), ARTICLE["datePublished"]),
    ],
)
def test_where_pages_say_it(html: str, date: str) -> None:
    """The date comes as it stands in the page, wherever pages use to say it."""
    assert published(parse(f"<html><head>{html}</head><p>Tea</p>")) == date


def test_the_surest_first() -> None:
    """Meta tags go before elements, these before JSON-LD, which goes before other meta tags.

    The first of a kind counts.
    """
    meta = '<meta property="article:published_time" content="2026-01-0{}">'
    element = "<time pubdate datetime=2025-01-01>x</time>"
    other = '<meta name="date" content="2024-01-01">'
    assert published(parse(other + linked(ARTICLE))) == ARTICLE["datePublished"]
    assert published(parse(linked(ARTICLE) + element)) == "2025-01-01"
    assert published(parse(element + meta.format(1) + meta.format(2))) == "2026-01-01"


@pytest.mark.parametrize(
    "html",
    [
        "<p>2026-05-01",
        "<time datetime=2026-05-01>a match is played then</time>",
        '<meta property="article:modified_time" content="2026-05-01">',
        '<meta property="article:published_time" content="{{date}}">',
        f'<meta property="article:published_time" content="2026{" " * 1000}x">',
        linked({"review": ARTICLE}),
        linked({"datePublished": 2026}, 7, None, [7], {"@graph": 7}, {"@graph": [7]}),
        '<script type="application/ld+json">{"datePublished": "2026</script>',
        f'<script type="application/ld+json">{"[" * 100_000}"datePublished"</script>',
    ],
)
def test_no_date_of_publication(html: str) -> None:
    """Other dates, dates of reviews inside the page, and nonsense are none."""
    assert published(parse(html)) is None


def test_a_broken_script_does_not_hide_the_next() -> None:
    """Each script of JSON-LD is read by itself."""
    broken = '<script type="application/ld+json">{"datePublished": </script>'
    assert published(parse(broken + linked(ARTICLE))) == ARTICLE["datePublished"]


def test_a_tree_has_the_same_date() -> None:
    """A page that somebody else has parsed names its date, too."""
    from lxml import etree

    html = f"<html><head>{linked(ARTICLE)}</head><body><p>Tea</p></body></html>"
    assert published(read_tree(etree.HTML(html))) == ARTICLE["datePublished"]
