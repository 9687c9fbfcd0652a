"""Indexes are copied and renamed as a whole, and nothing is overwritten."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading

import pytest
from redis.exceptions import ResponseError

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, ServerError
from crawler.dedup.errors import InputError
from crawler.dedup.store import namespaces
from crawler.dedup.store.cluster.shards import shard_tags
from crawler.dedup.store.namespaces import clear_index, copy_index
from tests.commands.conftest import ROOT
from tests.commands.index.looked_at import LONG, PAGES, checked, keys
from tests.conftest import free_port


def test_copy(dedup, fill, server):
    """A copy knows what the original knows, is sound, and goes its own way."""
    fill(PAGES)
    code, out, _ = dedup("copy", "dedup", "other")
    assert (code, out.count("\n")) == (Exit.FOUND, 1)
    record = dedup("show", LONG, "--json")[1]
    assert dedup("show", LONG, "--json", "-s", "DEDUP_NAMESPACE=other")[1] == record
    verdicts, faults, stats = checked(server.url, PAGES, namespace="other")
    assert {verdict.kind for verdict in verdicts} == {Kind.UNCHANGED}
    assert faults == []
    assert (stats.kept, stats.urls) == (41, 43)
    dedup("clear", "--yes")
    assert {key.partition(":")[0] for key in keys(server)} == {"{other}"}


def test_rename(dedup, fill, server):
    """After a rename nothing is left under the old name."""
    fill(PAGES)
    before = keys(server)
    assert dedup("rename", "dedup", "other", "--json")[0] == Exit.FOUND
    assert keys(server) == {key.replace("{dedup}", "{other}") for key in before}
    assert checked(server.url, PAGES, namespace="other")[0][0].kind is Kind.UNCHANGED


@pytest.mark.parametrize("command", ["copy", "rename"])
def test_pages_that_wait_go_along(dedup, fill, server, tmp_path, command):
    """A renamed index checks the pages that passed unchecked; of a copied one the original does."""
    fill(PAGES)

    async def unanswered() -> None:
        config = DedupConfig(redis_url=server.url, data_dir=tmp_path, timeout=0.2)
        async with DuplicateIndex.open(config, spool=True) as index:
            server.process.send_signal(signal.SIGSTOP)
            try:
                with pytest.raises(ServerError):
                    await index.check("http://late/", PAGES[0][1])
            finally:
                server.process.send_signal(signal.SIGCONT)

    asyncio.run(unanswered())
    assert dedup(command, "dedup", "other")[0] == Exit.FOUND
    wait_for = "other" if command == "rename" else "dedup"
    code, out, _ = dedup("replay", "--json", "-s", f"DEDUP_NAMESPACE={wait_for}")
    assert code == Exit.FOUND
    assert [verdict["duplicate_of"] for verdict in json.loads(out)] == [PAGES[0][0]]


def test_rename_without_the_pages_that_wait(dedup, fill, server, tmp_path):
    """If they cannot be written all stays as it was, with one line that says so."""
    fill(PAGES)
    (tmp_path / "unchecked.jsonl").write_text('{"index": "dedup x"}\n')
    (tmp_path / "unchecked.lock").mkdir()
    before = keys(server)
    code, _, err = dedup("rename", "dedup", "other", "-s", f"DEDUP_DATA_DIR={tmp_path}")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    assert "DEDUP_DATA_DIR" in err
    assert keys(server) == before
    assert (tmp_path / "unchecked.jsonl").read_text() == '{"index": "dedup x"}\n'


@pytest.mark.parametrize("command", ["copy", "rename"])
def test_copy_never_overwrites(dedup, fill, server, command):
    """A name that is taken, a missing source and a name that none can have change nothing."""
    fill(PAGES)
    checked(server.url, PAGES[:2], namespace="other")
    before = {key: server.ask("DUMP", key) for key in keys(server)}
    for words, code, message in [
        (["dedup", "other"], Exit.USAGE, "there is an index 'other' already"),
        (["dedup", "dedup"], Exit.USAGE, "'dedup' is the index itself"),
        (["nothing", "new"], Exit.NOTHING, "there is no index 'nothing'"),
        (["dedup", "a b"], Exit.USAGE, "DEDUP_NAMESPACE expects a name"),
    ]:
        found, _, err = dedup(command, *words)
        assert (found, err.count("\n")) == (code, 1), words
        assert message in err
    assert {key: server.ask("DUMP", key) for key in keys(server)} == before


def test_an_index_that_changes_is_not_copied(redis_url, server, monkeypatch):
    """A copy made during a crawl would not be sound: it is deleted, with a word why."""
    config = DedupConfig(redis_url=redis_url)
    checked(redis_url, PAGES)
    transfer = namespaces._transfer_keys

    async def slow(*arguments):
        thread = threading.Thread(target=checked, args=(redis_url, [("http://c/", "a b c d e f")]))
        thread.start()
        await asyncio.to_thread(thread.join)
        return await transfer(*arguments)

    monkeypatch.setattr(namespaces, "_transfer_keys", slow)
    with pytest.raises(InputError, match="was changed meanwhile"):
        asyncio.run(copy_index(config, "dedup", "other"))
    assert not any(key.startswith("{other}") for key in keys(server))


@pytest.mark.parametrize("step", ["_transfer_keys", "_unlink_keys"])
def test_killed_on_its_way(redis_url, monkeypatch, step):
    """What is half copied or half deleted cannot be opened, copied or copied to; clear ends it."""
    config = DedupConfig(redis_url=redis_url, namespace="other")
    checked(redis_url, PAGES)
    if step == "_unlink_keys":
        asyncio.run(copy_index(config, "dedup", "other"))

    async def die(*arguments):
        raise asyncio.CancelledError

    with monkeypatch.context() as patch:
        patch.setattr(namespaces, step, die)
        if step == "_transfer_keys":
            patch.setattr(namespaces, "_clear_index", die)
        work = (
            copy_index(config, "dedup", "other")
            if step == "_transfer_keys"
            else clear_index(config)
        )
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(work)
    with pytest.raises(ParameterMismatch, match=r"incomplete.*unfinished"):
        checked(redis_url, [], namespace=config.namespace)
    said = "clear it and copy again" if step == "_transfer_keys" else "clear it again"
    with pytest.raises(InputError, match=said):
        asyncio.run(copy_index(config, config.namespace, "third"))
    with pytest.raises(InputError, match=said):
        asyncio.run(copy_index(config, "dedup", config.namespace))
    assert asyncio.run(clear_index(config)) > 0
    assert checked(redis_url, PAGES[:1], namespace=config.namespace)[1] == []


def test_the_permissions_that_are_documented_suffice(start_server):
    """A user with the permissions in docs/howto/server.md can do all of it."""
    server = start_server(port=free_port())
    lines = (ROOT / "docs" / "howto" / "server.md").read_text(encoding="utf-8").splitlines()
    rule = next(line.split() for line in lines if "ACL SETUSER crawl" in line)
    more = next(re.findall(r"\+\w+", line) for line in lines if "+unlink" in line)
    server.ask(*rule, *more, "~{other}:*")
    url = f"redis://crawl:password@127.0.0.1:{server.port}"
    config = DedupConfig(redis_url=url)
    checked(url, PAGES)
    assert asyncio.run(copy_index(config, "dedup", "other", is_moved=True)) > 0
    config = DedupConfig(redis_url=url, namespace="other")
    assert asyncio.run(copy_index(config, "other", "dedup")) == asyncio.run(clear_index(config)) > 0


def test_on_a_cluster(cluster, cluster_url):
    """The parts lie on other nodes under another name; nothing is left of what was deleted.

    Those that are there are opened as they are.
    """
    config = DedupConfig(redis_url=cluster_url)
    verdicts, faults, _ = checked(cluster_url, PAGES, shards=24)
    assert {verdict.kind for verdict in verdicts} == {Kind.UNIQUE, Kind.NEAR, Kind.EXACT}
    checked(cluster_url, PAGES[:2], namespace="b/c")
    before = {key for node in cluster for key in keys(node)}
    for name in ("b", "c", "d"):
        assert asyncio.run(copy_index(config, "dedup", name)) > 64
        with pytest.raises(InputError, match="already"):
            asyncio.run(copy_index(config, "dedup", name))
    for name in ("b", "c", "d"):
        verdicts, faults, stats = checked(cluster_url, PAGES, namespace=name)
        assert {verdict.kind for verdict in verdicts} == {Kind.UNCHANGED}
        assert (faults, stats.kept) == ([], 41)
        assert asyncio.run(clear_index(DedupConfig(redis_url=cluster_url, namespace=name))) > 64
    assert {key for node in cluster for key in keys(node)} == before
    assert asyncio.run(clear_index(config)) == sum("dedup" in key for key in before)


@pytest.mark.parametrize("command", ["copy", "rename"])
def test_parts_of_no_index_are_left_out(dedup, cluster, cluster_url, command):
    """Earlier versions left them where they looked at no index, for another number of shards."""
    checked(cluster_url, PAGES[:5], shards=5)
    before = {key for node in cluster for key in keys(node)}
    tag = shard_tags("dedup", 24)[1]
    node = next(node for node in cluster if takes(node, f"{{{tag}}}:state"))
    assert keys(node) - before == {f"{{{tag}}}:state"}
    assert dedup(command, "dedup", "other", "-s", f"DEDUP_REDIS_URL={cluster_url}")[0] == Exit.FOUND
    found = {key for node in cluster for key in keys(node) if key.startswith("{other")}
    assert len(found) == len(before)
    verdicts, faults, _ = checked(cluster_url, PAGES[:5], namespace="other", shards=5)
    assert ({verdict.kind for verdict in verdicts}, faults) == ({Kind.UNCHANGED}, [])


def takes(node, key):
    """Whether it is this node of a cluster that has the key's slot; it has counted there then."""
    try:
        return node.ask("HINCRBY", key, "exchanges", 1)
    except ResponseError:
        return False
