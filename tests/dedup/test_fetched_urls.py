"""Pages are known by their identity, and shown under the URL that they were fetched from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.exchange.spool import Spool
from crawler.dedup.exchange.spool_lines import read_request, write_line
from crawler.dedup.export.page_lines import from_line, to_line
from crawler.dedup.identity import LONGEST_URL, fetched_url, identity
from crawler.dedup.inspection import explain_decision, read_cluster
from crawler.dedup.inspection.moved import find_whereabouts, read_moved
from crawler.dedup.passages import find_containment
from crawler.dedup.store.layout import pack_fetched, unpack_fetched
from crawler.dedup.store.records import parse_record, read_records
from tests.support.texts import article, changed, text

KEPT, KNOWN = "http://a.example/?b=2&a=%3D#top", "http://a.example/?a=%3D&b=2"
FETCHED, OTHER = "http://a.example/?b=2&a=%3D", "http://a.example/?b=2&a=%3d"
COPY, COPY_KNOWN = "http://b.example/operator%3D.html", "http://b.example/operator=.html"


def config_of(index_url: str, **values: object) -> DedupConfig:
    return DedupConfig(redis_url=index_url, shards=8, seed=1, **values)


async def test_a_page_is_shown_as_it_was_fetched(index_url: str) -> None:
    """In verdicts and all that reads the index; any spelling of its identity finds it."""
    async with DuplicateIndex.open(config_of(index_url, containment=0.5)) as index:
        assert (await index.check(KEPT, text(article(1)))).url == KEPT
        verdict = await index.check(COPY, text(changed(article(1), 3)))
        assert (verdict.kind, verdict.duplicate_of, verdict.contains) == (Kind.NEAR, FETCHED, ())
        again = await index.check(COPY_KNOWN, text(changed(article(1), 3)))
        assert (again.kind, again.duplicate_of) == (Kind.UNCHANGED, FETCHED)
        await index.check(COPY, text(changed(article(1), 3)))
        for url in (KEPT, KNOWN, FETCHED, OTHER):
            record = await index.show(url)
            assert record is not None
            assert (record.url, record.kind) == (FETCHED, Kind.UNIQUE)
        copy = await index.show(COPY_KNOWN)
        assert copy is not None
        assert (copy.url, copy.duplicate_of) == (COPY, FETCHED)
        matches = await index.find(text(article(1)))
        assert [(one.url, one.duplicate_of) for one in matches] == [
            (FETCHED, None),
            (COPY, FETCHED),
        ]
        cluster = await read_cluster(index, OTHER)
        assert cluster is not None
        assert [cluster.url, *(one.url for one in cluster.members)] == [FETCHED, FETCHED, COPY]
        why = await explain_decision(index, KNOWN)
        assert (why.url, why.nearest) == (FETCHED, [])
        part = " ".join(text(article(1)).split()[:400])
        inner = await index.check("http://c.example/part", part)
        assert [one.url for one in inner.contained_in or ()] == [FETCHED]
        await index.gone(KNOWN)
        for url in (FETCHED, OTHER):
            where = await find_whereabouts(index, url)
            assert where is not None
            assert (where.url, [one.url for one in where.places]) == (FETCHED, [COPY])
        (moved,) = await read_moved(index)
        assert (moved.url, [one.url for one in moved.places]) == (FETCHED, [COPY])
        assert (await index.verify()).faults == []
        assert await index.forget(OTHER)
        assert [one.original async for one in index.orphans()] == [None]


async def test_the_latest_spelling_is_shown(index_url: str) -> None:
    """Within a crawl the first one, whose item is in its feed; without another spelling, none."""
    async with DuplicateIndex.open(config_of(index_url)) as index:
        shown = []
        for urls in ([FETCHED, OTHER], [KNOWN, FETCHED], [OTHER]):
            await index.begin_crawl()
            for url in urls:
                await index.check(url, text(article(1)))
            verdict = await index.check(COPY, text(article(1)))
            shown.append(verdict.duplicate_of)
            await index.end_crawl()
        assert shown == [FETCHED, KNOWN, OTHER]
        assert (await index.check(FETCHED, text(article(2)))).kind is Kind.UPDATED
        record = await index.show(KNOWN)
        assert record is not None
        assert record.url == FETCHED
        await index.prefer(KNOWN, text(article(2)))
        record = await index.show(KNOWN)
        assert record is not None
        assert record.url == FETCHED


async def test_other_pages_in_a_verdict(index_url: str) -> None:
    """The page that loses its place, and the one that is named as canonical."""
    async with DuplicateIndex.open(config_of(index_url, prefer="canonical")) as index:
        await index.check(COPY, text(article(1)), canonical=OTHER)
        verdict = await index.check(FETCHED, text(article(1)))
        assert (verdict.kind, verdict.replaces) == (Kind.UNIQUE, COPY)
        named = await index.check("http://c.example/", text(article(2)), canonical=KNOWN)
        assert named.canonical == FETCHED


async def test_a_spelling_decides_nothing_among_containers(redis_url: str) -> None:
    """Of those with equal shares, the crawl's memory has the first by its identity."""
    async with DuplicateIndex.open(config_of(redis_url, containment=0.5)) as index:
        await index.check(KEPT, text(article(1)))
        (record,) = [record async for record in read_records(index.store, odd_bytes=128)]
        other = record._replace(url="http://a.example/?a=a", fetched="")
        part = index.fingerprint(" ".join(article(1)[:400]))
        for records in ([record, other], [other, record]):
            found = find_containment(part, records, 0.5).contained_in
            assert [one.url for one in found] == [FETCHED, other.url]


async def test_a_record_has_no_byte_more_for_a_plain_url(redis_url: str) -> None:
    """Another spelling costs five bytes and what differs, here `%3D`."""
    config = config_of(redis_url)
    async with DuplicateIndex.open(config) as index:
        for url in (COPY_KNOWN, COPY):
            await index.check(url, text(article(1)))
        await index.check("http://c.example/plain", text(article(2)))
        client, key = index.store._client, index.store.shards[0].numbered("page", 0)
        _, spelt, plain = await client.lrange(key, 0, -1)
        assert int.from_bytes(plain[1:3]) == len("c.example/plain")
        assert int.from_bytes(spelt[1:3]) == 0x8000 + len("b.example/operator=.html")
        assert len(spelt) - len(plain) == len(COPY_KNOWN) - len("http://c.example/plain") + 8
        record = parse_record(1, spelt, 128)
        assert record is not None
        assert (record.url, record.fetched, record.shown_url) == (COPY_KNOWN, COPY, COPY)
        for cut in (65, 70):  # within the other spelling
            await client.lset(key, 1, spelt[:cut])
            assert "the record of page 1 is incomplete" in (await index.verify()).faults
            assert await index.show(COPY) is None


@pytest.mark.parametrize(
    ("url", "fetched"),
    [
        ("https://a.example/?b=2&a=1#top", "https://a.example/?b=2&a=1"),
        ("https://a.example/?b=2&a=1#/tea", "https://a.example/?b=2&a=1#/tea"),
        ("https://a.example/caf%c3%a9", "https://a.example/caf%c3%a9"),
        ("https://a.example/日本?b&a", "https://a.example/日本?b&a"),
        ("https://A.example", "https://A.example"),
        ("https://a.example/#access_token=secret", ""),
        ("https://a.example/plain", ""),
        ("https://a.example/a b", ""),
        ("https://a.example/?b=<script>&a", ""),
        ("https://a.example/?b=\x1b[31m&a", ""),
        ("https://a.example/?b=\u202e&a", ""),
        ("https://a.example/?b=\ud800&a", "https://a.example/?b=?&a"),
        ("https://münchen.example/ä", ""),
        ("https://a.example/?" + "b&a" * 700, ""),
        ("https://a.example/?" + "ü" * 1999, ""),
        ("https://a.example/?b&a=" + "x" * LONGEST_URL, ""),
        ("http://[", ""),
        ("https://a.example/{b}#top#/tea", ""),  # a route that is not at the fragment's beginning
        ("https://a.example/%3D#top#!/tea", "https://a.example/%3D#top#!/tea"),
    ],
)
def test_what_is_a_spelling(url: str, fetched: str) -> None:
    """Only what a client requests as it is, on the same host, without a fragment of its own."""
    known = identity(url, canonical=True)
    assert fetched_url(url, known) == fetched
    assert fetched_url(url, identity(url, canonical=False)) == ""
    assert identity(fetched or known, canonical=True) == known  # it is found by what is shown
    if fetched:
        packed = pack_fetched(known.encode(), fetched.encode())
        assert unpack_fetched(known.encode(), packed).decode() == fetched


async def test_a_spelling_that_waits_in_the_spool(redis_url: str, tmp_path: Path) -> None:
    """It comes back with its request; a line of an earlier version, which has none, is read too."""
    config = config_of(redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config, spool=True) as index:
        request = request_of(config, FETCHED, index.fingerprint(text(article(1))))
        line = write_line(request, "index")
        assert read_request(line, "index") == request
        earlier = json.loads(line)
        del earlier["fetched"]
        assert read_request(json.dumps(earlier).encode(), "index") == request._replace(fetched="")
        Spool(tmp_path, f"{config.namespace} {index.digest}").add([request])
        assert [verdict.url async for verdict in index.replay()] == [FETCHED]
        record = await index.show(KNOWN)
        assert record is not None
        assert record.url == FETCHED


async def test_a_spelling_in_an_export(redis_url: str) -> None:
    """It is in the line of its page; that of another page in a foreign file is not shown."""
    async with DuplicateIndex.open(config_of(redis_url)) as index:
        for url in (FETCHED, "http://c.example/plain"):
            await index.check(url, text(article(len(url))))
        records = [record async for record in read_records(index.store, odd_bytes=128)]
        lines = [to_line(record) for record in records]
        assert [(one["url"], one.get("fetched")) for one in lines] == [
            (KNOWN, FETCHED),
            ("http://c.example/plain", None),
        ]
        assert from_line(lines[0], 128).fetched == FETCHED
        for foreign in ("http://evil.example/", COPY, "x" * 5000):
            assert from_line(lines[0] | {"fetched": foreign}, 128).fetched == ""
        with pytest.raises(ValueError, match="fetched is not text"):
            from_line(lines[0] | {"fetched": 7}, 128)
