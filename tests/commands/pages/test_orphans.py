"""The command that lists pages whose text no kept page has any more."""

from __future__ import annotations

import asyncio
import json

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, text


def test_orphans_command(dedup, fill, redis_url):
    """They are a table, JSON or addresses alone; exit code 1 says that there are none."""
    copies = ["http://a/copy", "http://a/print"]
    code, out, err = dedup("orphans")
    assert (code, out, err.count("\n")) == (Exit.NOTHING, "", 1)
    fill([(url, text(article(1))) for url in ("http://a/", *copies)])
    code, out, err = dedup("orphans", "--json")
    assert (code, json.loads(out)) == (Exit.NOTHING, [])
    assert err == "scrapy dedup: every text of the index is in a kept page\n"

    async def go() -> None:
        async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
            await index.gone("http://a/")

    asyncio.run(go())
    assert dedup("orphans", "--urls")[:2] == (Exit.FOUND, "".join(f"{url}\n" for url in copies))
    found = json.loads(dedup("orphans", "--json")[1])
    assert [one["original"] for one in found] == ["http://a/"] * 2
    assert dedup("orphans")[1].splitlines()[0].split("\t") == ["page", "since", "it was a copy of"]


def test_urls_take_one_line_each_and_do_nothing_to_a_terminal(dedup, redis_url):
    """A URL that is stored as it came, with whatever is in it, is no second line and no command."""
    urls = ["http://a/", "http://a/\x1b[31m\nhttp://b/\u202e"]

    async def go() -> None:
        config = DedupConfig(redis_url=redis_url, canonical_urls=False)
        async with DuplicateIndex.open(config) as index:
            for url in urls:
                await index.check(url, text(article(1)))
            await index.gone(urls[0])

    asyncio.run(go())
    _, out, _ = dedup("orphans", "--urls", "-s", "DEDUP_CANONICAL_URLS=0")
    assert out == "http://a/\\x1b[31m\\nhttp://b/\\u202e\n"
