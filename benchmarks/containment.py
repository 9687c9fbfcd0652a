"""Passages found in pages that have them, pages named wrongly, and what that takes of a server.

    python benchmarks/containment.py --data FOLDER [--pairs 200] [--json]

FOLDER has the folders ``html`` and ``licenses``, as for benchmarks/quality.py: manuals and licences
that share paragraphs. Of each a passage is put into a page of other texts, up to ten times
as long, and both are checked by an index on a private server, in both orders; also with one word
in 200 changed. Then all texts are checked against each other, and the share that the verdict names
is held against that of their sets of shingles.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.sketch import environment
from benchmarks.tools.folders import folder_with, read_rows
from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.sketches.anchors import LEAST_WORDS, STORED_BYTES, stored_anchors

SHARE = 0.9
# Words of a passage, and how many times as long the page is: drawn from 2 to 10 where not told.
PASSAGES = ((150, 10), (150, None), (200, 10), (400, None), (1000, None))
RATES = (0.0, 0.005)  # of changed words


def load_texts(folder: Path) -> list[list[str]]:
    """The words of one text of each cluster."""
    found: dict[str, list[str]] = {}
    for name, field in (("html/pages.jsonl", "gold_text"), ("licenses/docs.jsonl", "text")):
        for page in read_rows(folder / name):
            if not page.get("theme"):
                found.setdefault(page["cluster"], page[field].split())
    return [words for words in found.values() if len(words) >= LEAST_WORDS]


def change_words(words: list[str], rate: float, draws: random.Random) -> list[str]:
    return [one if draws.random() >= rate else f"other{draws.random()}" for one in words]


def make_page(passage: list[str], length: int, texts: list[list[str]], draws: random.Random) -> str:
    """A page of so many words that has the passage somewhere among parts of other texts."""
    filler: list[str] = []
    while len(filler) < length - len(passage):
        filler += draws.choice(texts)[: draws.randrange(100, 600)]
    filler = filler[: length - len(passage)]
    at = draws.randrange(len(filler) + 1)
    return " ".join(filler[:at] + passage + filler[at:])


@asynccontextmanager
async def open_index(name: str, folder: str, **options: Any) -> AsyncIterator[DuplicateIndex]:
    config = DedupConfig(namespace=name, data_dir=Path(folder), seed=1, **options)
    async with DuplicateIndex.open(config) as index:
        yield index


async def count_found(texts: list[list[str]], pairs: int, folder: str) -> list[dict[str, Any]]:
    """Which part of the passages is found, when they come first and when the pages do."""
    draws, rows = random.Random(1), []
    for rate in RATES:
        for words, times in PASSAGES:
            found = [0, 0]
            name = f"{words}-{times}-{rate}"
            # Each pair is in a scope of its own, or most passages would be copies of others.
            async with open_index(name, folder, containment=SHARE, scope="host") as index:
                for number in range(pairs):
                    own = draws.choice([one for one in texts if len(one) >= words])
                    start = draws.randrange(len(own) - words + 1)
                    passage = own[start : start + words]
                    length = words * (times or draws.randrange(2, 11))
                    others = [one for one in texts if one is not own]
                    long = make_page(change_words(passage, rate, draws), length, others, draws)
                    for order, first, second in (
                        (0, " ".join(passage), long),
                        (1, long, " ".join(passage)),
                    ):
                        site = f"http://{order}.{number}.example"
                        await index.check(f"{site}/first", first)
                        verdict = await index.check(f"{site}/second", second)
                        named = (verdict.contains, verdict.contained_in)[order] or ()
                        found[order] += any(one.url == f"{site}/first" for one in named)
            rows.append(
                {
                    "changed": rate,
                    "words": words,
                    "times": times or "2 to 10",
                    "first": round(found[0] / pairs, 3),
                    "later": round(found[1] / pairs, 3),
                }
            )
    return rows


async def compare_all(texts: list[list[str]], folder: str) -> dict[str, Any]:
    """Who is named among texts that share paragraphs, and who of them has it by its shingles."""
    pages = {f"http://a.example/{n}": " ".join(words) for n, words in enumerate(texts)}
    true: list[float] = []
    async with open_index("without", folder) as index:
        await index.check_many(pages.items())
        before = (await index.stats()).bytes_per_page or 0.0
    async with open_index("with", folder, containment=SHARE) as index:
        shingles = {url: index.fingerprint.shingles(text) for url, text in pages.items()}
        anchors = []
        for url, text in pages.items():
            verdict = await index.check(url, text)
            page = index.fingerprint(text)
            anchors.append(len(stored_anchors(page.anchors, page.words)) / STORED_BYTES)
            for one in (*(verdict.contains or ()), *(verdict.contained_in or ())):
                short, long = sorted((shingles[url], shingles[one.url]), key=len)
                true.append(len(np.intersect1d(short, long)) / len(short))
        after = (await index.stats()).bytes_per_page or 0.0
    return {
        "texts": len(texts),
        "mean words": round(statistics.mean(map(len, texts))),
        "anchors a page": round(statistics.mean(anchors), 1),
        "bytes a page": round(after - before, 1),
        "named": len(true),
        "of these by shingles 0.9 and more": sum(one >= SHARE for one in true),
        "0.7 to 0.9": sum(0.7 <= one < SHARE for one in true),
        "0.5 to 0.7": sum(0.5 <= one < 0.7 for one in true),
        "below 0.5": sum(one < 0.5 for one in true),
    }


async def measure(texts: list[list[str]], pairs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        everything = await compare_all(texts, folder)
        return {"found": await count_found(texts, pairs, folder), "all": everything}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", required=True, metavar="FOLDER", type=folder_with("licenses"))
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    texts = load_texts(options.data)
    result = asyncio.run(measure(texts, options.pairs))
    if options.json:
        print(json.dumps({"environment": environment(), **result}, indent=2))
        return
    print(environment())
    for row in result["found"]:
        print(
            f"passages of {row['words']:5} words, {row['times']!s:>7} times as long, "
            f"{row['changed']:.1%} changed: found {row['first']:.3f} when they come first, "
            f"{row['later']:.3f} later"
        )
    for name, value in result["all"].items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
