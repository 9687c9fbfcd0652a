"""``scrapy dedup …`` in this process, as Scrapy itself runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.cmdline import execute
from scrapy.settings import Settings

from crawler.dedup import DedupConfig, DuplicateIndex

ROOT = Path(__file__).parents[2]


@pytest.fixture
def dedup(
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command on an empty index: its exit code, output and errors."""
    monkeypatch.chdir(ROOT)

    def run(*words: str) -> tuple[int, str, str]:
        settings = Settings(
            {
                "COMMANDS_MODULE": "crawler.commands",
                "DEDUP_REDIS_URL": redis_url,
                "DEDUP_DATA_DIR": str(tmp_path),
            }
        )
        with pytest.raises(SystemExit) as caught:
            execute(["scrapy", "dedup", *words], settings)
        output = capsys.readouterr()
        assert isinstance(caught.value.code, int)
        return caught.value.code, output.out, output.err

    return run


@pytest.fixture
def fill(redis_url: str) -> Callable[[list[tuple[str, str]]], str]:
    """Checks pages with the index that the command asks; its digest."""

    def check(pages: list[tuple[str, str]]) -> str:
        async def run() -> str:
            async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
                await index.check_many(pages)
                return index.digest

        return asyncio.run(run())

    return check
