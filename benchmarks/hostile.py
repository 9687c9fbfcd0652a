"""CPU time for pages made to hurt, per megabyte, beside lxml's parse of the same bytes.

    python benchmarks/hostile.py [--data FOLDER] [--seconds 20] [--json]

The pages are those of `tests/chrome/hostile.py`, and 50 MB of text.  Each is read in a process
of its own, which ends after so many seconds: lxml takes hours for some.  The second time counts
that it is read there, for a crawler's process has read pages before, and the best of five rounds,
the two taking turns.  With a folder of ordinary pages lxml parses some of these in each round, too,
and the time is told as a multiple of that floor, the median of the rounds: a machine twice as slow
has it twice as high.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.metadata import version
from multiprocessing.connection import Connection
from operator import truediv
from pathlib import Path
from statistics import median
from typing import Any

from lxml import etree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compiled import as_shipped
from benchmarks.main_text.data import load_pages
from benchmarks.tools.folders import folder_with
from crawler.chrome import strip_chrome
from tests.chrome.hostile import hostile_pages

ROUNDS = 5
ORDINARY = 40  # pages whose parse is the floor
PAGES = {**hostile_pages(), "50 MB of text": b"<p>" + b"word " * 10_000_000}


def lxml_parse(data: bytes) -> None:
    """Parse into a tree; libxml2 gives up on deep pages, which is quick."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    with suppress(etree.LxmlError):
        etree.fromstring(data, parser)


def measure_work(
    work: Callable[[Any], Any], data: bytes | Sequence[bytes], limit: float
) -> float | None:
    """CPU seconds that the work takes, None if it is more than `limit`."""
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def run(sender: Connection) -> None:
        for _ in "warm", "timed":  # the last one counts
            began = time.process_time()
            work(data)
        sender.send(time.process_time() - began)

    process = multiprocessing.get_context("fork").Process(target=run, args=(sender,))
    process.start()
    seconds: float | None = receiver.recv() if receiver.poll(2 * limit) else None
    process.kill()
    process.join()
    return seconds


def parse_all(pages: Sequence[bytes]) -> None:
    for page in pages:
        lxml_parse(page)


def best_rate(times: list[float | None], megabytes: float) -> float | None:
    """Milliseconds a megabyte, of the best round."""
    done = [seconds for seconds in times if seconds is not None]
    return min(done) * 1000 / megabytes if done else None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20, help="that a page may take")
    parser.add_argument(
        "--data", type=folder_with("gold.jsonl"), help="folder of ordinary pages, for the floor"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    as_shipped()
    strip_chrome("<p>The weights are read once, not by every page.</p>")
    ordinary = (
        [page.html.encode() for page in load_pages(options.data, ORDINARY)] if options.data else []
    )
    found = {}
    for name, data in PAGES.items():
        size = len(data) / 1e6
        works: dict[str, tuple[Callable[[Any], None], Any, float]] = {
            "strip_chrome": (strip_chrome, data, size),
            "lxml": (lxml_parse, data, size),
        }
        if ordinary:
            works["floor"] = parse_all, ordinary, sum(map(len, ordinary)) / 1e6
        times: dict[str, list[float | None]] = {key: [] for key in works}
        for _ in range(ROUNDS):
            for key, (work, given, _) in works.items():
                if None not in times[key]:
                    times[key].append(measure_work(work, given, options.seconds))
        found[name] = {"MB": size} | {key: best_rate(times[key], works[key][2]) for key in works}
        if ordinary and None not in times["strip_chrome"] + times["floor"]:
            ratios = map(truediv, times["strip_chrome"], times["floor"])
            found[name]["× floor"] = median(ratios) * works["floor"][2] / size
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"Python {platform.python_version()}, lxml {version('lxml')}, {platform.machine()}")
    head = "× floor" if ordinary else ""
    print(f"{'ms per MB':34}{'MB':>6}{'strip_chrome':>14}{'lxml':>10}{head:>10}")
    for name, row in found.items():
        ours, theirs = (
            f"> {options.seconds * 1000 / row['MB']:.0f}" if row[key] is None else f"{row[key]:.1f}"
            for key in ("strip_chrome", "lxml")
        )
        multiple = f"{row['× floor']:.1f}" if "× floor" in row else ""
        print(f"{name:34}{row['MB']:>6.2f}{ours:>14}{theirs:>10}{multiple:>10}")
    if ordinary:
        floor = median(row["floor"] for row in found.values())
        print(f"The floor, lxml's parse of {ORDINARY} ordinary pages, is {floor:.1f} ms per MB.")


if __name__ == "__main__":
    main()
