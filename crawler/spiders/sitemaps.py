"""The addresses in a sitemap: XML, a feed, or a list of lines (sitemaps.org, "Protocol")."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any

from lxml import etree
from scrapy.utils.sitemap import Sitemap

# RSS of all versions, and Atom.
_OF_FEEDS = etree.XPath(
    "//*[local-name() = 'item']/*[local-name() = 'link']/text()"
    " | //*[local-name() = 'entry']"
    "/*[local-name() = 'link' and (not(@rel) or @rel = 'alternate')]/@href"
)


def read_sitemap(body: bytes) -> tuple[bool, Iterator[str]]:
    r"""Whether the addresses in a sitemap are those of other sitemaps, and the addresses.

    Raises ``ValueError`` or lxml's ``XMLSyntaxError`` for what is none.

    >>> of_sitemaps, urls = read_sitemap(b"https://example.com/a\nhttps://example.com/b\n")
    >>> of_sitemaps, list(urls)
    (False, ['https://example.com/a', 'https://example.com/b'])
    """
    text = body.removeprefix(BOM_UTF8).lstrip()
    if text.startswith(b"http"):
        lines = map(str.strip, text.decode("utf-8", "replace").splitlines())
        return False, (line for line in lines if line.startswith("http"))
    try:
        sitemap = Sitemap(text)
    except StopIteration:
        raise ValueError("it is empty, or no XML") from None
    if sitemap.type in ("urlset", "sitemapindex"):
        return sitemap.type == "sitemapindex", (entry["loc"] for entry in sitemap)
    if sitemap.type not in ("rss", "RDF", "feed"):
        raise ValueError(f"it is a document of the type {sitemap.type!r}")
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True)
    found: Any = _OF_FEEDS(etree.fromstring(text, parser))
    return False, (str(url).strip() for url in found)
