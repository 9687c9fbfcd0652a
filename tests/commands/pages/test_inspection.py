"""What an index decided: records, clusters, stories, top, samples, other thresholds, neighbours."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, inspection
from crawler.dedup.candidates import Rule
from crawler.dedup.fingerprint import make_sketcher
from crawler.dedup.inspection import read_records as in_index
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.shingles import shingle_hashes
from crawler.dedup.sketches.similarity import jaccard
from crawler.dedup.store.messages import KINDS
from crawler.dedup.store.records import parse_record, read_pages, read_records
from crawler.dedup.verdict import COPIES
from tests.support.texts import article, changed, text

LONG = "http://a.example/" + "long/" * 40


def page(host: str, number: int, places: int = 0, seed: int = 0) -> tuple[str, str]:
    """The article of that number on a host, with words changed in so many places."""
    words = article(number, 400)
    return f"http://{host}.example/{number}", text(
        changed(words, places, seed) if places else words
    )


PAGES = [  # those of b are less and less similar to those of a
    *(page("a", number) for number in range(12)),
    *(page("b", number, places=2 * number, seed=number) for number in range(1, 10)),
    *(page("c", number) for number in range(3)),  # exact copies
    (LONG, text(article(50))),
    ("http://a.example/v", text(changed(article(11, 400), 1, seed=9))),  # near, on one host
    ("http://a.example/w", text(changed(article(10, 400), 1, seed=9))),
    ("http://c.example/short", "three words only"),
]
TEXTS = dict(PAGES)


def similarity(a: str, b: str) -> float:
    return jaccard(shingle_hashes(TEXTS[a]), shingle_hashes(TEXTS[b]))


def ask(url, question, pages=PAGES, **options):
    """The answer to a question put to an index with `pages`, whose hash functions are known."""

    async def run():
        async with DuplicateIndex.open(DedupConfig(redis_url=url, seed=1, **options)) as index:
            verdicts = await index.check_many(pages)
            return await question(index), {verdict.url: verdict for verdict in verdicts}

    return asyncio.run(run())


def test_records_are_read_as_they_were_written(index_url):
    """The stream has every page once, with the evidence of its verdict."""

    async def read(index):
        bits = index.config.verify_bits // 8
        records = [record async for record in read_records(index.store, odd_bytes=bits)]
        alone = await read_pages(index.store, [records[5].number], odd_bytes=bits)
        assert alone == {records[5].number: records[5]}
        shown = {record.url: await index.show(record.url) for record in records}
        return records, shown, len([n async for n in progress_of(index, bits)])

    async def progress_of(index, bits):
        told = []
        async for _ in read_records(
            index.store, odd_bytes=bits, progress=lambda *at: told.append(at)
        ):
            pass
        assert told[-1][0] == told[-1][1] >= len(PAGES)
        yield told

    (records, shown, _), verdicts = ask(index_url, read)
    assert sorted(record.url for record in records) == sorted(TEXTS)
    for record in records:
        verdict, known = verdicts[record.url], shown[record.url]
        assert (record.standing, record.representative) == (verdict.kind, verdict.cluster)
        assert (record.words, record.last) == (len(TEXTS[record.url].split()), verdict.kind)
        assert record.is_kept is (verdict.duplicate_of is None)
        assert record.first_seen == known.first_seen.timestamp()
        estimate = record.estimate(1024)
        assert (estimate.similarity if estimate else None) == verdict.similarity
        assert len(record.odd) == (128 if verdict.kind is Kind.UNIQUE else 0)


def test_a_record_may_be_longer_than_is_known():
    """What a later version has added behind a record does not keep it from being read."""
    assert set(KINDS.values()) >= COPIES
    base = b"su" + bytes(8) + b"tokn" + b"ukey" + bytes(4) + bytes(12) + bytes(3)

    def record(meta):
        return len(meta).to_bytes(1) + (9).to_bytes(2) + meta + b"http://a/"

    for meta in (base, base + bytes(16), base + bytes(23)):
        assert parse_record(7, record(meta), 128).url_key == b"ukey"
        assert parse_record(7, record(meta), 128).url == "http://a/"
    copy = b"n" + base[1:] + (5).to_bytes(4) + bytes(4)
    for meta in (copy, copy + bytes(4), copy + bytes(9)):
        assert parse_record(7, record(meta), 128).representative == 5
    assert parse_record(7, record(copy[:-1]), 128) is None
    assert parse_record(7, record(base)[:-1], 128) is None
    assert parse_record(7, b"", 128) is None


def test_clusters_of_an_index(index_url):
    """Each cluster has the pages whose verdict names it, with the similarity that they got."""
    clusters, verdicts = ask(index_url, lambda index: inspection.read_clusters(index))
    expected: dict[int, set[str]] = {}
    for url, verdict in verdicts.items():
        expected.setdefault(verdict.cluster, set()).add(url)
    several = {number: urls for number, urls in expected.items() if len(urls) > 1}
    assert {one.id: {page.url for page in one.members} for one in clusters} == several
    sizes = [len(one.members) for one in clusters]
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) >= 3
    for one in clusters:
        assert one.members[0].url == one.url
        assert one.members[0].similarity is None
        for member in one.members[1:]:
            verdict = verdicts[member.url]
            assert (member.similarity, member.low, member.high) == (
                verdict.similarity,
                verdict.low,
                verdict.high,
            )
            assert member.duplicate_of == one.url


def test_a_cluster_is_found_by_each_of_its_pages_and_by_its_identifier(index_url):
    """All of them name the same cluster; a page alone is one; a forgotten original leaves a gap."""

    async def read(index):
        known = await index.show("http://b.example/1")
        found = [
            await inspection.read_cluster(index, which)
            for which in ("http://a.example/1", "http://b.example/1", "http://c.example/1")
        ]
        found.append(await inspection.read_cluster(index, known.cluster))
        alone = await inspection.read_cluster(index, LONG)
        missing = [await inspection.read_cluster(index, which) for which in ("http://x/", 10**6)]
        await index.forget("http://a.example/1")
        return found, alone, missing, await inspection.read_cluster(index, known.cluster)

    (found, alone, missing, rest), _ = ask(index_url, read)
    assert [one == found[0] for one in found] == [True] * 4
    assert {page.url.split("/")[2][0] for page in found[0].members} == {"a", "b", "c"}
    assert [page.url for page in alone.members] == [LONG]
    assert missing == [None, None]
    assert (rest.id, rest.url, len(rest.members)) == (found[0].id, None, 2)


def test_a_page_that_took_the_place_of_another_has_its_copies(index_url):
    """Copies of a page that became a copy itself are in the cluster where that page is now."""

    async def read(index):
        await index.check("http://z.example/", page("b", 1, 2, 1)[1], preferred=True)
        new = await index.show("http://z.example/")
        old = await index.show("http://a.example/1")
        assert (new.kind, old.duplicate_of) == (Kind.UNIQUE, "http://z.example/")
        said = await inspection.explain_decision(index, *page("b", 1, 2, 1))
        assert said.original.url == old.url
        assert said.by_text is None  # the bands of a copy are not stored
        return await inspection.read_cluster(index, "http://z.example/")

    found, _ = ask(index_url, read)
    assert found.url == "http://z.example/"
    assert {page.url.split("/")[2][0] for page in found.members} == {"a", "b", "c", "z"}
    for member in found.members[1:]:
        is_direct = member.url == "http://a.example/1"
        assert (member.similarity is not None) is is_direct


def test_pages_that_replaced_each_other_are_one_cluster(redis_url):
    """However many did so since a copy of the first was seen."""

    async def read(index):
        for number in range(20):
            await index.check(f"http://z.example/{number}", PAGES[0][1], preferred=True)
        return await inspection.read_clusters(index)

    (found,), _ = ask(redis_url, read, [PAGES[0], ("http://c.example/", PAGES[0][1])])
    assert (found.url, len(found.members)) == ("http://z.example/19", 22)


def test_stories_group_kept_pages_below_the_threshold(index_url):
    """Pages that are 0.5 to 0.8 similar form stories; nothing is dropped, unlike pages stay out."""
    found, verdicts = ask(
        index_url, lambda index: inspection.read_stories(index, 0.5), bands=32, rows=4
    )
    pairs = {(one.url, member.url) for one in found.stories for member in one.members[1:]}
    kept = [url for url, verdict in verdicts.items() if verdict.kind is Kind.UNIQUE]
    expected = {
        (a, b) for n, b in enumerate(kept) for a in kept[:n] if 0.5 <= similarity(a, b) < 0.8
    }
    assert len(expected) >= 2
    assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in expected}
    assert (found.pages, found.too_short, found.too_long) == (len(kept), 1, 0)
    for one in found.stories:
        for member in one.members[1:]:
            assert abs(member.similarity - similarity(one.url, member.url)) < 0.05


def test_short_pages_are_in_stories(index_url):
    """A few shingles fill little of a sketch, which tells the more surely what differs."""
    pages = [(f"http://{n}.example/", text(changed(article(1, 24), n))) for n in (0, 1)]
    pages.append(("http://2.example/", text(article(2, 5))))
    found, _ = ask(
        index_url, lambda index: inspection.read_stories(index, 0.5), pages, bands=32, rows=4
    )
    assert (found.pages, found.too_short, found.too_long) == (3, 0, 0)
    assert [[page.url for page in one.members] for one in found.stories] == [
        ["http://0.example/", "http://1.example/"]
    ]


@pytest.mark.parametrize("method", METHODS)
def test_a_cut_sketch_is_in_no_story(redis_url, method):
    """A record that somebody cut is passed over, if the method has keys of one number."""

    async def question(index):
        client, key = index.store._client, index.store.shards[0].numbered("page", 0)
        await client.lset(key, 1, (await client.lindex(key, 1))[:-4])
        return await inspection.read_stories(index, 0.5)

    found, _ = ask(redis_url, question, [page("a", 1), page("a", 2)], method=method)
    has_tables = make_sketcher(DedupConfig(method=method), seed=1).method.tables
    assert (found.pages, found.stories) == (1 if has_tables else 2, [])


def test_top(index_url):
    """Hosts, clusters and look-alikes are those that the verdicts make."""
    found, verdicts = ask(index_url, lambda index: inspection.read_top(index))
    hosts = {one.host: one for one in found.hosts}
    for name in ("a", "b", "c"):
        of_host = [v for url, v in verdicts.items() if f"//{name}.example" in url]
        one = hosts[f"{name}.example"]
        assert one.pages == len(of_host)
        assert one.exact == sum(v.kind is Kind.EXACT for v in of_host)
        assert one.near == sum(v.kind is Kind.NEAR for v in of_host)
        assert one.kept + one.duplicates == one.pages
    assert [one.duplicates for one in found.hosts] == sorted(
        (one.duplicates for one in found.hosts), reverse=True
    )
    assert [(one.host, one.near_within) for one in found.templates] == [("a.example", 2)]
    assert len(found.clusters[0].members) == max(len(one.members) for one in found.clusters)


def test_sample_draws_all_that_fit_and_only_those(index_url):
    """All near-duplicates in the span are drawn if there is room, with what they duplicate."""

    async def draw(index):
        wide = await inspection.sample_decisions(index, "near", low=0.85, high=0.95, count=100)
        few = [
            await inspection.sample_decisions(index, "near", count=2, seed=seed)
            for seed in range(20)
        ]
        host = await inspection.sample_decisions(index, "unique", host="b.example", count=100)
        return wide, few, host

    (wide, few, host), verdicts = ask(index_url, draw)
    near = {url: v for url, v in verdicts.items() if v.kind is Kind.NEAR}
    fit = {url for url, v in near.items() if 0.85 <= v.similarity <= 0.95}
    assert 2 <= len(fit) < len(near)
    assert {page.url: page.duplicate_of for page in wide.pages} == {
        url: near[url].duplicate_of for url in fit
    }
    assert wide.matching == len(fit)
    assert {len(one.pages) for one in few} == {2}
    assert {page.url for one in few for page in one.pages} == set(near)
    assert all(page.url.startswith("http://b.example/") for page in host.pages)


@pytest.mark.parametrize("threshold", [0.9, 0.6])
def test_rethreshold_says_what_another_crawl_decides(redis_url, threshold):
    """Pages kept and dropped are those of a crawl with that threshold, where nothing is unknown."""
    found, before = ask(
        redis_url, lambda index: inspection.rethreshold(index, threshold), bands=32, rows=4
    )
    _, after = ask(
        redis_url,
        lambda index: index.stats(),
        bands=32,
        rows=4,
        threshold=threshold,
        namespace="other",
    )
    kept = [{url for url, v in one.items() if v.duplicate_of is None} for one in (before, after)]
    released = {page.url for page in found.released}
    merged = {page.url for group in found.merged for page in group.members[1:]}
    borderline = {
        url
        for url, v in (before | after).items()
        if v.similarity is not None and abs(v.similarity - threshold) < 0.03
    }
    assert ((kept[0] | released) - merged) ^ kept[1] <= borderline
    assert bool(released) is (threshold > 0.8)
    assert bool(merged) is (threshold < 0.8)
    assert found.dropped == len(merged)
    assert found.near == sum(v.kind is Kind.NEAR for v in before.values())


def test_nearest_is_what_a_check_would_find(index_url):
    """A text never checked has the same neighbours, and the same similarity, as when it comes."""

    async def read(index):
        text_ = page("x", 4, 2, 77)[1]
        found = await inspection.explain_decision(index, "http://x/", text_)
        return found, await index.check("http://x/", text_)

    (found, verdict), _ = ask(index_url, read)
    assert (found.page, found.original, found.by_text) == (None, None, None)
    first = found.nearest[0]
    assert first.page.url == verdict.duplicate_of
    assert first.estimate.similarity == verdict.similarity
    assert 0 < first.shared_bands <= first.bands == 8


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_understood(redis_url, method):
    """Neighbours have the similarity of the verdict; another threshold and stories can be asked."""

    async def read(index):
        words = page("x", 4, 2, 77)[1]
        near = await inspection.explain_decision(index, "http://x/", words)
        higher = await inspection.rethreshold(index, 0.95)
        lower = await inspection.rethreshold(index, 0.6)
        rule = Rule.of(make_sketcher(index.config, seed=1).method)
        least = max(index.config.threshold, rule.least_similarity)
        near = [one for one in near.nearest if one.estimate.similarity >= least]
        return near, higher, lower, await index.check("http://x/", words)

    (near, higher, lower, verdict), before = ask(redis_url, read, method=method)
    found = [(one.page.url, one.estimate.similarity) for one in near]
    # Some methods miss many pairs: then neither knows of one.
    assert found[:1] == [(verdict.duplicate_of, verdict.similarity)][: verdict.kind is Kind.NEAR]
    near = [v.similarity for v in before.values() if v.kind is Kind.NEAR]
    assert len(higher.released) == sum(one < 0.95 for one in near)
    assert lower.compared == sum(v.kind is Kind.UNIQUE for v in before.values())


def test_a_kept_page_has_neighbours_too(index_url):
    """Of a kept page the nearest are found without its text, and it is none of them."""
    found, _ = ask(
        index_url, lambda index: inspection.explain_decision(index, "http://b.example/9")
    )
    assert found.page.kind == "unique"
    urls = [one.page.url for one in found.nearest]
    assert "http://b.example/9" not in urls
    assert urls[:1] in ([], ["http://a.example/9"])


def test_memory_of_all_servers(index_url):
    """Each node of a cluster tells its memory and its limit, and so does a single server."""
    found, _ = ask(index_url, lambda index: index.store.server_memory(), pages=PAGES[:1])
    assert len(found) == (3 if "cluster" in index_url else 1)
    assert all(one.used > 100_000 and one.limit == 0 for one in found)


def test_time_to_full():
    """At a steady rate the server is full when what is left of its maxmemory is used up."""
    from crawler.dedup.store.index_reader import ServerMemory
    from crawler.dedup.store.statistics import IndexStats

    def stats(kept: int) -> IndexStats:
        return IndexStats("x", {"unique": kept}, {}, {}, kept, kept, kept * 500, 500.0, {})

    watch = inspection.Watch()
    assert watch.take_look(0.0, stats(0), None).seconds_to_full is None
    servers = [ServerMemory(1000, 0), ServerMemory(50_000, 100_000)]
    change = watch.take_look(10.0, stats(100), servers)
    assert (change.kept_per_second, change.growth_per_day) == (10.0, 10 * 500 * 86_400)
    # Half of the growth goes to the node that is fullest.
    assert change.seconds_to_full == pytest.approx(50_000 / (10 * 500 / 2))
    assert watch.take_look(100.0, stats(100), servers).kept_per_second == pytest.approx(
        0.0, abs=1.2
    )


async def test_an_original_that_is_gone_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy whose original was forgotten is the end of its chain."""
    asked = []

    async def records_of(index: object, numbers: set[int]) -> dict[int, SimpleNamespace]:
        asked.append(set(numbers))
        return {2: SimpleNamespace(representative=1)} if 2 in numbers else {}

    monkeypatch.setattr(in_index, "records_of", records_of)
    assert set(await in_index.originals_of(None, {2})) == {2}
    assert asked == [{2}, {1}]
