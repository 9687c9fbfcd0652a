"""What is exported and imported: all of an index, once, in another index or beside its pages."""

from __future__ import annotations

import asyncio
import json

import pytest
import redis

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, Kind, ParameterMismatch, inspection
from crawler.dedup.export.file import read_blocks
from crawler.dedup.export.page_lines import from_line
from crawler.dedup.export.transfer import import_index
from tests.commands.index.exported import PAGES, everything, fill, opened, written
from tests.support.texts import article, changed, text


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("server", "server"), ("server", "slot"), ("slot", "server"), ("spread", "spread")),
        *(("slot", "spread"), ("spread", "slot")),
    ],
)
def test_what_is_read_is_what_was_written(source, target, redis_url, cluster_url, tmp_path):
    """Between servers and clusters: records, originals, counters; sound; and it goes on from there.

    Where the layout is the same, pages keep their numbers.
    """
    places = {"server": (redis_url, 1), "slot": (cluster_url, 1), "spread": (cluster_url, 24)}
    old, new = (
        DedupConfig(redis_url=places[kind][0], shards=places[kind][1], namespace=name)
        for kind, name in ((source, "old"), (target, "new"))
    )
    is_same = (source == "spread") == (target == "spread")
    before = opened(old, fill)
    path = written(old, tmp_path / "index.jsonl.gz")
    found = asyncio.run(import_index(new, path))
    assert (found.pages, found.new, found.audit.faults) == (len(before[0]), len(before[0]), [])
    assert found.keeps is is_same
    after = opened(new, everything)
    if is_same:
        assert after == before
        both = [
            opened(config, lambda index: inspection.read_clusters(index)) for config in (old, new)
        ]
        assert both[0] == both[1]
    else:
        assert after[2:] == before[2:]
        gone = {url for url, original in before[1].items() if original != after[1][url]}
        # Copies of what is kept no more are decided anew: their original is not named.
        assert {after[1][url] for url in gone} <= {None}
        for url, record in before[0].items():
            assert after[0][url]._replace(replaces="") == record._replace(replaces="")

    async def go_on(index):
        verdict = await index.check("http://new/", text(changed(article(20, 300), 2, seed=77)))
        return verdict, await index.check("http://a.example/20", text(article(20, 300)))

    near, unchanged = opened(new, go_on)
    assert (near.kind, near.duplicate_of) == (Kind.NEAR, "http://a.example/20")
    assert unchanged.kind is Kind.UNCHANGED
    assert opened(new, lambda index: index.verify()).faults == []


def test_an_index_that_lost_writes_is_whole_again(redis_url, tmp_path):
    """What a forced failover or an evicting server has taken from the tables comes back."""
    old, new = (DedupConfig(redis_url=redis_url, namespace=name) for name in ("old", "new"))
    before = opened(old, fill)
    with redis.Redis.from_url(redis_url) as client:
        buckets = sorted([*client.scan_iter("{old}:band*"), *client.scan_iter("{old}:url*")])
        assert client.delete(*buckets[::5]) > 10
    assert opened(old, lambda index: index.verify()).faults
    found = asyncio.run(import_index(new, written(old, tmp_path / "index.jsonl.gz")))
    assert (found.pages, found.audit.faults) == (len(before[0]), [])
    assert opened(new, everything)[:2] == before[:2]


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_twice_is_once(kind, redis_url, cluster_url, tmp_path):
    """The same import again changes nothing, and neither does one into the index itself."""
    config = DedupConfig(redis_url={"server": redis_url, "cluster": cluster_url}[kind])
    before = opened(config, fill)
    path = written(config, tmp_path / "x.gz")
    for namespace in ("dedup", "new", "new"):
        target = DedupConfig(redis_url=config.redis_url, namespace=namespace)
        found = asyncio.run(import_index(target, path))
        assert found.audit.faults == []
        assert opened(target, everything) == before
    assert found.new == 0


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_into_an_index_with_pages(kind, redis_url, cluster_url, tmp_path):
    """Pages that it knows stay what they are; others come with their decisions; it stays sound."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old = DedupConfig(redis_url=url, namespace="old", seed=7)
    new = DedupConfig(redis_url=url, namespace="new", seed=7)
    opened(old, lambda index: index.stats(), PAGES)
    path = written(old, tmp_path / "x.gz")
    others = [("http://x.example/", text(article(500))), *PAGES[:5]]
    opened(new, lambda index: index.stats(), others)
    found = asyncio.run(import_index(new, path))
    assert (found.new, found.keeps, found.audit.faults) == (len(PAGES) - 5, False, [])
    plain, originals, counts, _ = opened(new, everything)
    shown = {record.shown_url for record in plain.values()}
    assert shown == {url for url, _ in [*PAGES, *others]}
    assert originals["http://c.example/2"] == "http://a.example/2"
    assert originals["http://b.example/20"] == "http://a.example/20"
    assert counts["verdicts"] == {"unique": len(others)}


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_what_people_said_comes_into_an_index_with_pages(kind, redis_url, cluster_url, tmp_path):
    """Of pages that are new there; of those that it knows its own decisions stand, and none too."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old = DedupConfig(redis_url=url, namespace="old", seed=7)
    new = DedupConfig(redis_url=url, namespace="new", seed=7)

    async def decide(index):
        for number in (0, 1, 2):
            await index.override(f"http://a.example/{number}", "drop")

    async def keep(index):
        await index.override("http://a.example/1", "keep")

    opened(old, decide, PAGES[:9])
    opened(new, keep, PAGES[:2])
    asyncio.run(import_index(new, written(old, tmp_path / "x.gz")))
    wishes = opened(new, lambda index: index.store.overrides())
    assert wishes == {"http://a.example/1": "keep", "http://a.example/2": "drop"}


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_copies_of_a_page_that_has_another_text_now(kind, redis_url, cluster_url, tmp_path):
    """Where the index knows their original with another text, no text of theirs is lost."""
    url = {"server": redis_url, "cluster": cluster_url}[kind]
    old = DedupConfig(redis_url=url, namespace="old", seed=7)
    new = DedupConfig(redis_url=url, namespace="new", seed=7)
    first, second = text(article(1)), text(changed(article(1), 1))
    pages = [("http://a/", first), ("http://b/", first), ("http://c/", second)]
    opened(old, lambda index: index.stats(), pages)
    path = written(old, tmp_path / "x.gz")
    opened(new, lambda index: index.stats(), [("http://a/", text(article(2)))])
    assert asyncio.run(import_index(new, path)).new == 2

    async def come_again(index):
        before = await index.show("http://b/")
        return before.duplicate_of, await index.check_many(pages[1:])

    original, (exact, near) = opened(new, come_again)
    assert original is exact.duplicate_of is None
    assert near.duplicate_of == "http://b/"


def test_exact_hashes_of_earlier_exports_are_longer(config, tmp_path):
    """Those of 16 bytes are cut to what is kept of them now, so that an old index can be moved."""
    opened(config, lambda index: index.stats(), PAGES[:1])
    line = list(read_blocks(written(config, tmp_path / "x.gz")))[1].lines[0]
    earlier = {**line, "exact": line["exact"] + "01020304"}
    assert from_line(earlier, 128) == from_line(line, 128)


def test_parameters_must_agree(config, tmp_path, server):
    """Settings that differ from the file's, and an index with another seed, are errors."""
    opened(config, lambda index: index.stats(), PAGES)
    path = written(config, tmp_path / "x.gz")
    keys = server.ask("DBSIZE")
    other = DedupConfig(redis_url=config.redis_url, namespace="new", threshold=0.7)
    with pytest.raises(ParameterMismatch, match=r"threshold: index 0.8, settings 0.7"):
        asyncio.run(import_index(other, path))
    assert server.ask("DBSIZE") == keys
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    opened(target, lambda index: index.stats(), PAGES[:1])
    with pytest.raises(ParameterMismatch, match=r"seed: .*; import it under another DEDUP"):
        asyncio.run(import_index(target, path))


def test_commands(dedup, redis_url, tmp_path):
    """Both say how many pages, in words and as JSON; errors are one line with exit code 2."""
    config = DedupConfig(redis_url=redis_url)
    path = str(tmp_path / "x.gz")
    assert dedup("export", str(tmp_path / "empty.gz"))[0] == Exit.NOTHING
    opened(config, lambda index: index.stats(), PAGES)
    code, out, err = dedup("export", path)
    assert (code, out, err) == (Exit.FOUND, f"{len(PAGES)} pages are in {path}.\n", "")
    code, _, err = dedup("export", path)
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    nowhere = str(tmp_path / "nowhere" / "x.gz")
    code, _, err = dedup("export", nowhere)
    assert (code, err.partition(": No")[0]) == (2, f"scrapy dedup: cannot write {nowhere!r}")
    code, out, _ = dedup("import", path, "-s", "DEDUP_NAMESPACE=new")
    said = f"{len(PAGES)} pages are imported into 'new', 0 were already there.\n"
    assert (code, out) == (Exit.FOUND, said)
    code, out, _ = dedup("import", path, "--json", "-s", "DEDUP_NAMESPACE=new")
    found = json.loads(out)
    assert (code, found["new"], found["faults"]) == (Exit.FOUND, 0, [])
    for wrong in (str(tmp_path / "nothing.gz"), str(tmp_path), __file__):
        code, _, err = dedup("import", wrong)
        assert (code, err.count("\n")) == (Exit.USAGE, 1), wrong
    for wrong in ("/nowhere/x.gz", "a" * 300):
        code, _, err = dedup("export", wrong)
        assert (code, err.count("\n")) == (Exit.USAGE, 1), wrong
