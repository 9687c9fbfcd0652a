"""Candidates of a page as the index grows: what is to be expected, and what a real index shows.

    python benchmarks/simulate.py
    python benchmarks/simulate.py --measure 100000 --cost

A page meets another in a band if their keys agree, of which the index has 27 bits. A new page meets

- by chance, n kept pages × bands / 2^27 of them: that grows with the index;
- of the pages that resemble it by s, each with probability 1 - (1 - q)^bands, where q is the
  probability that the values of a row agree in the bits that the key has of them.

Pages of one site whose boilerplate was not stripped are such pages. `--measure` fills an index on a
private server with pages, some of them in sites, and counts whom new pages meet in its tables, and
who of those passes verification. Trust ratios; seconds are this machine's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.tools.index_sides import server, server_cpu
from crawler.dedup import DedupConfig
from crawler.dedup.exchange.open_store import make_store
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint
from crawler.dedup.sketches import Sketcher
from crawler.dedup.sketches.lsh import TABLE_KEY_BITS, row_bits
from crawler.dedup.sketches.odd import compare_odd, odd_sketches
from crawler.dedup.store.layout import Entry
from crawler.dedup.store.messages import CheckRequest
from crawler.dedup.store.records import read_pages
from crawler.dedup.store.server.connect import open_server
from crawler.dedup.store.server.private import server_binary
from crawler.dedup.store.single import SingleIndex

LISTED = 16  # pages under one key, at most
SHINGLES = 500
SITE = 200  # kept pages of a site
IN_SITES = 0.5  # of all pages
COMMON = 200  # shingles that all pages of a site share: resemblance 0.25
PROBES = 2000
SIZES = [10**4, 10**5, 10**6, 10**7, 10**8, 10**9, 10**10]


def by_chance(kept: float, bands: int) -> float:
    """Kept pages that a page meets though they share nothing with it."""
    return kept * bands / 2**TABLE_KEY_BITS


def by_resemblance(similarity: float, bands: int, rows: int, listed: float = 1) -> float:
    """Probability that two pages of that resemblance share a key, and one finds the other there.

    `listed` is the probability that a page still stands in the list of a key.
    """
    bits = row_bits(rows)
    # Bits that the key has less than its values together.
    cut = max(0, bits * rows - TABLE_KEY_BITS)
    agree = 1.0
    for value in range(rows):
        # The first value stands highest in the key and loses bits first.
        kept = max(0, bits - max(0, cut - value * bits))
        agree *= similarity + (1 - similarity) / 2.0**kept
    return 1 - (1 - agree * listed) ** bands


def share_listed(kept: float) -> float:
    """Share of the pages under one key that its list has room for, Poisson many of them."""
    mean = kept / 2**TABLE_KEY_BITS
    probability, below, expected = np.exp(-mean), 0.0, 0.0
    for count in range(LISTED):
        below += probability
        expected += count * probability
        probability *= mean / (count + 1)
    return float(min(1.0, (expected + LISTED * (1 - below)) / mean)) if mean > 0.01 else 1.0


def found_at(similarity: float, bands: int, rows: int, kept: float) -> float:
    """Probability that a page finds its original among `kept` pages."""
    return by_resemblance(similarity, bands, rows, share_listed(kept))


def list_expected(config: DedupConfig) -> list[dict[str, Any]]:
    bands, rows = config.banding
    return [
        {
            "kept": kept,
            "by chance": by_chance(kept, bands),
            "under one key": kept / 2**TABLE_KEY_BITS,
            "of which listed": share_listed(kept),
            "found at 0.9": found_at(0.9, bands, rows, kept),
            "at 0.8": found_at(0.8, bands, rows, kept),
            f"of a site of {SITE}": SITE * by_resemblance(0.25, bands, rows),
        }
        for kept in SIZES
    ]


class Web:
    """Pages as sets of shingle hashes; half of them in sites with boilerplate of their own."""

    def __init__(self, config: DedupConfig, seed: int) -> None:
        self.config = config
        self.rng = np.random.default_rng(seed)
        self.sketcher = Sketcher(config.values, **config.banding._asdict())
        self.boilerplate = np.empty(0, np.uint64)
        self.in_site = SITE

    def pages(self, count: int) -> Iterator[tuple[Fingerprint, bool]]:
        """Fingerprints, and whether each is one of a site."""
        for start in range(0, count, 64):
            drawn = [self._draw() for _ in range(min(64, count - start))]
            hashes = np.concatenate([shingles for shingles, _ in drawn])
            offsets = np.arange(len(drawn) + 1) * SHINGLES
            sketches = self.sketcher.method.sketch_batch(hashes, offsets)
            for (shingles, in_site), sketch in zip(drawn, sketches, strict=True):
                keys = self.sketcher.keys(sketch) & np.uint32((1 << TABLE_KEY_BITS) - 1)
                odd = odd_sketches(shingles, self.config.verify_bits, self.config.threshold)
                bands = keys.astype(">u4").tobytes()
                yield Fingerprint(self.rng.bytes(EXACT_BYTES), SHINGLES + 4, bands, odd), in_site

    def _draw(self) -> tuple[np.ndarray, bool]:
        own = self.rng.integers(0, 2**64, SHINGLES, dtype=np.uint64)
        if self.rng.random() >= IN_SITES:
            return own, False
        if self.in_site == SITE:
            self.boilerplate = self.rng.integers(0, 2**64, COMMON, dtype=np.uint64)
            self.in_site = 0
        self.in_site += 1
        return np.concatenate((self.boilerplate, own[COMMON:])), True


async def measure(config: DedupConfig, pages: int) -> list[dict[str, Any]]:
    rows = []
    with server(str(server_binary())) as (socket, _):
        config = DedupConfig(redis_url=f"unix://{socket}", threshold=config.threshold)
        async with open_server(config) as client:
            store = await _open(client, config)
            web, start = Web(config, 1), time.perf_counter()
            marks = [size for size in SIZES if size <= pages]
            waiting: list[CheckRequest] = []
            for number, (page, _) in enumerate(web.pages(marks[-1]), 1):
                url = f"https://www.example.com/articles/{number:027d}"
                waiting.append(CheckRequest(url, "", web.rng.bytes(4), page))
                if len(waiting) == store.exchange:
                    await store.check(waiting)
                    waiting = []
                if number in marks:
                    seconds = time.perf_counter() - start
                    found = await _probe(store, config, number)
                    rows.append({"kept": number, "seconds": seconds, **found})
    return rows


async def measure_cost(config: DedupConfig) -> list[dict[str, Any]]:
    """The server's CPU for a page by the number of kept pages that it meets and does not resemble.

    Bytes are those that cross the network for a page, both ways, at a URL of 60 characters.
    """
    rows = []
    with server(str(server_binary())) as (socket, info):
        config = DedupConfig(redis_url=f"unix://{socket}", threshold=config.threshold)
        async with open_server(config) as client:
            store = await _open(client, config)
            web = Web(config, 3)
            for met in (0, 1, 2, 5, 10):
                drawn = [page for page, _ in web.pages(PROBES * (met + 1))]
                probes = []
                for number in range(PROBES):
                    others = drawn[PROBES + number * met : PROBES + (number + 1) * met]
                    keys = drawn[number].bands
                    for band, other in enumerate(others):
                        place = slice(band * 4, band * 4 + 4)
                        keys = keys[: place.start] + other.bands[place] + keys[place.stop :]
                    probes.append(replace(drawn[number], bands=keys))
                await _check(store, drawn[PROBES:], config, f"other/{met}")
                before = _used(info)
                await _check(store, probes, config, f"probe/{met}")
                after = _used(info)
                cpu, sent, received = (b - a for a, b in zip(before, after, strict=True))
                rows.append(
                    {
                        "met": met,
                        "server µs a page": cpu / PROBES * 1e6,
                        "bytes to it": sent / PROBES,
                        "bytes back": received / PROBES,
                    }
                )
    return rows


async def _check(store: SingleIndex, pages: list[Fingerprint], config: Any, name: str) -> None:
    for start in range(0, len(pages), store.exchange):
        requests = [
            CheckRequest(f"https://{name}.example/{start + i}".ljust(60, "x"), "", b"tokn", page)
            for i, page in enumerate(pages[start : start + store.exchange])
        ]
        await store.check(requests)


def _used(client: Any) -> tuple[float, float, float]:
    stats = client.info("stats")
    return server_cpu(client), stats["total_net_input_bytes"], stats["total_net_output_bytes"]


async def _open(client: Any, config: DedupConfig) -> SingleIndex:
    store = await make_store(client, config)
    assert isinstance(store, SingleIndex)
    await store.open()
    return store


async def _probe(store: SingleIndex, config: DedupConfig, kept: int) -> dict[str, Any]:
    """Whom pages that share nothing with any other meet, by the tables, and who passes."""
    bands, odd_bytes = config.banding.bands, config.verify_bits // 8
    web = Web(config, 2 + kept)
    probes = met = similar = 0
    for page, in_site in web.pages(2 * PROBES):
        if in_site:
            continue
        probes += 1
        keys = (page.bands[at : at + 4] for at in range(0, 4 * bands, 4))
        lists = await store.pages_under(
            [Entry(0, f"band{n}", "band", k, 0) for n, k in enumerate(keys)]
        )
        others = await read_pages(
            store, {number for one in lists for number in one}, odd_bytes=odd_bytes
        )
        met += len(others)
        for other in others.values():
            found = other.sketch and compare_odd(other.sketch, page.odd, bits=config.verify_bits)
            similar += found is not None and found.similarity >= config.threshold
    return {"met": met / probes, "similar": similar, "expected": by_chance(kept, bands)}


def print_rows(title: str, rows: list[dict[str, Any]]) -> None:
    print(f"\n{title}")
    print("".join(f"{name:>20}" for name in rows[0]))
    for row in rows:
        print("".join(f"{value:20,.4g}" for value in row.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--measure", type=int, default=0, help="fill a real index up to so many")
    parser.add_argument("--cost", action="store_true", help="of candidates, on a real index")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    config = DedupConfig(threshold=arguments.threshold)
    result = {"expected": list_expected(config)}
    if arguments.measure >= SIZES[0]:
        result["measured"] = asyncio.run(measure(config, arguments.measure))
    if arguments.cost:
        result["cost"] = asyncio.run(measure_cost(config))
    if arguments.json:
        print(json.dumps(result, indent=2))
        return
    bands, rows = config.banding
    print(f"threshold {config.threshold}: {bands} bands of {rows}")
    for similarity in (0.9, 0.85, 0.8, 0.7, 0.5, 0.4, 0.25):
        share = by_resemblance(similarity, bands, rows)
        print(f"  pages that resemble each other by {similarity:.2f} meet: {share:.4f}")
    print_rows("Candidates of a new page, expected", result["expected"])
    if "measured" in result:
        print_rows("Met by new pages that share nothing with any other", result["measured"])
    if "cost" in result:
        print_rows("What a page costs the server, by the pages it meets in vain", result["cost"])


if __name__ == "__main__":
    main()
