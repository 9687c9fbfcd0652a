"""Which kept pages a page is compared with, and what that costs the server."""

from __future__ import annotations

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from tests.conftest import Server
from tests.support.texts import article, changed, text


async def test_a_family_of_pages_that_are_no_copies_is_bounded(
    server: Server, redis_url: str
) -> None:
    """Of pages that are 70 % like each other few are read for each; a copy among them is found."""
    config = DedupConfig(redis_url=redis_url)
    pages = [(f"http://a/{n}", text(changed(article(0, 300), 8, seed=n))) for n in range(192)]
    async with DuplicateIndex.open(config) as index:
        before = await index.check_many(pages[:128])
        server.ask("CONFIG", "RESETSTAT")
        verdicts = await index.check_many(pages[128:])
        assert {verdict.kind for verdict in verdicts} <= {Kind.UNIQUE, Kind.NEAR}
        assert sum(verdict.kind is Kind.UNIQUE for verdict in verdicts) > 55
        read = server.ask("INFO", "commandstats")["cmdstat_lindex"]["calls"]
        assert read < 64 * 16
        kept = [number for number in range(128) if before[number].kind is Kind.UNIQUE]
        for number in kept[::16]:
            copy = text([*changed(article(0, 300), 8, seed=number), "new"])
            assert (await index.check(f"http://b/{number}", copy)).kind is Kind.NEAR


async def test_a_family_is_bounded_on_a_cluster(cluster: list[Server], cluster_url: str) -> None:
    """Of the kept ones as many are looked at for a page as on one server; a copy is found."""
    config = DedupConfig(redis_url=cluster_url, shards=4)
    pages = [(f"http://a/{n}", text(changed(article(0, 300), 8, seed=n))) for n in range(96)]
    async with DuplicateIndex.open(config) as index:
        before = await index.check_many(pages[:80])
        for node in cluster:
            node.ask("CONFIG", "RESETSTAT")
        for url, words in pages[80:]:
            assert (await index.check(url, words)).kind in (Kind.UNIQUE, Kind.NEAR)
        read = [node.ask("INFO", "commandstats").get("cmdstat_lindex") for node in cluster]
        assert 0 < sum(one["calls"] for one in read if one) < 16 * 16
        kept = [number for number in range(80) if before[number].kind is Kind.UNIQUE]
        for number in kept[::16]:
            copy = text([*changed(article(0, 300), 8, seed=number), "new"])
            assert (await index.check(f"http://b/{number}", copy)).kind is Kind.NEAR


async def test_a_page_with_a_quarter_more_text_is_no_copy(index_url: str) -> None:
    """Sizes rule that out, in both orders, however many bits of two sketches happen to agree."""
    config = DedupConfig(redis_url=index_url, shards=4)
    whole = [article(number, 131) for number in range(200)]  # 127 shingles
    short = [text(words[:105]) for words in whole]  # 101 of them: J = 0.795
    long = [text(words) for words in whole]
    async with DuplicateIndex.open(config) as index:
        for half, first, second in (slice(100), short, long), (slice(100, 200), long, short):
            for name, texts in ("first", first), ("second", second):
                pages = [(f"http://{name}/{n}", one) for n, one in enumerate(texts)][half]
                assert {verdict.kind for verdict in await index.check_many(pages)} == {Kind.UNIQUE}
