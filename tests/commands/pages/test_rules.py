"""The command that lists URL rules, and lets a person add, forbid and remove them."""

from __future__ import annotations

import asyncio
import json

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex


def test_rules_command(dedup, fill, redis_url):
    """What a person has said no crawl changes; exit code 1 says that there are none."""
    code, out, err = dedup("rules")
    assert (code, out, err.count("\n")) == (Exit.NOTHING, "", 1)
    fill([("http://a/", "one two three four five six")])
    assert dedup("rules")[2] == (
        "scrapy dedup: no crawl has learnt a rule, and nobody has added one\n"
    )
    assert dedup("rules", "add", "https://www.a:443/page", "?sid")[0] == Exit.FOUND
    assert dedup("rules", "forbid", "a", "prefix")[0] == Exit.FOUND

    async def learn() -> None:
        async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
            for name in ("?sid", "?sort"):
                await index.note_url_rule("a", name, {"state": "learnt", "pages": 3})

    asyncio.run(learn())
    assert json.loads(dedup("rules", "--json")[1])["a"] == {
        "?sid": {"state": "added"},
        "?sort": {"state": "learnt", "pages": 3},
        "prefix": {"state": "forbidden"},
    }
    for name in ("?sid", "?sort"):
        code, out, _ = dedup("rules", "remove", "a", name)
    head, row = out.splitlines()[:2]
    assert head.split("\t") == ["site", "feature", "state", "pages", "values"]
    assert row.split("\t")[:3] == ["a", "prefix", "forbidden"]
    assert dedup("rules", "remove", "a", "prefix")[0] == Exit.FOUND
    assert dedup("rules")[0] == Exit.NOTHING
    code, out, err = dedup("rules", "remove", "a", "prefix", "--json")
    assert (code, out) == (Exit.NOTHING, "")
    assert err == "scrapy dedup: a has no rule 'prefix' to remove\n"


def test_what_is_no_rule(dedup):
    """Words that are missing or misspelt are named."""
    assert dedup("rules", "add", "a")[0] == Exit.USAGE
    code, _, err = dedup("rules", "add", "a", "sid")
    assert (code, "'sid' is not a feature of URLs" in err) == (Exit.USAGE, True)
