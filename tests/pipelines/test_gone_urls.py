"""URLs that lead to no page any more are told to the index."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time

import pytest
from scrapy.http import Request, Response

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.pipelines import DroppedPage, ExactDuplicate, gone, reporting
from tests.pipelines.stories import ARTICLE, OTHER, SOON
from tests.support.texts import article
from tests.support.texts import text as text_of


async def keep_and_lose(bench) -> None:
    """A page is kept, and then its URL is gone."""
    request = Request("http://a/gone")
    await bench.process({"url": request.url, "text": ARTICLE})
    bench.pipeline.crawl.gone.note_response(Response(request.url, status=404), request)


async def test_urls_gone_while_the_server_hangs(open_bench, start_server):
    """What cannot be reported waits, and the pages after it are kept for later as all others."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=1.2)
    await keep_and_lose(bench)
    server.process.send_signal(signal.SIGSTOP)
    started = asyncio.get_running_loop().time()
    for number in range(20):
        item = await bench.process({"url": f"http://a/{number}", "text": OTHER})
        assert item["dedup"]["kind"] == "unchecked"
    assert asyncio.get_running_loop().time() - started < 4 * 1.2
    assert bench.pipeline.crawl.opened.spooled() == ((20, 0), (0, 0))
    server.process.send_signal(signal.SIGCONT)
    await asyncio.sleep(1.5)
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert (item["dedup"]["kind"], item["dedup"]["replaces"]) == ("unique", "http://a/gone")
    assert bench.stats["dedup/gone"] == 1


async def test_many_urls_gone_do_not_hold_up_pages(open_bench, monkeypatch):
    """While there is no answer a page asks once, and not for each; with it, for all before it."""
    bench = await open_bench(drop="")
    urls = [f"http://a/{number}" for number in range(100)]
    await bench.process({"url": urls[7], "text": ARTICLE})
    found = [(url, int(time.time())) for url in urls]
    bench.pipeline.crawl.gone.waiting.extend(found)
    asked = []

    async def silent(url: str, since: int) -> bool:
        asked.append(url)
        raise ServerError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(bench.pipeline.crawl.opened, "gone", silent)
        for number in range(10):
            await bench.process({"url": f"http://b/{number}", "text": OTHER})
    assert len(asked) == 100 + 9
    assert sorted(bench.pipeline.crawl.gone.waiting) == sorted(found)
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert (item["dedup"]["replaces"], len(bench.pipeline.crawl.gone.waiting)) == (urls[7], 0)


async def test_urls_gone_without_an_answer_to_the_end(open_bench, start_server):
    """What could not be reported when the crawl ends is reported by the next one at its start."""
    server = start_server()
    first = await open_bench(redis_url=server.url, timeout=SOON)
    await keep_and_lose(first)
    server.process.send_signal(signal.SIGSTOP)
    await first.pipeline.close_spider()
    first.pipeline.crawl.opened = None  # it is closed
    server.process.send_signal(signal.SIGCONT)
    following = await open_bench(redis_url=server.url)
    assert following.pipeline.crawl.opened.spooled() == ((0, 0), (0, 0))
    assert (await following.pipeline.crawl.opened.show("http://a/gone")).gone is not None


@pytest.mark.parametrize("is_closed", [False, True])
async def test_a_url_that_was_there_again_before_its_report(
    open_bench, start_server, monkeypatch, is_closed
):
    """Seen alive by another crawl between its 404 and the report, which comes with the next page or
    out of the spool: it keeps its place.
    """
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON, drop="")
    clock = time.time()
    monkeypatch.setattr(time, "time", lambda: clock)
    await keep_and_lose(bench)
    clock += 60
    async with DuplicateIndex.open(DedupConfig(redis_url=server.url, seed=7)) as other:
        assert (await other.check("http://a/gone", ARTICLE)).kind is Kind.UNCHANGED
    clock += 60
    if is_closed:
        server.process.send_signal(signal.SIGSTOP)
        await bench.pipeline.close_spider()
        bench.pipeline.crawl.opened = None  # it is closed
        server.process.send_signal(signal.SIGCONT)
        bench = await open_bench(redis_url=server.url, drop="")
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert item["dedup"]["kind"] == "exact"
    assert "replaces" not in item["dedup"]


async def test_many_urls_are_told_without_a_page(bench):
    """A crawl of an old list, where every URL is gone, tells the index as it goes on."""
    await bench.process({"url": "http://a/gone", "text": ARTICLE})
    for number in range(1000):
        url = f"http://a/{number}" if number else "http://a/gone"
        bench.pipeline.crawl.gone.note_response(Response(url, status=404), Request(url))
        await asyncio.sleep(0)
    await bench.pipeline.crawl.gone._report
    assert bench.stats["dedup/gone"] == 1
    assert len(bench.pipeline.crawl.gone.waiting) < 1000


async def test_more_urls_gone_than_are_remembered_are_kept(bench, monkeypatch):
    """Those that find no room, as the server gives no answer, go to the spool, and only those."""
    monkeypatch.setattr(gone, "MOST_GONE", 200)
    moved = Response("http://a/old", status=301, headers={"Location": "/set-cookie"})
    bench.pipeline.crawl.gone.note_redirect(moved, Request(moved.url))
    for number in range(250):
        bench.pipeline.crawl.gone.note_response(
            Response(f"http://a/{number}", status=410), Request(f"http://a/{number}")
        )
    assert (len(bench.pipeline.crawl.gone.waiting), bench.pipeline.crawl.opened.spooled()[0]) == (
        122,
        (0, 128),
    )


async def test_more_left_out_than_is_remembered(bench, monkeypatch, caplog):
    """While the index gives no answer so many URLs wait, and the log says so once."""
    monkeypatch.setattr(reporting, "MOST_LEFT_OUT", 200)

    async def silent(url: str) -> bool:
        raise ServerError("no answer")

    monkeypatch.setattr(bench.pipeline.crawl.opened, "leave_out", silent)
    for number in range(300):
        bench.pipeline.crawl.left_out.note_url(f"http://a/{number}")
        await asyncio.sleep(0)
    assert len(bench.pipeline.crawl.left_out.waiting) == 200
    assert caplog.text.count("200 URLs that are left out wait until the index answers") == 1


def redirected(gone, old: str, new: str) -> None:
    """A crawl asks for a URL and is led to a page elsewhere."""
    gone.note_redirect(Response(old, status=301, headers={"Location": new}), Request(old))
    gone.note_response(Response(new), Request(new, meta={"redirect_urls": [old]}))


async def test_a_page_that_is_known_by_the_url_before_redirects_is_not_gone(bench):
    """As of a list of URLs: what comes between the answer and its item takes no place."""
    old, new, copy = "http://a/old", "http://a/old/", "http://b/copy"
    await bench.process({"url": old, "text": ARTICLE})
    redirected(bench.pipeline.crawl.gone, old, new)
    with pytest.raises(ExactDuplicate):
        await bench.process({"url": copy, "text": ARTICLE})
    with pytest.raises(DroppedPage, match=f"repeated: '{old}'$"):
        await bench.process({"url": old, "text": ARTICLE})
    await bench.pipeline.crawl.gone.report_rest()
    assert "dedup/gone" not in bench.stats


@pytest.mark.parametrize("seconds", [60.0, -1.0])
async def test_who_waits_for_the_item_behind_a_redirect(bench, monkeypatch, seconds):
    """The page's own item finds its old URL gone; others do if none has come for long."""
    monkeypatch.setattr(gone, "_ITEM_TIMEOUT", seconds)
    old, new = "http://a/old", "http://a/new"
    await bench.process({"url": old, "text": ARTICLE})
    redirected(bench.pipeline.crawl.gone, old, new)
    await bench.process({"url": "http://a/other", "text": OTHER})
    assert bench.stats.get("dedup/gone", 0) == (seconds < 0)
    item = await bench.process({"url": new, "text": ARTICLE})
    assert item["dedup"]["replaces"] == old


async def test_redirects_whose_items_are_waited_for_are_bounded(bench, monkeypatch):
    """The first of many wait no longer; at the end of a crawl nobody does."""
    monkeypatch.setattr(gone, "_MOST_ENDED", 2)
    for number in range(5):
        with contextlib.suppress(ExactDuplicate):
            await bench.process({"url": f"http://a/{number}", "text": ARTICLE})
    for number in range(5):
        redirected(bench.pipeline.crawl.gone, f"http://a/{number}", f"http://a/new/{number}")
    assert len(bench.pipeline.crawl.gone.waiting) == 3
    await bench.pipeline.crawl.gone.report_rest()
    assert bench.stats["dedup/gone"] == 5


@pytest.mark.parametrize("end", [500, 403, None])
async def test_a_detour_without_an_end(bench, end):
    """A redirect for good to where no answer comes from tells of no URL that it is gone.

    As when the crawl ends on the way to where a cookie is set.
    """
    await bench.process({"url": "http://a/", "text": ARTICLE})
    gone = bench.pipeline.crawl.gone
    there = Request("http://a/set", meta={"redirect_urls": ["http://a/"]})
    gone.note_redirect(
        Response("http://a/", status=301, headers={"Location": "/set"}), Request("http://a/")
    )
    gone.note_followed(there)
    gone.note_redirect(Response(there.url, status=301, headers={"Location": "/"}), there)
    if end:
        gone.note_response(Response(there.url, status=end), there)
    await gone.report_rest()
    assert "dedup/gone" not in bench.stats
    assert bench.pipeline.crawl.opened.spooled() == ((0, 0), (0, 0))


@pytest.mark.parametrize(("is_followed", "is_whole"), [(False, True), (False, False), (True, True)])
async def test_a_redirect_to_another_host(bench, is_followed, is_whole):
    """Where the spider does not go there, the URL is gone; else the answer there tells it.

    A crawl that ends early may have a request for it that waits.
    """
    await bench.process({"url": "http://a/", "text": ARTICLE})
    gone = bench.pipeline.crawl.gone
    moved = Response("http://a/", status=308, headers={"Location": "http://b/"})
    gone.note_redirect(moved, Request("http://a/"))
    if is_followed:
        gone.note_followed(Request("http://b/", meta={"redirect_urls": ["http://a/"]}))
    if is_whole:
        gone.end_waiting()
    await gone.report_rest()
    assert bench.stats.get("dedup/gone", 0) == (is_whole and not is_followed)


@pytest.mark.parametrize("status", [404, 301])
async def test_only_who_asks_for_a_page_learns_that_it_is_gone(bench, status):
    """An answer to a form that is sent, or to HEAD, says nothing of the page at that URL."""
    await bench.process({"url": "http://a/", "text": ARTICLE})
    for method in ("POST", "HEAD"):
        request = Request("http://a/", method=method)
        answer = Response(request.url, status=status, headers={"Location": "/thanks"})
        bench.pipeline.crawl.gone.note_redirect(answer, request)
        bench.pipeline.crawl.gone.note_response(answer, request)
    await bench.pipeline.crawl.gone.report_rest()
    assert not bench.pipeline.crawl.gone.waiting
    assert "dedup/gone" not in bench.stats


async def test_an_answer_out_of_the_http_cache_tells_of_no_url_that_it_is_gone(bench):
    """The page may be there again for a long time."""
    cached = Response("http://a/back", status=404, flags=["cached"])
    bench.pipeline.crawl.gone.note_response(cached, Request(cached.url))
    assert not bench.pipeline.crawl.gone.waiting


async def test_urls_gone_when_a_page_is_cancelled(bench, monkeypatch):
    """The next page reports them."""
    await bench.process({"url": "http://a/gone", "text": ARTICLE})
    bench.pipeline.crawl.gone.waiting.append(("http://a/gone", int(time.time())))
    index = bench.pipeline.crawl.opened
    with monkeypatch.context() as patch:
        patch.setattr(index, "gone", lambda url, since: asyncio.sleep(60))
        page = asyncio.create_task(bench.process({"url": "http://a/1", "text": OTHER}))
        await asyncio.sleep(0.1)
        page.cancel()
        with pytest.raises(asyncio.CancelledError):
            await page
    item = await bench.process({"url": "http://a/copy", "text": ARTICLE})
    assert item["dedup"]["replaces"] == "http://a/gone"


async def test_urls_gone_at_the_same_time(bench, server):
    """They are reported in one exchange, before the page that comes next is checked."""
    urls = [f"http://a/{number}" for number in range(20)]
    for number, url in enumerate(urls):
        await bench.process({"url": url, "text": text_of(article(number))})
    for url in urls:
        bench.pipeline.crawl.gone.note_response(Response(url, status=404), Request(url))
    before = server.ask("INFO", "commandstats")["cmdstat_evalsha"]["calls"]
    item = await bench.process({"url": "http://a/copy", "text": text_of(article(7))})
    assert item["dedup"]["replaces"] == urls[7]
    assert bench.stats["dedup/gone"] == 20
    assert server.ask("INFO", "commandstats")["cmdstat_evalsha"]["calls"] - before <= 3


async def test_a_url_gone_that_cannot_be_noted(open_bench, start_server, monkeypatch):
    """It costs no page its check, and the end of the crawl still checks those that passed."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON)
    bench.pipeline.crawl.gone.waiting.extend([("http://a/bad", 1), ("http://a/gone", 1)])
    noted = []

    async def gone(url: str, since: int) -> bool:
        noted.append(url)
        if url == "http://a/bad":
            raise ZeroDivisionError
        return False

    monkeypatch.setattr(bench.pipeline.crawl.opened, "gone", gone)
    item = await bench.process({"url": "http://a/1", "text": ARTICLE})
    assert (item["dedup"]["kind"], noted) == ("unique", ["http://a/bad", "http://a/gone"])
    assert bench.stats["dedup/errors/ZeroDivisionError"] == 1
    server.process.send_signal(signal.SIGSTOP)
    item = await bench.process({"url": "http://a/2", "text": OTHER})
    assert item["dedup"]["kind"] == "unchecked"
    server.process.send_signal(signal.SIGCONT)
    bench.pipeline.crawl.gone.waiting.append(("http://a/bad", 1))
    await asyncio.sleep(0.5)
    await bench.pipeline.close_spider()
    assert bench.stats["dedup/replayed/unique"] == 1


async def test_urls_gone_are_not_told_as_pages(open_bench, start_server, caplog, tmp_path):
    """What waits at a crawl's end, and for another index, are pages and URLs, each counted."""
    server = start_server()
    bench = await open_bench(redis_url=server.url, timeout=SOON, seed=8)
    await keep_and_lose(bench)
    server.process.send_signal(signal.SIGSTOP)
    await bench.process({"url": "http://a/1", "text": OTHER})
    await bench.pipeline.close_spider()
    what = "1 page passed unchecked and 1 URL was found gone"
    assert f"{what} (" in caplog.text
    await open_bench()
    assert f"{what} in crawls with another index" in caplog.text
    server.process.send_signal(signal.SIGCONT)
    (tmp_path / "unchecked.jsonl").unlink()


@pytest.mark.parametrize("old", ["http://a/%c3%a9", "http://a/%C3%A9#part"])
async def test_a_url_that_leads_to_itself_is_not_gone(bench, old):
    """A redirect to another spelling of a URL leaves its page in its place."""
    url = "http://a/%C3%A9"
    await bench.process({"url": url, "text": ARTICLE})
    for way in ["http://a/login"], []:
        gone, to = bench.pipeline.crawl.gone, [*way, url][0]
        gone.note_redirect(Response(old, status=301, headers={"Location": to}), Request(old))
        gone.note_response(Response(url), Request(url, meta={"redirect_urls": [old, *way]}))
    with pytest.raises(ExactDuplicate):
        await bench.process({"url": "http://a/copy", "text": ARTICLE})
    with pytest.raises(DroppedPage, match=f"repeated: '{url}'$"):
        await bench.process({"url": url, "text": ARTICLE})
    assert "dedup/gone" not in bench.stats
