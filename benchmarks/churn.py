"""What becomes of texts that move: weekly crawls of a site whose addresses change their texts.

    python benchmarks/churn.py [--weeks 8] [--seeds 3] [--json]

The site has an archive that is shifted by one post a week, a menu of this week and of the next, a
front page with the newest story, two pages that swap, some that stay with their print views, one
that moves and one that goes. Each week it is crawled into one index, in a random order, with 1, 8
or 16 pages at once, by one crawler or by three that share the work. A crawler remembers which pages
were dropped for records that nobody had confirmed, and asks for them again when nothing else is to
do.

Told are the share of visits in which a page was dropped although no other page has its text, the
share of pages that were asked for again beside that of texts that moved, how many texts of the site
are in no kept page at the end of a crawl, and how many are in two.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.sketch import environment
from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from crawler.dedup.identity import host

SITE = "http://site.example"
ROUNDS = 5  # of asking again
Site = dict[str, int]  # addresses, and the numbers of their texts


def site_in(week: int) -> Site:
    """The site of a week."""
    newest = 1000 + week
    found = {f"{SITE}/archive/{place}": newest - place for place in range(1, 24)}
    found |= {f"{SITE}/": newest, f"{SITE}/story/{newest}": newest}
    found |= {f"{SITE}/story/{old}": old for old in range(1000, newest)[-3:]}
    found |= {f"{SITE}/menu/this": 2000 + week, f"{SITE}/menu/next": 2001 + week}
    found |= {f"{SITE}/swap/{place}": 3000 + (place + week) % 2 for place in range(2)}
    found |= {f"{SITE}/page/{place}": 4000 + place for place in range(12)}
    found |= {f"{SITE}/print/{place}": 4000 + place for place in range(6)}
    found[f"{SITE}/moves/{week // 3}"] = 5000
    if week % 4 < 2:
        found[f"{SITE}/goes"] = 6000
    found[f"{SITE}/stays"] = 6000
    return found


def text_of(number: int) -> str:
    """A text that shares no run of words with another."""
    chooser = random.Random(number)
    return " ".join(f"{chooser.randrange(5000)}x{number}" for _ in range(80))


@dataclass
class Counts:
    """What was counted in all crawls."""

    visits: int = 0
    wrong: int = 0
    again: int = 0
    moved: int = 0
    texts: int = 0
    lost: int = 0
    twice: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


class Crawler:
    """One of the workers of a crawl: it takes addresses from a list that all share."""

    def __init__(
        self, index: DuplicateIndex, site: Site, waiting: list[str], counts: Counts
    ) -> None:
        self.index, self.site, self.waiting, self.counts = index, site, waiting, counts
        self.unconfirmed: set[str] = set()

    async def crawl(self, at_once: int) -> None:
        """Check all pages, then those again that were dropped for what may be no more."""
        await asyncio.gather(*(self._work() for _ in range(at_once)))
        for _ in range(ROUNDS):
            asked, self.unconfirmed = self.unconfirmed, set()
            for url, original in (await self.index.originals(asked)).items():
                if original.state != "confirmed":
                    self.counts.again += 1
                    await self._check(url, final=[host(original.url)] if original.url else [])

    async def _work(self) -> None:
        while self.waiting:
            await self._check(self.waiting.pop())

    async def _check(self, url: str, final: list[str] | None = None) -> None:
        if url not in self.site:
            await self.index.gone(url)
            return
        number = self.site[url]
        await asyncio.sleep(0)  # as a download, which others pass
        verdict = await self.index.check(url, text_of(number), final=final or ())
        self.counts.visits += 1
        self.counts.kinds[verdict.kind] += 1
        is_copy = verdict.standing in (Kind.EXACT, Kind.NEAR)
        if is_copy and list(self.site.values()).count(number) == 1:
            self.counts.wrong += 1
        if is_copy and verdict.unconfirmed:
            self.unconfirmed.add(url)


async def crawl_week(
    indexes: list[DuplicateIndex], site: Site, before: Site, at_once: int, chooser: random.Random
) -> Counts:
    """One crawl of the site by as many crawlers as there are indexes."""
    counts = Counts()
    waiting = sorted(site.keys() | before.keys())  # a crawl asks for what it knows, too
    chooser.shuffle(waiting)
    for index in indexes:
        await index.begin_crawl()
    crawlers = [Crawler(index, site, waiting, counts) for index in indexes]
    await asyncio.gather(*(one.crawl(at_once) for one in crawlers))
    for index in indexes:
        await index.end_crawl()
    counts.moved = sum(before.get(url) != number for url, number in site.items()) + len(
        before.keys() - site.keys()
    )
    kept: Counter[int] = Counter()
    for url, number in site.items():
        record = await indexes[0].show(url)
        if record is not None and record.kind in (Kind.UNIQUE, Kind.SHORT) and not record.gone:
            kept[number] += 1
    texts = set(site.values())
    counts.texts = len(texts)
    counts.lost = sum(not kept[number] for number in texts)
    counts.twice = sum(kept[number] > 1 for number in texts)
    return counts


async def simulate(
    config: DedupConfig, *, weeks: int, at_once: int, crawlers: int, seed: int
) -> Counts:
    """Crawls of `weeks` weeks into one index."""
    chooser, total, before = random.Random(seed), Counts(), Site()
    async with AsyncExitStack() as stack:
        indexes = [
            await stack.enter_async_context(DuplicateIndex.open(config)) for _ in range(crawlers)
        ]
        for week in range(weeks):
            site = site_in(week)
            counts = await crawl_week(indexes, site, before, at_once, chooser)
            if week:  # in the first, all is new
                for name, number in vars(counts).items():
                    setattr(total, name, getattr(total, name) + number)
            else:
                total.lost, total.twice = counts.lost, counts.twice
            before = site
    return total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--weeks", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="churn-") as folder:
        for crawlers in (1, 3):
            for at_once in (1, 8, 16):
                total = Counts()
                for seed in range(options.seeds):
                    config = DedupConfig(
                        data_dir=folder, namespace=f"churn-{crawlers}-{at_once}-{seed}"
                    )
                    found = asyncio.run(
                        simulate(
                            config,
                            weeks=options.weeks,
                            at_once=at_once,
                            crawlers=crawlers,
                            seed=seed,
                        )
                    )
                    for name, number in vars(found).items():
                        setattr(total, name, getattr(total, name) + number)
                rows.append({"crawlers": crawlers, "at once": at_once} | vars(total))
    if options.json:
        print(json.dumps({"environment": environment(), "rows": rows}))
        return
    print(environment())
    print("crawlers  at once  wrongly dropped  asked again  moved  texts  lost  in two pages")
    for row in rows:
        shares = (f"{row[name] / row['visits']:.1%}" for name in ("wrong", "again", "moved"))
        print(
            "{:>8}  {:>7}  {:>15}  {:>11}  {:>5}".format(row["crawlers"], row["at once"], *shares),
            f"{row['texts']:>5} {row['lost']:>5} {row['twice']:>13}",
        )


if __name__ == "__main__":
    main()
