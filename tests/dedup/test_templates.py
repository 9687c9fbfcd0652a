"""Templates of sites, learnt by several workers and shared through the server."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from crawler.chrome import SharedTemplate, strip_chrome
from crawler.chrome.template.pairs import KEPT
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError, Verdict
from tests.conftest import Server
from tests.support.texts import article, text

BANNER = "Write to us by post, by wire or by boat; we are glad of every letter that comes"
HOST = "http://site.example"


def page(number: int) -> str:
    """A page with a banner that no rule of single pages knows for chrome."""
    banner = f"<div><p>{BANNER}</p><p>The harbour office, open all the year</p></div>"
    return f"<main>{banner}<h1>Story {number}</h1><p>{text(article(number))}</p></main>"


@dataclass
class Worker:
    """A crawler's part: its own view of the site's template."""

    index: DuplicateIndex
    template: SharedTemplate

    async def check(self, path: str, html: str) -> Verdict:
        found = strip_chrome(html, template=self.template.known)
        self.template.observe(found)
        return await self.index.check(
            f"{HOST}/{path}", found.text, whole=found.whole, template=self.template
        )

    async def meet(self) -> None:
        await self.index.meet(f"{HOST}/", self.template)


@asynccontextmanager
async def workers(url: str, count: int) -> AsyncIterator[list[Worker]]:
    config = DedupConfig(redis_url=url, shards=4)
    async with DuplicateIndex.open(config) as index:
        yield [Worker(index, SharedTemplate()) for _ in range(count)]
        assert (await index.verify()).faults == []


async def crawl(worker: Worker, numbers: Iterable[int]) -> None:
    for number in numbers:
        assert (await worker.check(str(number), page(number))).kind is Kind.UNIQUE


async def test_what_one_worker_learns_another_knows_after_a_page(index_url: str) -> None:
    """Pairs of blocks go up with a page and come back with another worker's next page."""
    async with workers(index_url, 2) as (one, two):
        await crawl(one, range(8))
        assert BANNER not in strip_chrome(page(50), template=one.template.known).text
        assert BANNER in strip_chrome(page(50), template=two.template.known).text
        await crawl(two, [20])
        assert two.template.known == {pair for pair in one.template.known if pair < KEPT}
        assert BANNER not in strip_chrome(page(50), template=two.template.known).text


async def test_a_new_worker_asks_before_its_first_page(index_url: str) -> None:
    """As the next day's crawl does, of which the site's first page may be the only one."""
    async with workers(index_url, 2) as (one, two):
        await two.meet()
        assert two.template.known == frozenset()
        await crawl(one, range(8))
        await two.meet()
        assert two.template.known == {pair for pair in one.template.known if pair < KEPT}
        assert BANNER not in strip_chrome(page(50), template=two.template.known).text


async def test_a_server_that_hangs_is_waited_for_once(start_server: Callable[[], Server]) -> None:
    """Not for the template and then for the page as well."""
    server = start_server()
    config = DedupConfig(redis_url=server.url, timeout=5)
    async with DuplicateIndex.open(config) as index:
        server.process.send_signal(signal.SIGSTOP)
        try:
            start = time.monotonic()
            await index.meet(f"{HOST}/", SharedTemplate())
            with pytest.raises(ServerError):
                await index.check(f"{HOST}/", text(article(1)))
            assert 4 < time.monotonic() - start < 10
        finally:
            server.process.send_signal(signal.SIGCONT)


async def test_a_page_stays_unchanged_while_its_template_is_learnt(index_url: str) -> None:
    """A page that comes again with less chrome in its text is still unchanged."""
    async with workers(index_url, 1) as (worker,):
        await crawl(worker, range(8))
        before = await worker.check("0", page(0))
        assert BANNER not in strip_chrome(page(0), template=worker.template.known).text
        assert before.kind is Kind.UNCHANGED
        assert (await worker.check("copy-of-0", page(0))).kind is Kind.EXACT


async def test_a_copy_stays_unchanged_while_its_template_is_learnt(index_url: str) -> None:
    """However little of its text is left: what it was found to be a copy of is still there."""
    menu, whole = text(article(1, 150)), text(article(1, 150)) + " " + text(article(2, 60))
    near = whole.replace(" ", " changed ", 1)
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=4)) as index:
        await index.check(f"{HOST}/1", whole)
        assert (await index.check(f"{HOST}/2", near, whole=near)).kind is Kind.NEAR
        for known in (near[len(menu) :], near):
            again = await index.check(f"{HOST}/2", known, whole=near)
            assert (again.kind, again.duplicate_of) == (Kind.UNCHANGED, f"{HOST}/1")


def log_of(worker: Worker) -> str:
    """The key under which the server has what workers know of the site."""
    store = worker.index.store
    return store.shards[store.shard_of("site.example")].prefix + "templates"


async def test_a_server_that_forgot_a_template_is_told_again(index_url: str) -> None:
    """When the shared log is gone, what a worker knows goes up anew."""
    async with workers(index_url, 2) as (one, two):
        await crawl(one, range(8))
        await one.index.store._client.delete(log_of(one))
        await crawl(one, range(8, 10))
        await crawl(two, [20])
        assert two.template.known == {pair for pair in one.template.known if pair < KEPT}
        assert two.template.length == one.template.length > 0


async def test_the_log_of_a_host_has_a_bound(index_url: str) -> None:
    """A site that always brings new blocks takes no more than two kilobytes of the server."""
    async with workers(index_url, 1) as (worker,):
        for start in range(0, 2000, 50):
            template = SharedTemplate()
            template.known = frozenset(range(start, start + 50))
            await worker.index.check(f"{HOST}/", "some text", template=template)
        log = await worker.index.store._client.hget(log_of(worker), "site.example")
        assert len(log) == 4 + 4 * 512
        assert template.length == 512
        assert template.offer() == b""


async def test_old_hosts_are_forgotten(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond ten thousand, those that were met longest ago go, however long they are known."""
    clock = 1_700_000_000
    monkeypatch.setattr(time, "time", lambda: clock)
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
        key = f"{index.store.keys.prefix}templates"
        known = {f"{n}.example": clock.to_bytes(4) + b"pair" for n in range(10_000)}
        await index.store._client.hset(key, mapping=known)
        clock += 86_400
        for hosts in (range(1_000), range(10_000, 11_000)):  # known ones, then new ones
            checks = []
            for n in hosts:
                template = SharedTemplate()
                template.known = frozenset({1})
                checks.append(index.check(f"http://{n}.example/", "", template=template))
            await asyncio.gather(*checks)
        found = {int(host.partition(b".")[0]) for host in await index.store._client.hkeys(key)}
    assert len(found) == 10_000
    assert found >= set(range(10_000, 11_000))
    assert len(found & set(range(1_000))) > 990


def test_answers_may_come_in_any_order() -> None:
    """What came twice or late changes nothing; a log that begins anew replaces the old one."""
    template = SharedTemplate()
    template.take(0, bytes([0, 0, 0, 1, 0, 0, 0, 2]))
    template.take(1, bytes([0, 0, 0, 2]))
    template.take(5, bytes([0, 0, 0, 9]))
    assert (template.known, template.length) == ({1, 2}, 2)
    template.take(0, bytes([0, 0, 0, 3]))
    assert template.length == 1
    assert template.offer() == bytes([0, 0, 0, 1, 0, 0, 0, 2])


@pytest.mark.parametrize("pages", [1, 2])
def test_the_first_pages_of_a_site_teach_nothing(pages: int) -> None:
    """What two pages have in common may be their content."""
    template = SharedTemplate()
    for number in range(pages):
        template.observe(strip_chrome(page(number)))
    assert template.known == frozenset()
