"""A page that has a whole other one is no copy of it; verdicts name the two."""

from __future__ import annotations

import random
import time
from base64 import b64encode
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import redis

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, Verdict
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.exchange.spool_lines import read_request, write_line
from crawler.dedup.export.page_lines import from_line, to_line
from crawler.dedup.export.transfer import export_index, import_index
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.sketches import METHODS, anchors
from crawler.dedup.sketches.shingles import Shingler
from crawler.dedup.store.namespaces import copy_index
from crawler.dedup.store.records import PageRecord, read_records
from tests.support.texts import article, changed, text

SHINGLER = Shingler(seed=1)


def quoting(passage: list[str], words: int, seed: int) -> list[str]:
    """A page of so many words that has a passage somewhere."""
    filler = article(seed, words - len(passage))
    at = random.Random(seed).randrange(len(filler) + 1)
    return filler[:at] + passage + filler[at:]


def packed(words: list[str]) -> bytes:
    return anchors.find_anchors(SHINGLER.in_order(text(words)))


def config_of(url: str, name: str, **options: Any) -> DedupConfig:
    return DedupConfig(redis_url=url, namespace=name, seed=1, **{"containment": 0.9, **options})


def named(verdict: Verdict) -> tuple[list[str], list[str]]:
    return [one.url for one in verdict.contains or ()], [
        one.url for one in verdict.contained_in or ()
    ]


# sketches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "times"), [(150, 10), (150, 3), (400, 10), (1000, 2)])
def test_a_passage_is_found_in_both_orders(words: int, times: int) -> None:
    """At least 19 of 20, in pages up to ten times as long, and about all of it."""
    shares = []
    for seed in range(60):
        short = article(seed, words)
        long = quoting(short, words * times, 1000 + seed)
        a, b = packed(short), packed(long)
        shares += [
            anchors.share_of_known(b, anchors.stored_anchors(a, len(short))).share,
            anchors.share_in_known(a, anchors.stored_anchors(b, len(long)), len(long)).share,
        ]
    found = [share for share in shares if share >= 0.9]
    assert len(found) >= 0.95 * len(shares)


def test_half_of_a_page_is_not_the_page() -> None:
    """Of pages that have half of another, hardly any seems to have 0.82 of it."""
    shares = []
    for seed in range(200):
        short = article(seed, 400)
        long = packed(quoting(short[:200], 1500, 1000 + seed))
        stored = anchors.stored_anchors(packed(short), 400)
        shares.append(anchors.share_of_known(long, stored).share)
    assert sum(share >= 0.82 for share in shares) <= 2
    assert 0.4 < sum(shares) / len(shares) < 0.65


def test_phrases_that_stand_elsewhere_too() -> None:
    """A page that has the phrases of a passage at other places as well has the passage."""
    for seed in range(20):
        short = article(seed, 200)
        filler = article(1000 + seed, 800)
        for place in range(0, 190, 5):  # each shingle of the passage is in one of these
            filler[place * 4 : place * 4] = short[place : place + 9]
        a, b = packed(short), packed(filler + short)
        assert anchors.share_of_known(b, anchors.stored_anchors(a, 200)).share >= 0.9
        stored = anchors.stored_anchors(b, len(filler) + 200)
        assert anchors.share_in_known(a, stored, len(filler) + 200).share >= 0.9


def test_a_passage_of_rows_is_found_among_others() -> None:
    """Phrases that rows of a list share are anchors at many places, of which one counts."""
    draw = random.Random(1)
    words = article(1, 60)

    def rows(count: int) -> list[str]:
        found: list[str] = []
        while len(found) < count:
            one, other = draw.choices(words, k=2)
            found += f"returns a new {one} object of the type {other} or else raises".split()
        return found[:count]

    for _ in range(60):
        short, filler = rows(400), rows(2000)
        long = filler[:1200] + short + filler[1200:]
        a, b = packed(short), packed(long)
        assert anchors.share_of_known(b, anchors.stored_anchors(a, 400)).share == 1
        assert anchors.share_in_known(a, anchors.stored_anchors(b, 2400), 2400).share == 1


def test_anchors_are_few_whatever_the_text() -> None:
    """Of a text that repeats itself, of a very long one, and of one too short."""
    same = packed(["again", "and"] * 50_000)
    assert len(anchors.read_anchors(same)) <= 32
    long = packed(article(1, 200_000))
    assert len(anchors.read_anchors(long)) <= 512
    assert len(anchors.stored_anchors(long, 200_000)) <= 64 * anchors.STORED_BYTES
    assert packed(article(1, 99)) == b""
    assert len(packed(article(1, 100))) > 0


@pytest.mark.parametrize("count", [96, 145, 146, 147, 400, 3000])
def test_anchors_are_the_least_of_windows(count: int) -> None:
    """As one finds them by looking at every window, for every size of window."""
    hashes = SHINGLER.in_order(text(article(count, count + 4)))
    found = {one.key: one for one in anchors.read_anchors(anchors.find_anchors(hashes))}
    for window in (anchors.WINDOW, 200, count):
        size = min(window, count)
        wanted = {
            int(hashes[start : start + size].min()) & (1 << 27) - 1
            for start in range(count - size + 1)
        }
        assert {key for key, one in found.items() if one.reach >= size} == wanted


# an index ---------------------------------------------------------------------------------------

SHORT = article(1, 300)
LONG = quoting(SHORT, 2000, 2)
PAGES = [
    ("http://a.example/short", text(SHORT)),
    ("http://a.example/other", text(article(3, 300))),
    ("http://b.example/long", text(LONG)),
    ("http://b.example/part", text(article(4, 100) + LONG[900:1500])),
]


async def checked(config: DedupConfig, pages: list[tuple[str, str]]) -> dict[str, Verdict]:
    async with DuplicateIndex.open(config) as index:
        verdicts = await index.check_many(pages)
        assert (await index.verify()).faults == []
        return {one.url.rpartition("/")[2]: one for one in verdicts}


@pytest.mark.parametrize("method", METHODS)
async def test_verdicts_name_both(redis_url: str, method: str) -> None:
    """In both orders of arrival, whatever the method; neither is a copy."""
    found = await checked(config_of(redis_url, method, method=method), PAGES[:3])
    assert named(found["long"]) == (["http://a.example/short"], [])
    assert named(found["short"]) == named(found["other"]) == ([], [])
    found = await checked(config_of(redis_url, method + "2", method=method), PAGES[2::-1])
    if method == "modulo":  # to which a page that another has is its copy
        assert found["short"].duplicate_of == "http://b.example/long"
    else:
        assert named(found["short"]) == ([], ["http://b.example/long"])
        assert {one.kind for one in found.values()} == {Kind.UNIQUE}


async def test_without_the_setting_nothing_is_kept(redis_url: str) -> None:
    """Not a key and not a byte, and verdicts have no such fields."""
    client = redis.Redis.from_url(redis_url)
    found = await checked(config_of(redis_url, "off", containment=None), PAGES)
    assert all("contains" not in one.to_dict() for one in found.values())
    names = client.keys("{off}:*")
    assert not [name for name in names if b"anchor" in name]
    assert client.hget("{off}:params", "containment") is None
    assert not [name for name in client.hkeys("{off}:state") if b"anchor" in name]
    with pytest.raises(ParameterMismatch, match="containment: index –, settings on"):
        await checked(config_of(redis_url, "off"), [])
    await checked(config_of(redis_url, "on"), PAGES)
    await checked(config_of(redis_url, "on", containment=0.5), [])  # the share is free


async def test_what_a_page_kept_is_given_back(redis_url: str) -> None:
    """Forgotten, expired or updated: the tables have as many keys and bytes as before."""
    client = redis.Redis.from_url(redis_url)

    def sizes() -> dict[bytes, int]:
        return {name: client.strlen(name) for name in client.keys("{back}:anchor:*")}

    async with DuplicateIndex.open(config_of(redis_url, "back")) as index:
        await index.check_many(PAGES[:2])
        before = sizes(), client.hget("{back}:state", "anchor.n")
        for _ in range(3):
            await index.check_many(PAGES[2:])
            assert sizes() != before[0]
            for url, _ in PAGES[2:]:
                await index.forget(url)
        assert (sizes(), client.hget("{back}:state", "anchor.n")) == before
        # A page's own former text is nobody who contains it.
        long = await index.check("http://a.example/short", text(LONG))
        assert (long.kind, named(long)) == (Kind.UPDATED, ([], []))
        copy = await index.check("http://c.example/", text(changed(LONG, 3)))
        assert (copy.kind, named(copy)) == (Kind.NEAR, ([], []))  # its original is not named
        assert (await index.verify()).faults == []
        for url in ("http://a.example/short", "http://a.example/other", "http://c.example/"):
            await index.forget(url)
        assert sizes() == {}


async def test_the_same_passage_in_very_many_pages_costs_little(redis_url: str) -> None:
    """A licence in all pages: answers name the latest of them, sixteen at the most."""
    passage = article(7, 300)
    pages = [(f"http://a.example/{n}", text(quoting(passage, 900, 100 + n))) for n in range(60)]
    async with DuplicateIndex.open(config_of(redis_url, "many")) as index:
        await index.check_many(pages)
        verdict = await index.check("http://a.example/passage", text(passage))
        assert 10 <= len(named(verdict)[1]) <= 16
        assert (await index.verify()).faults == []


async def test_pages_that_are_much_alike_do_not_contain_each_other(redis_url: str) -> None:
    """Of 600 words and 0.85 of their shingles, which their sketches tell well enough from 0.9."""
    async with DuplicateIndex.open(config_of(redis_url, "alike")) as index:
        for seed in range(20):
            page = article(seed, 600)
            await index.check(f"http://{seed}.example/", text(page))
            verdict = await index.check(f"http://{seed}.example/2", text(changed(page, 18)))
            assert (verdict.kind, named(verdict)) == (Kind.UNIQUE, ([], []))


async def test_a_scope_is_alone(redis_url: str) -> None:
    """Pages of another host neither contain a page nor are contained in it."""
    found = await checked(config_of(redis_url, "hosts", scope="host"), PAGES)
    assert named(found["long"]) == ([], [])


async def test_what_a_site_puts_around_texts_is_nobodys(redis_url: str) -> None:
    """A few words beside a long box are not contained in a page with another heading and the box;
    where little is known of the site yet, the two are named, and none is dropped for it.
    """
    async with DuplicateIndex.open(config_of(redis_url, "box")) as index:
        for number, words, learnt, unconfirmed in (
            (10, 20, 30, []),
            (20, 320, 3, [True]),
            (30, 320, 30, [False]),
        ):
            site, box = f"http://{number}.example", article(number, 300)
            short, long = article(number + 1, 20) + box, article(number + 2, 900) + box
            options = {"heading": "One", "own_words": 1200, "learnt": learnt}
            await index.check(f"{site}/long", text(long), **options)
            options = {"heading": "Other", "own_words": words, "learnt": learnt}
            verdict = await index.check(f"{site}/short", text(short), **options)
            assert [one.unconfirmed for one in verdict.contained_in or ()] == unconfirmed


async def test_it_finds_again_what_it_had(redis_url: str) -> None:
    """Unchanged pages are told what came since; of two one contains the other, not both."""
    async with DuplicateIndex.open(config_of(redis_url, "again")) as index:
        await index.check_many(PAGES[:3])
        again = [await index.check(*page) for page in PAGES[:3]]
        assert [one.kind for one in again] == [Kind.UNCHANGED] * 3
        assert [named(one) for one in again] == [
            ([], ["http://b.example/long"]), ([], []), (["http://a.example/short"], []),
        ]  # fmt: skip
        assert again[0].contained_in is not None
        assert again[0].contained_in[0].share > 0.9
        await index.begin_crawl()
        later = await index.check(*PAGES[0])
        assert later.container is None  # until the crawl has seen the long one
        assert named(later)[1] == ["http://b.example/long"]
        await index.gone("http://b.example/long")
        assert named(await index.check(*PAGES[0])) == ([], [])


async def test_small_shingles_and_no_spaces(redis_url: str, tmp_path: Path) -> None:
    """Anchors are runs of five words whatever is compared; a character of Chinese is a word."""
    draw = random.Random(3)
    han = "".join(chr(0x4E00 + draw.randrange(3000)) for _ in range(2000))
    pages = [("http://a.example/short", han[700:1000]), ("http://a.example/long", han)]
    for number, options in enumerate(
        ({}, {"shingle_unit": "char"}, {"shingle_size": 1}, {"shingle_step": 3})
    ):
        found = await checked(config_of(redis_url, f"han{number}", **options), pages)
        assert named(found["long"]) == (["http://a.example/short"], []), options


# clusters and exports ---------------------------------------------------------------------------


async def lived_through(config: DedupConfig) -> list[Any]:
    """What an index says of pages that come, come again, change, are deposed, and go."""
    said: list[Any] = []
    async with DuplicateIndex.open(config) as index:

        async def come(url: str, words: list[str], **options: Any) -> None:
            said.append((await index.check(url, text(words), **options)).to_dict() | {"cluster": 0})

        for _ in range(2):
            for url, words in PAGES:
                await come(url, words.split())
        await come("http://c.example/", changed(LONG, 3), preferred=True)  # takes its place
        await come("http://a.example/short", changed(SHORT, 1))
        await come("http://a.example/short", article(9, 50))
        await index.override("http://b.example/part", "keep")
        await come("http://b.example/part", PAGES[3][1].split())
        await index.override("http://b.example/part", None)
        await come("http://b.example/part", PAGES[3][1].split())
        assert (await index.verify()).faults == []
        for url in ("http://c.example/", *(url for url, _ in PAGES)):
            said.append(await index.forget(url))
        await index.store.finish_dead()
        assert (await index.verify()).faults == []
        counters = await index.store.read_counters()
        said.append(counters["state"].get("anchor.n", "0"))
    return said


async def test_a_cluster_says_the_same(cluster_url: str, redis_url: str) -> None:
    """In one slot and spread; and nothing is left of pages that go."""
    one = await lived_through(config_of(redis_url, "one"))
    named = [(said["url"], said["contains"], said["contained_in"]) for said in one[:13]]
    assert sum(bool(contains) for _, contains, _ in named) >= 3
    assert sum(bool(contained) for _, _, contained in named) >= 3
    assert one[-1] == "0"
    assert one == await lived_through(config_of(cluster_url, "slot"))
    assert one == await lived_through(config_of(cluster_url, "spread", shards=8))


async def test_a_text_is_found_in_others(cluster_url: str, redis_url: str) -> None:
    """`find` names what a check would, on any server, and changes nothing."""
    found = []
    for config in (config_of(redis_url, "one"), config_of(cluster_url, "spread", shards=8)):
        async with DuplicateIndex.open(config) as index:
            for page in PAGES[:3]:
                await index.check(*page)
            before = await index.store.read_states()
            long, short = await index.find(text(LONG)), await index.find(text(LONG[300:1700]))
            assert await index.store.read_states() == before
        found.append((long, short))
        kinds = [(one.kind, one.url.rpartition("/")[2]) for one in (*long, *short)]
        assert kinds[:2] == [("exact", "long"), ("contains", "short")]
        assert ("contained_in", "long") in kinds[2:]
        assert 0.1 < long[1].containment < 0.2  # of the text, that the page has
        assert short[0].containment > 0.9
    assert found[0] == found[1]


async def test_pages_that_expire_leave_nothing(
    cluster_url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither are they named, nor do their entries stay."""
    for url, shards in ((redis_url, 1), (cluster_url, 8)):
        config = config_of(url, f"old{shards}", shards=shards, ttl="1h")
        async with DuplicateIndex.open(config) as index:
            await index.check_many(PAGES)
            now = time.time()
            monkeypatch.setattr(time, "time", lambda now=now: now + 7200)
            verdict = await index.check("http://a.example/new", text(article(1, 290)))
            assert named(verdict) == ([], [])
            for number in range(20):
                await index.check(f"http://a.example/{number}", "a few words")
            await index.store.finish_dead()
            assert (await index.verify()).faults == []
            states = await index.store.read_states()
            own = len(anchors.stored_anchors(packed(article(1, 290)), 290)) // 8
            assert sum(state.get("anchor.n", 0) for state in states) <= own + 2
            monkeypatch.undo()


async def test_an_export_takes_anchors_along(
    cluster_url: str, redis_url: str, tmp_path: Path
) -> None:
    """From a server to a spread index and back: the pages are found as before."""
    first = config_of(redis_url, "first")
    await checked(first, PAGES)
    steps = [first, config_of(cluster_url, "spread", shards=8), config_of(redis_url, "last")]
    for number, (source, target) in enumerate(pairwise(steps)):
        path = tmp_path / f"{number}.gz"
        async with DuplicateIndex.open(source) as index:
            assert await export_index(index, path) == len(PAGES)
        assert (await import_index(target, path)).audit.faults == []
        async with DuplicateIndex.open(target) as index:
            verdict = await index.check("http://c.example/", text(LONG[300:1700]))
            assert named(verdict)[1] == ["http://b.example/long"]
            await index.forget("http://c.example/")
            assert (await index.verify()).faults == []
    for anchor in (b"1234567", b"\xff" * 8, b"\0" * 8 + b"\0\0\0\1aaaa" + b"\0" * 8):
        line = to_line((await records(first))[0]) | {"anchors": b64encode(anchor).decode()}
        with pytest.raises(ValueError, match="anchors"):
            from_line(line, first.sketch_bits // 8)


async def test_an_index_is_renamed_with_its_anchors(redis_url: str) -> None:
    """All keys go along, and none is left."""
    first, moved = config_of(redis_url, "first"), config_of(redis_url, "moved")
    await checked(first, PAGES)
    await copy_index(first, "first", "moved", is_moved=True)
    assert not redis.Redis.from_url(redis_url).keys("{first}:*")
    async with DuplicateIndex.open(moved) as index:
        assert named(await index.check(*PAGES[0])) == ([], ["http://b.example/long"])
        assert (await index.verify()).faults == []


async def test_what_waits_in_the_spool_keeps_its_anchors(redis_url: str) -> None:
    """A line of it makes the same request again; one with anchors that are none is damaged."""
    async with DuplicateIndex.open(config_of(redis_url, "spool")) as index:
        page = index.fingerprint(text(SHORT))
        request = request_of(index.config, "http://a.example/", page)
        line = write_line(request, "spool")
        assert read_request(line, "spool") == request
        assert index.fingerprint.fits(page)
        assert not index.fingerprint.fits(replace(page, anchors=page.anchors[:-1]))
        without = Fingerprinter(DedupConfig(seed=1), 1)
        assert b"anchors" not in write_line(request._replace(fingerprint=without("a b c")), "")


async def records(config: DedupConfig) -> list[PageRecord]:
    async with DuplicateIndex.open(config) as index:
        found = read_records(index.store, odd_bytes=config.sketch_bits // 8)
        return [record async for record in found if record.anchors]
