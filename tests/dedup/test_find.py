"""Pages of an index that a text is like, asked for without a check."""

from __future__ import annotations

import time

import pytest
import redis

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, jaccard, shingle_hashes
from crawler.dedup.errors import InputError
from crawler.dedup.sketches import METHODS
from crawler.dedup.store import single
from tests.conftest import Server
from tests.support.texts import article, changed, text

PAGES = {
    f"http://{host}.example/{number}": text(changed(article(number, 400), places, places))
    for number in range(8)
    for host, places in (("a", 0), ("b", number), ("c", 0), ("d", 2 * number))
}
PAGES |= {
    "http://a.example/short": "three words only",
    "http://b.example/short": "Three words only",
}
ASKED = [
    text(changed(article(n, 400), 3 * places, 77))
    for n in (0, 1, 4, 7, 8)
    for places in (0, 1, 3, 6)
]
ASKED += ["three words only", "other words only", "", "…"]


def values(*nodes: Server) -> dict[bytes, bytes]:
    """All that servers hold."""
    found = {}
    for node in nodes:
        with redis.Redis(unix_socket_path=str(node.socket), protocol=2) as client:
            found |= {key: client.dump(key) for key in client.keys("*")}
    return found


@pytest.fixture(params=["server", "cluster"])
def nodes(request: pytest.FixtureRequest) -> tuple[str, list[Server]]:
    """The address of an empty server, or of an empty cluster, and its nodes."""
    if request.param == "server":
        return request.getfixturevalue("redis_url"), [request.getfixturevalue("server")]
    return request.getfixturevalue("cluster_url"), request.getfixturevalue("cluster")


async def test_it_says_what_a_check_would(nodes: tuple[str, list[Server]]) -> None:
    """The first page is the one that a check names, just as similar; no key has another value."""
    url, servers = nodes
    async with DuplicateIndex.open(DedupConfig(redis_url=url, shards=8, seed=1)) as index:
        await index.check_many(PAGES.items())
        await index.stats()  # on a cluster it waits for what is done in the background
        before = values(*servers)
        found = [await index.find(asked, limit=None) for asked in ASKED]
        assert values(*servers) == before
        for number, (asked, matches) in enumerate(zip(ASKED, found, strict=True)):
            kept = [one for one in matches if one.duplicate_of is None]
            verdict = await index.check(f"http://new.example/{number}", asked)
            await index.forget(verdict.url)
            named = (verdict.duplicate_of, verdict.similarity, verdict.low, verdict.high)
            first = [(one.url, one.similarity, one.low, one.high) for one in kept[:1]]
            assert first == [named][: verdict.kind in (Kind.EXACT, Kind.NEAR)]
            assert [one.kind for one in kept[:1]] == [verdict.kind][: len(first)]


@pytest.mark.parametrize("method", METHODS)
async def test_every_method_says_what_a_check_would(redis_url: str, method: str) -> None:
    """Whatever candidates are found by, and compared by."""
    async with DuplicateIndex.open(
        DedupConfig(redis_url=redis_url, method=method, seed=1)
    ) as index:
        await index.check_many(PAGES.items())
        for number, asked in enumerate(ASKED):
            found = await index.find(asked, limit=1, copies=False)
            verdict = await index.check(f"http://new.example/{number}", asked)
            await index.forget(verdict.url)
            is_copy = verdict.kind in (Kind.EXACT, Kind.NEAR)
            named = [(verdict.duplicate_of, verdict.similarity, verdict.low, verdict.high)]
            assert [(one.url, one.similarity, one.low, one.high) for one in found] == named[
                :is_copy
            ]


async def test_copies_of_what_is_found(
    nodes: tuple[str, list[Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are listed too, with an interval that holds how similar they are."""
    async with DuplicateIndex.open(DedupConfig(redis_url=nodes[0], shards=8, seed=1)) as index:
        await index.check_many(PAGES.items())
        asked = text(changed(article(1, 400), 2, 77))
        found = await index.find(asked)
        assert {one.url for one in found} == {f"http://{host}.example/1" for host in "abcd"}
        for one in found:
            ours, theirs = shingle_hashes(asked), shingle_hashes(PAGES[one.url])
            assert one.low - 0.005 <= jaccard(ours, theirs) <= one.high + 0.005
            assert one.containment == pytest.approx(1 - 10 / 396, abs=0.03)
            assert (one.duplicate_of is None) == (one.url == "http://a.example/1")
        (same,) = await index.find(PAGES["http://d.example/1"], limit=1)
        exact = (same.kind, same.url, same.similarity, same.containment)
        assert exact == (Kind.EXACT, "http://d.example/1", 1.0, 1.0)
        kept = await index.find(asked, copies=False)
        assert [one.url for one in kept] == ["http://a.example/1"]
        monkeypatch.setattr(single, "_BLOCKS_LOOKED_THROUGH", 1)  # of three: then it is read on
        await index.check_many(
            (f"http://more.example/{n}", text(article(100 + n, 30))) for n in range(60)
        )
        await index.check("http://e.example/1", PAGES["http://a.example/1"])
        assert {one.url for one in await index.find(asked)} - {one.url for one in found} == {
            "http://e.example/1"
        }


async def test_copies_of_a_page_that_lost_its_place(redis_url: str) -> None:
    """A copy of a page that became one is like a text that the new page is like."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, seed=1)) as index:
        await index.check_many(list(PAGES.items())[4:8])
        await index.prefer("http://b.example/1", PAGES["http://b.example/1"])
        found = {one.url: one.duplicate_of for one in await index.find(PAGES["http://a.example/1"])}
        assert found.pop("http://b.example/1") is None
        assert set(found.values()) == {"http://b.example/1"}
        assert len(found) == 3


async def test_one_exchange(redis_url: str, server: Server) -> None:
    """Pages and their copies come in one answer of one server."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, seed=1)) as index:
        await index.check_many(PAGES.items())
        await index.find("whatever")  # the server knows the script then
        assert len(await index.find(PAGES["http://a.example/0"])) == 4
        asked = server.ask("INFO", "commandstats")
        await index.find(PAGES["http://a.example/1"])
        now = server.ask("INFO", "commandstats")
        assert now["cmdstat_evalsha"]["calls"] == asked["cmdstat_evalsha"]["calls"] + 1


async def test_pages_of_other_lengths(redis_url: str) -> None:
    """With a low threshold longer pages are found, and how much of the text they have."""
    config = DedupConfig(redis_url=redis_url, seed=1)
    async with DuplicateIndex.open(config) as index:
        parts = {n: article(n, 3000) for n in range(20)}
        whole = {f"http://a/{n}": text(one + article(50 + n, 2000)) for n, one in parts.items()}
        await index.check_many(whole.items())
        found = [await index.find(text(one), threshold=0.5) for one in parts.values()]
        contained = [one.containment for matches in found for one in matches]
        assert len(contained) > 5  # the bands find some of them, as the curve says
        assert contained == pytest.approx([1.0] * len(contained), abs=0.1)
        assert [await index.find(text(one)) for one in parts.values()] == [[]] * 20


async def test_what_is_none(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No index has no pages; pages that have expired are none; a threshold is between 0 and 1."""
    config = DedupConfig(redis_url=redis_url, seed=1)
    asked = PAGES["http://a.example/0"]
    async with DuplicateIndex.open(config, make=False) as index:
        assert await index.find(asked) == []
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, seed=1, ttl=2)) as index:
        await index.check_many(list(PAGES.items())[:2])
        assert len(await index.find(asked, limit=1)) == 1
        for wrong in (0.0, 1.1):
            with pytest.raises(InputError):
                await index.find(asked, threshold=wrong)
        clock = time.time
        monkeypatch.setattr(time, "time", lambda: clock() + 9)
        assert await index.find(asked) == []
