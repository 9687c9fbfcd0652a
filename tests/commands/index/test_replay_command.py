"""`scrapy dedup replay` and damaged archives say what they could not do."""

from __future__ import annotations

import asyncio
import json
import time

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ServerError
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.store.single import SingleIndex
from crawler.dedup.verdict import Verdict
from tests.support.texts import article, changed, text


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
