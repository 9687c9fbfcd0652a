"""CPU time for pages made to hurt, per megabyte, beside lxml's parse of the same bytes.

    python benchmarks/hostile.py [--seconds 20] [--json]

The pages are those of `tests/chrome/test_hostile.py`, and 50 MB of text.  Each is read in a process
of its own, which ends after so many seconds: lxml takes hours for some.  The second time counts
that it is read there, for a crawler's process has read pages before, and the best of three rounds,
the two taking turns.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lxml import etree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.compiled import as_shipped
from crawler.chrome import strip_chrome
from tests.chrome.test_hostile import HOSTILE

ROUNDS = 3
PAGES = {**HOSTILE, "50 MB of text": b"<p>" + b"word " * 10_000_000}


def lxml_parse(data: bytes) -> None:
    """Parse into a tree; libxml2 gives up on deep pages, which is quick."""
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    with suppress(etree.LxmlError):
        etree.fromstring(data, parser)


def taken(work: Callable[[bytes], Any], data: bytes, limit: float) -> float | None:
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


def best(times: list[float | None], megabytes: float) -> float | None:
    """Milliseconds a megabyte, of the best round."""
    done = [seconds for seconds in times if seconds is not None]
    return min(done) * 1000 / megabytes if done else None


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=20, help="that a page may take")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    as_shipped()
    strip_chrome("<p>The weights are read once, not by every page.</p>")
    found = {}
    for name, data in PAGES.items():
        times: dict[str, list[float | None]] = {"strip_chrome": [], "lxml": []}
        for _ in range(ROUNDS):
            for work, key in ((strip_chrome, "strip_chrome"), (lxml_parse, "lxml")):
                if None not in times[key]:
                    times[key].append(taken(work, data, options.seconds))
        megabytes = len(data) / 1e6
        found[name] = {"MB": megabytes} | {key: best(t, megabytes) for key, t in times.items()}
    if options.json:
        print(json.dumps(found, indent=2))
        return
    print(f"Python {platform.python_version()}, lxml {version('lxml')}, {platform.machine()}")
    print(f"{'ms per MB':34}{'MB':>6}{'strip_chrome':>14}{'lxml':>10}")
    for name, row in found.items():
        ours, theirs = (
            f"> {options.seconds * 1000 / row['MB']:.0f}" if row[key] is None else f"{row[key]:.1f}"
            for key in ("strip_chrome", "lxml")
        )
        print(f"{name:34}{row['MB']:>6.2f}{ours:>14}{theirs:>10}")


if __name__ == "__main__":
    main()
