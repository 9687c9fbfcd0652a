"""Indexes that are exported, and what is in them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from crawler.dedup import DuplicateIndex
from crawler.dedup.export.transfer import export_index
from crawler.dedup.store.records import read_records
from tests.support.texts import article, changed, text

LONG = "http://a.example/" + "long/" * 40
PAGES = [
    *((f"http://a.example/{n}", text(article(n, 300))) for n in range(60)),
    *(
        (f"http://b.example/{n}", text(changed(article(n, 300), n % 4 + 1, seed=n)))
        for n in range(25)
    ),
    *((f"http://c.example/{n}", text(article(n, 300))) for n in range(10)),
    (LONG, text(article(99))),
    ("http://a.example/%C3%BC?q=%3d&p=1", "three words only"),
    ("http://a.example/empty", ""),
]


def opened(config, question, pages=()):
    async def run():
        async with DuplicateIndex.open(config) as index:
            await index.check_many(pages)
            return await question(index)

    return asyncio.run(run())


async def everything(index):
    """All that an index knows but its memory, by URL where numbers may differ."""
    bits = index.config.verify_bits // 8
    records = {record.number: record async for record in read_records(index.store, odd_bytes=bits)}
    urls = {number: record.url for number, record in records.items()}
    plain = {
        record.url: record._replace(
            number=0, representative=0, replaces=urls.get(record.replaces, "")
        )
        for record in records.values()
    }
    originals = {record.url: urls.get(record.representative) for record in records.values()}
    stats = (await index.stats()).to_dict()
    counts = {name: stats[name] for name in ("verdicts", "hosts", "histogram", "urls", "kept")}
    return plain, originals, counts, await index.store.overrides()


async def fill(index):
    """Pages as a crawl leaves them: updated, forgotten, gone and preferred ones among them."""
    await index.check_many(PAGES)
    await index.check("http://a.example/3", text(article(1003)))
    await index.forget("http://a.example/4")
    await index.gone("http://a.example/5")
    await index.check("http://d.example/", text(changed(article(6, 300), 1)), preferred=True)
    await index.check("http://a.example/7", text(article(7, 300)))
    await index.override("http://a.example/8", "keep")
    await index.override("http://a.example/9", "drop")
    await index.override("http://a.example/9", None)  # no check has met that yet
    return await everything(index)


def written(config, path) -> Path:
    opened(config, lambda index: export_index(index, path))
    return path
