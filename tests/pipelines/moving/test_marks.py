"""Marks of crawls that were killed, and of those that were not."""

from __future__ import annotations

import fcntl
import json
import os
import time
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.store.messages import Crawl
from crawler.pipelines.crawl.job import Job
from crawler.pipelines.crawl.running import RunningMark
from tests.conftest import Server


async def test_a_crawl_that_ends_while_another_looks_for_it_was_not_killed(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its mark was listed before, and its lock is free after."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config) as index:
        mark, lock = RunningMark(index), fcntl.flock
        mark.hold(await index.begin_crawl())
        await index.end_crawl()

        def end_before(file: Any, how: int) -> None:
            mark.release()
            lock(file, how)

        monkeypatch.setattr(fcntl, "flock", end_before)
        await RunningMark(index).report_past()
        assert not (await index.begin_crawl()).unended


@pytest.mark.parametrize("is_another", [True, False])
async def test_a_mark_of_a_crawl_that_has_ended_ends_no_other(
    server: Server, redis_url: str, tmp_path: Path, is_another: bool
) -> None:
    """The number is that of a crawl in an index made again, or of one that goes on elsewhere."""
    config, moment = DedupConfig(redis_url=redis_url, data_dir=tmp_path, seed=1), time.time
    async with DuplicateIndex.open(config) as index:
        mark, crawl = RunningMark(index), await index.begin_crawl()
        mark.hold(crawl)
        mark.release(is_told=False)
    if is_another:
        server.flush()
    async with DuplicateIndex.open(config) as index:
        killed = await index.begin_crawl(None if is_another else crawl)
        assert killed.number == crawl.number
    async with DuplicateIndex.open(config) as index:
        await RunningMark(index).report_past()
        assert not RunningMark(index)._list_marks()
        with pytest.MonkeyPatch.context() as later:
            later.setattr(time, "time", lambda: moment() + 15)
            assert (await index.begin_crawl()).unended == killed.number.to_bytes(2)


async def test_a_mark_of_a_crawl_that_has_failed_says_so(redis_url: str, tmp_path: Path) -> None:
    """A crawl that begins a moment later is no worker of it, although the server was away."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)
    async with DuplicateIndex.open(config) as index:
        mark, crawl = RunningMark(index), await index.begin_crawl()
        mark.hold(crawl)
        mark.release(is_told=False, failed=True)
        await RunningMark(index).report_past()
        assert (await index.begin_crawl()).unended == crawl.number.to_bytes(2)


@pytest.mark.parametrize(("name", "marks"), [("", 1), ("week 1", 0)])
async def test_crawls_with_a_name_have_no_marks(
    redis_url: str, tmp_path: Path, name: str, marks: int
) -> None:
    """All processes with the name are one crawl, even if one of them is killed."""
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path, crawl=name, namespace="tea/1")
    async with DuplicateIndex.open(config) as index:
        await Job().begin_crawl(index)
        assert len(RunningMark(index)._list_marks()) == marks
        await RunningMark(index).report_past()  # it runs
        assert len(RunningMark(index)._list_marks()) == marks
        await index.end_crawl()


@pytest.mark.parametrize(("digest", "is_told"), [("old", True), ("new", False)])
async def test_a_killed_crawl_is_told_to_its_own_index(
    tmp_path: Path, digest: str, is_told: bool
) -> None:
    """In another one its number is that of another crawl."""
    state = {"running": True, "crawl": [1, 1_700_000_000], "index": "old"}
    (tmp_path / "dedup.json").write_text(json.dumps(state))
    index: Any = Mock(digest=digest, begin_crawl=AsyncMock(return_value=Crawl(2, 1_800_000_000)))
    await Job(tmp_path).begin_crawl(index)
    killed = Crawl(1, 1_700_000_000) if is_told else None
    index.begin_crawl.assert_awaited_once_with(None, killed=killed)


async def test_a_mark_is_told_to_the_index_that_it_names(tmp_path: Path) -> None:
    """Another index with that name, made after a reset, has other crawls."""
    for digest in "old", "new":
        (tmp_path / f"running-tea@{digest}-1-1700000000").touch()
    config = DedupConfig(data_dir=tmp_path, namespace="tea")
    index: Any = Mock(digest="new", config=config, settle_crawl=AsyncMock())
    await RunningMark(index).report_past()
    index.settle_crawl.assert_awaited_once_with(Crawl(1, 1_700_000_000), failed=True)
    assert os.listdir(tmp_path) == ["running-tea@old-1-1700000000"]  # noqa: PTH208
