"""A text is one page, whether it comes as HTML, plain text, PDF, Word or EPUB."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.http import Response

from crawler.files import can_read_files
from crawler.spiders.responses import is_document
from tests.files.made import make_epub, make_pdf, make_word, pack
from tests.pipelines.crawls import crawl, prose
from tests.spiders.webserver import Answer, Web

pytestmark = pytest.mark.skipif(not can_read_files(), reason="needs the extra `files`")

TEXT = prose(1, 400)
LINES = textwrap.wrap(TEXT, 80)
TYPES = {
    "/a.pdf": ("application/pdf", make_pdf([LINES[:30], LINES[30:]])),
    "/a.docx": ("application/octet-stream", make_word([TEXT])),
    "/a.epub": ("application/epub+zip", make_epub([[TEXT]], "Tea")),
    "/a.txt": ("text/plain; charset=utf-8", TEXT.encode()),
    "/a.md": ("text/markdown; charset=utf-8", f"# Tea\n\n{TEXT}".encode()),
    "/hurt.pdf": ("application/pdf", b"%PDF-1.4"),
}


def serve(web: Web) -> None:
    web.page("/", *TYPES, text=prose(2, 200))
    for path, (kind, body) in TYPES.items():
        web.answers[path] = Answer(body, {"Content-Type": kind})


async def test_site_finds_copies_in_files(web: Web, redis_url: str) -> None:
    """One of the five is kept; what cannot be read passes unchecked. A spreadsheet is no page."""
    serve(web)
    web.page("/", *TYPES, "/a.xlsx", text=prose(2, 200))
    sheet = pack({"xl/workbook.xml": "<workbook/>"})
    web.answers["/a.xlsx"] = Answer(sheet, {"Content-Type": "application/octet-stream"})
    stats = await crawl(web, DEDUP_REDIS_URL=redis_url)
    assert stats["dedup/unique"] == 2
    assert stats.get("dedup/exact", 0) + stats.get("dedup/near", 0) == 4
    assert stats["dedup/files"] == 3
    assert (stats["dedup/unchecked"], stats["dedup/files/unreadable"]) == (1, 1)
    assert stats["site/other_content_types/application/octet-stream"] == 1


class Titles(Spider):
    """Yields of each response but its URL's end, as projects do that look for files."""

    name = "titles"

    async def start(self) -> Any:
        for path in TYPES:
            yield Request(self.url + path)

    def parse(self, response: Response) -> Any:
        yield {"name": response.url[-6:]}


async def test_any_spider_finds_copies_in_files(web: Web, redis_url: str) -> None:
    """The page is the response, also where that is a file."""
    serve(web)
    stats = await crawl(web, spider=Titles, DEDUP_REDIS_URL=redis_url)
    assert stats["dedup/unique"] == 1
    assert stats.get("dedup/exact", 0) + stats.get("dedup/near", 0) == 4
    assert stats["dedup/no_page/file"] == 1


@pytest.mark.parametrize(("part", "is_page"), [("word/document2.xml", True), ("xl/a.xml", False)])
def test_word_names_its_main_part_as_it_likes(part: str, is_page: bool) -> None:
    """A file from the web version of Word has another name there, and is a page all the same."""
    body = b"PK\x03\x04" + part.encode()
    assert is_document(Response("http://site/a", body=body)) is is_page
