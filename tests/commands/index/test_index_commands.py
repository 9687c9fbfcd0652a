"""Commands that work on an index: forget, verify, clear, copy and rename."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import threading
import time
from types import SimpleNamespace

import pytest
from redis.exceptions import ResponseError

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, ServerError
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.dedup.errors import InputError
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.store import namespaces
from crawler.dedup.store.audit import Audit
from crawler.dedup.store.cluster.shards import shard_tags
from crawler.dedup.store.namespaces import clear_index, copy_index
from crawler.dedup.store.single import SingleIndex
from crawler.dedup.verdict import Verdict
from tests.commands.conftest import ROOT
from tests.conftest import free_port
from tests.support.texts import article, changed, text

LONG = "http://a/" + "long/" * 40
PAGES = [
    *((f"http://a/{i}", text(article(i, 400))) for i in range(40)),
    ("http://b/1", text(changed(article(1, 400), 1))),
    (LONG, text(article(99))),
    ("http://b/99", text(article(99))),
]


def checked(url, pages, **options):
    async def run():
        async with DuplicateIndex.open(DedupConfig(redis_url=url, **options)) as index:
            verdicts = await index.check_many(pages)
            return verdicts, (await index.verify()).faults, await index.stats()

    return asyncio.run(run())


def keys(server):
    return {key.decode() for key in server.ask("KEYS", "*")}


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


def test_a_damaged_archive(dedup, fill, tmp_path):
    """What was done is said, and what was not; the archive of a deleted index goes with it."""
    digest = fill([("http://a.example/", "one two three four five six")])
    archive = tmp_path / f"archive-dedup@{digest}.sqlite"
    archive.write_bytes(b"no database " * 1000)
    code, out, err = dedup("forget", "http://a.example/")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)
    assert "forgotten" in out
    assert archive.name in err
    code, out, err = dedup("clear", "--yes")
    assert (code, err) == (Exit.FOUND, "")
    assert not archive.exists()


def test_the_texts_of_another_index_of_that_name(dedup, fill, start_server, tmp_path):
    """Deleted or renamed is what one server has; the texts of the real index, on another, stay.

    They are told of, and no file is left of what is gone.
    """
    page = ("http://a.example/", "one two three four five six")
    url = start_server().url
    trial = ["-s", f"DEDUP_REDIS_URL={url}"]
    real = fill([page])

    async def digest_of_trial():
        async with DuplicateIndex.open(DedupConfig(redis_url=url)) as index:
            return index.digest

    def files():
        return sorted(path.name for path in tmp_path.iterdir() if "archive" in path.name)

    for digest in (real, asyncio.run(digest_of_trial())):
        writer = ArchiveWriter.of(DedupConfig(data_dir=tmp_path), digest)
        writer.add(page[1], "", Verdict(Kind.UNIQUE, page[0]))
        writer.close()

    assert len(files()) == 2
    code, _, err = dedup("clear", "--yes", *trial)
    assert (code, err.count("\n")) == (Exit.FOUND, 1)
    assert f"texts of another index of that name are left in {tmp_path}" in err
    assert files() == [f"archive-dedup@{real}.sqlite"]
    assert dedup("rename", "dedup", "news")[0] == Exit.FOUND
    assert files() == [f"archive-news@{real}.sqlite"]
    assert dedup("rename", "news", "dedup")[0] == Exit.FOUND
    assert dedup("clear", "--yes")[::2] == (Exit.FOUND, "")
    assert files() == []


def test_a_replay_of_what_cannot_be_read(dedup, tmp_path):
    """As of files that belong to another user: one line that names the file."""
    (tmp_path / "unchecked-0.jsonl").mkdir()
    code, out, err = dedup("replay")
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert "unchecked-0.jsonl" in err


def test_a_replay_that_breaks_off_lists_what_it_has_checked(
    dedup, fill, redis_url, tmp_path, monkeypatch
):
    """Copies found before the server gave no more answer wait no more, and so are not lost."""
    fill([("http://a/", text(article(1)))])

    async def keep() -> None:
        config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
        async with DuplicateIndex.open(config, spool=True) as index:
            page = index.fingerprint(text(article(1)))
            index._exchange.keep(
                [request_of(index.config, f"http://b/{i}", page) for i in range(40)]
            )

    asyncio.run(keep())
    check, answers = SingleIndex.check, iter((True, False))

    async def answer(store, requests):
        if not next(answers, True):
            raise ServerError("gone; start it again")
        return await check(store, requests)

    monkeypatch.setattr(SingleIndex, "check", answer)
    code, out, err = dedup("replay", "--json")
    first = json.loads(out)
    assert (code, err, len(first)) == (Exit.SERVER, "scrapy dedup: gone; start it again\n", 32)
    code, out, _ = dedup("replay", "--json")
    assert (code, len(json.loads(out))) == (Exit.FOUND, 8)


def test_a_replay_shows_similarities_as_other_commands_do(dedup, fill, redis_url, tmp_path):
    """Rounded down, with four digits."""
    fill([("http://a/", text(article(1)))])

    async def keep() -> None:
        config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
        async with DuplicateIndex.open(config, spool=True) as index:
            page = index.fingerprint(text(changed(article(1), 2)))
            index._exchange.keep([request_of(index.config, "http://b/", page)])

    asyncio.run(keep())
    shown = dedup("replay")[1].splitlines()[1].split("\t")[3]
    facts = dict(line.split("\t") for line in dedup("show", "http://b/")[1].splitlines() if line)
    assert shown == facts["similarity"]


def test_a_replay_passes_over_lines_that_no_index_can_take(dedup, fill, redis_url, tmp_path):
    """They stay for a person to see, what stands behind them is checked, the index stays sound."""
    fill([("http://a/", text(article(1)))])

    async def keep() -> None:
        config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
        async with DuplicateIndex.open(config, spool=True) as index:
            pages = [(f"http://b/{i}", index.fingerprint(text(article(i)))) for i in (1, 2)]
            index._exchange.keep([request_of(index.config, *page) for page in pages])

    asyncio.run(keep())
    path = tmp_path / "unchecked.jsonl"
    good = path.read_text()
    record = json.loads(good.splitlines()[0])
    bad = ""
    for name, value in [("url", 5), ("words", -5), ("gone", 5), ("bands", "00"), ("odd", [])]:
        bad += json.dumps(record | {name: value}) + "\n"
    bad += json.dumps(record | {"odd": [[1, 2, "00"]]}) + "\n"
    path.write_text(bad + good)
    code, out, err = dedup("replay")
    assert (code, err.count("\n")) == (Exit.FOUND, 1)
    assert "6 pages passed unchecked in crawls with another index, or lines are damaged" in err
    assert out.endswith("2 pages checked, 1 of them a copy\n")
    assert path.read_text() == bad
    assert "faults\t0" in dedup("verify")[1]


def test_a_replay_of_reports_alone(dedup, fill, redis_url, tmp_path):
    """Where nothing but addresses that are gone waited, they are told and counted; exit code 0."""
    fill([("http://a/", text(article(1)))])

    async def keep() -> None:
        config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
        async with DuplicateIndex.open(config, spool=True) as index:
            index.keep_gone([("http://a/", int(time.time())), ("http://a/unknown", 1)])

    asyncio.run(keep())
    code, out, err = dedup("replay")
    assert (code, err) == (Exit.FOUND, "")
    assert out.endswith("2 URLs reported to the index as gone\n")
    assert dedup("replay")[0] == Exit.NOTHING


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
