"""Only what is HTML becomes a page, and no big file is fetched to its end."""

from __future__ import annotations

import pytest

from tests.spiders.webserver import Answer, Crawl, Web


async def test_only_html_becomes_a_page(web: Web, crawl: Crawl) -> None:
    """Other content types are counted under their names and skipped."""
    web.page("/", "/file", "/picture", "/xhtml", "/none", "/twice")
    web.answers["/file"] = Answer(b"%PDF-1", {"Content-Type": "application/pdf; x=y"})
    web.answers["/picture"] = Answer(b"\x89PNG", {"Content-Type": "image/png"})
    web.answers["/xhtml"] = Answer(b"<p>x</p>", {"Content-Type": "application/xhtml+xml"})
    web.answers["/twice"] = Answer(b"<p>x</p>", {"Content-Type": "text/html, text/html"})
    web.answers["/none"] = Answer(b"<!doctype html><html><p>x</p></html>", {})
    result = await crawl(DEDUP_FILES=False)
    assert result.paths == ["/", "/none", "/twice", "/xhtml"]
    assert result.stats["site/other_content_types/application/pdf"] == 1
    assert result.stats["site/other_content_types/image/png"] == 1


@pytest.mark.parametrize("said", ["html", "text / html", "*/*", "unknown/unknown"])
async def test_a_type_that_says_nothing_is_none(web: Web, crawl: Crawl, said: str) -> None:
    """Browsers look at the body then, and show a page."""
    web.page("/", "/page", "/file")
    web.page("/page", Content_Type=said)
    web.answers["/file"] = Answer(b"\x89PNG\r\n\x1a\n" + bytes(99), {"Content-Type": said})
    result = await crawl()
    assert result.paths == ["/", "/page"]
    assert result.stats["site/other_content_types/unknown"] == 1


async def test_a_file_that_is_called_a_page_has_no_text(web: Web, crawl: Crawl) -> None:
    """Two PDFs with the same fonts were copies of each other; what the server says stays a page."""
    web.page("/", "/download?id=1")
    web.answers["/download?id=1"] = Answer(
        b"%PDF" + bytes(range(256)) * 9, web.answers["/"].headers
    )
    page, file = sorted((await crawl()).items, key=lambda item: item.url)
    assert page.main is not None
    assert (file.main, file.text) == (None, "")


async def test_a_server_cannot_fill_the_statistics_with_types(web: Web, crawl: Crawl) -> None:
    """A hundred content types have counts of their own, all others one together."""
    paths = [f"/{number}" for number in range(130)]
    web.page("/", *paths)
    for path in paths:
        web.answers[path] = Answer(b"x", {"Content-Type": f"made/up{path[1:]}"})
    stats = (await crawl()).stats
    counts = {k: v for k, v in stats.items() if k.startswith("site/other_content_types/")}
    assert len(counts) == 101
    assert counts["site/other_content_types/others"] == 30


async def test_a_big_file_is_not_downloaded_to_its_end(web: Web, crawl: Crawl) -> None:
    """The content type decides before megabytes have come through the line."""
    web.page("/", "/film")
    web.answers["/film"] = Answer(b"0" * 30_000_000, {"Content-Type": "video/mp4"})
    result = await crawl()
    assert result.stats["site/other_content_types/video/mp4"] == 1
    assert result.stats["downloader/response_bytes"] < 100_000
