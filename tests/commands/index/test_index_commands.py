"""Commands on a whole index: who looks changes nothing, `verify`, `clear` and `forget`."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.store.audit import Audit
from crawler.dedup.store.namespaces import clear_index
from tests.commands.index.looked_at import PAGES, checked, keys

LOOKS = [
    "stats", "verify", "show http://a/", "where http://a/", "explain http://a/", "clusters",
    "clusters 1", "top", "sample", "tune", "where", "report -o {}/r.html", "export {}/e.gz",
    "forget http://a/", "gone http://a/", "prefer http://a/", "rethreshold 0.9", "replay",
    "override --list",
]  # fmt: skip


@pytest.mark.parametrize("words", LOOKS)
def test_who_looks_at_no_index_makes_none(dedup, server, redis_url, tmp_path, words):
    """Its settings and its seed would be those of every crawl that comes after."""
    code, _, _ = dedup(*words.format(tmp_path).split(), "-s", "DEDUP_THRESHOLD=0.7")
    assert code in (Exit.FOUND, Exit.NOTHING, Exit.USAGE)
    assert keys(server) == set()
    assert not checked(redis_url, PAGES[:2])[1]


def test_who_looks_at_no_index_of_a_cluster_makes_none(dedup, cluster, cluster_url, tmp_path):
    for words in LOOKS:
        options = ["-s", "DEDUP_THRESHOLD=0.7", "-s", f"DEDUP_REDIS_URL={cluster_url}"]
        code, _, _ = dedup(*words.format(tmp_path).split(), *options)
        assert code in (Exit.FOUND, Exit.NOTHING, Exit.USAGE), words
        assert not any(keys(node) for node in cluster), words
    assert not checked(cluster_url, PAGES[:2])[1]


def test_forget(dedup, fill):
    """A forgotten page is not known any more; exit code 1 says that one never was."""
    fill(PAGES)
    code, out, err = dedup("forget", "http://a/1", "http://a/2")
    assert (code, err) == (Exit.FOUND, "")
    assert "http://a/2\tforgotten" in out
    assert dedup("show", "http://a/1")[0] == Exit.NOTHING
    code, out, err = dedup("forget", "http://a/1", "http://a/3", "--json")
    assert (code, json.loads(out)) == (Exit.NOTHING, {"http://a/1": False, "http://a/3": True})
    assert err == "scrapy dedup: the index never saw 'http://a/1'\n"
    assert dedup("verify")[0] == Exit.FOUND


def test_verify(dedup, fill, server):
    """A sound index is exit code 0; a table that lost an entry is a fault that is named."""
    code, out, said = dedup("verify")
    assert (code, "faults\t0" in out) == (Exit.NOTHING, True)  # a lost index is no sound one
    assert "nothing yet in the index" in said
    fill(PAGES)
    code, out, said = dedup("verify")
    assert (code, "faults\t0" in out, said) == (Exit.FOUND, True, "")
    url_bucket = next(key for key in keys(server) if ":url:" in key)
    server.ask("DEL", url_bucket)
    code, out, said = dedup("verify")
    assert code == Exit.NOTHING
    assert f"bucket {url_bucket} and the records disagree" in out
    assert "`export` this index" in said
    code, out, _ = dedup("verify", "--json")
    assert code == Exit.NOTHING
    assert len(json.loads(out)["faults"]) >= 1


def test_verify_of_what_changes(dedup, monkeypatch):
    """What could not be compared is no fault, and is said."""

    async def verify(index):
        return Audit(unsettled=3)

    monkeypatch.setattr(DuplicateIndex, "verify", verify)
    code, out, err = dedup("verify", "--json")
    assert (code, json.loads(out)["unsettled"], err.count("\n")) == (Exit.FOUND, 3, 1)
    assert "3 buckets kept changing" in err


def test_clear_leaves_nothing_of_the_index_and_all_of_others(dedup, fill, server):
    """Other indexes, also those whose names begin or end alike, and other keys stay."""
    others = ["dedup2", "dedup/x", "xdedup", "[d]edup", "d\\edup"]
    for other in others[:3]:
        checked(server.url, PAGES[:3], namespace=other)
    server.ask("SET", "dedup", "mine")
    server.ask("SET", "dedup:params", "mine")
    before = keys(server)
    fill(PAGES)
    code, out, _ = dedup("clear", "--yes")
    assert code == Exit.FOUND
    assert "is deleted" in out
    assert keys(server) == before
    assert dedup("clear", "--yes")[0] == Exit.NOTHING
    assert dedup("clear", "--yes", "-s", "DEDUP_NAMESPACE=d\\edup2")[0] == Exit.NOTHING
    fill(PAGES[:1])
    assert dedup("clear", "--yes", "--json")[1].startswith('{\n  "namespace": "dedup",')
    assert checked(server.url, PAGES[:1])[0][0].kind is Kind.UNIQUE


def test_clear_asks(dedup, fill, monkeypatch, server):
    """Without --yes a person is asked, and a script is refused."""
    fill(PAGES[:1])
    before = keys(server)
    code, _, err = dedup("clear")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    assert "--yes" in err
    for answer in ("\n", "no\n", ""):
        stdin = SimpleNamespace(isatty=lambda: True, readline=lambda answer=answer: answer)
        monkeypatch.setattr("sys.stdin", stdin)
        code, _, err = dedup("clear")
        assert code == Exit.USAGE
        assert "Delete the index 'dedup' of unix://" in err
    assert keys(server) == before
    stdin.readline = lambda: "y\n"
    assert dedup("clear")[0] == Exit.FOUND
    assert keys(server) == set()


def test_clear_takes_an_index_with_other_parameters(dedup, fill):
    """That is what it is needed for: no other command could open it."""
    fill(PAGES[:2])
    other = ["-s", "DEDUP_THRESHOLD=0.6"]
    assert dedup("stats", *other)[0] == Exit.SERVER
    assert dedup("clear", "--yes", *other)[0] == Exit.FOUND
    assert dedup("stats", *other)[0] == Exit.NOTHING


def test_a_crawl_whose_index_is_cleared_is_told(redis_url, server):
    """It does not fill the index again behind the back of whoever cleared it, with no key."""
    config = DedupConfig(redis_url=redis_url)

    async def run():
        async with DuplicateIndex.open(config) as index:
            await index.check_many(PAGES[:5])
            await clear_index(config)
            with pytest.raises(ServerError, match="deleted or replaced"):
                await index.check(*PAGES[6])

    asyncio.run(run())
    assert keys(server) == set()
