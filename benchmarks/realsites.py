"""Verdicts on real documentation sites, held against the text of their content containers.

    python benchmarks/realsites.py --data FOLDER [--seeds 1 2] [--list]

FOLDER holds a folder of HTML pages for each site, or ``pages.tar.xz`` with such folders.  They are
named after the generator or project that made the site, before any digits (``llvm14``, ``qt6``).
Each is served as a host of its own on localhost and crawled by the spider `site`, from a page that
lists all others in random order; pages are tagged, none is dropped.  Their gold text is that of the
element that holds the content on all pages of such a site; resemblance is that of the sets of runs
of five words.

A verdict `exact` or `near` is wrong if the gold texts of both pages resemble by less than .7.  A
page of 54 words or more that is kept is missed if its gold text resembles that of an earlier kept
one by .85 or more.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lxml import etree, html

from benchmarks.folders import folder_with

ROOT = Path(__file__).resolve().parent.parent
# The content container of a site's pages, and what stands in it on all of them.
CONTENT = {
    "llvm": "//div[@class='body']",
    "boost": "//body",
    "cppreference": "//h1[@id='firstHeading']|//div[@id='mw-content-text']",
    "sqlite": "//body",
    "javadoc": "//main",
    "qt": "//div[contains(@class,'mainContent')]",
    "erlang": "//div[@id='content']",
    "doxygen": "//div[@class='headertitle']|//div[@class='contents']",
    "docbook": "//div[@class='refentry']|//div[@class='book']",
    "sphinx": "//div[@class='body']",
}
REPEATED = etree.XPath(
    "//script|//style|//*[contains(@class,'spirit-nav') or contains(@class,'copyright-footer')"
    " or contains(@class,'t-navbar') or contains(@class,'nosearch') or @class='headerlink']"
    "|//table[.//img[@alt='Boost C++ Libraries']]"
)
ALIKE, COPY = 0.7, 0.85  # resemblance below which a verdict is wrong, from which a copy is missed
LEAST = 50  # runs of five words
FEW = 50  # words of gold text
CANDIDATES = 8


class Found(NamedTuple):
    """A verdict that is wrong, or a copy that was missed."""

    resemblance: float
    kind: str
    url: str
    other: str


def gold_text(site: str, page: bytes) -> str:
    """Return the text of the page's content container."""
    tree: Any = html.fromstring(page)
    repeated: Any = REPEATED(tree)
    for element in repeated:
        if element.getparent() is not None:
            element.drop_tree()
    return " ".join(
        text for part in tree.xpath(CONTENT[site.rstrip("0123456789")]) for text in part.itertext()
    )


def shingles(text: str) -> frozenset[int]:
    """Return hashes of the runs of five words."""
    words = re.findall(r"\w+", text.lower())
    runs = range(max(1, len(words) - 4)) if words else range(0)
    return frozenset(hash(tuple(words[at : at + 5])) for at in runs)


def resemblance(one: frozenset[int], other: frozenset[int]) -> float:
    """Return the Jaccard similarity; 0 for two texts without words."""
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)


@contextmanager
def served(folder: Path, number: int) -> Iterator[str]:
    """Serve a folder as a host of its own; give its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer((f"127.0.3.{number}", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.3.{number}:{server.server_port}/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def crawl(folder: Path, seed: int) -> tuple[dict[str, tuple[str, bytes]], list[dict[str, Any]]]:
    """Return the pages, site and bytes by address, and the items of a crawl of all of them."""
    pages: dict[str, tuple[str, bytes]] = {}
    starts: list[str] = []
    draw = random.Random(seed)
    sites = sorted(path for path in folder.iterdir() if path.is_dir())
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="realsites-") as made:
        for number, site in enumerate(sites, 1):
            address = stack.enter_context(served(site, number))
            names = sorted(
                path.relative_to(site).as_posix()
                for path in site.rglob("*.html")
                if path.name != "start-here.html"
            )
            draw.shuffle(names)
            pages |= {address + name: (site.name, (site / name).read_bytes()) for name in names}
            listed = "".join(f"<p><a href='/{quote(name)}'>{name}</a></p>" for name in names)
            (site / "start-here.html").write_text(f"<html><body>{listed}</body></html>")
            starts.append(f"{address}start-here.html")
        out = Path(made) / "pages.jsonl"
        settings = {
            "AUTOTHROTTLE_ENABLED": "False", "ROBOTSTXT_OBEY": "False", "DEPTH_LIMIT": "1",
            "DEDUP_DROP": "", "DEDUP_DATA_DIR": str(Path(made) / "dedup"), "LOG_LEVEL": "ERROR",
        }  # fmt: skip
        options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
        command = ["scrapy", "crawl", "site", "-a", f"url={','.join(starts)}", "-O", str(out)]
        command = [sys.executable, "-m", *command, *options]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        lines = out.read_text("utf-8").splitlines()
    items = {item["url"]: item for item in map(json.loads, lines)}  # the last of each address
    return pages, [item for url, item in items.items() if plain(url) in pages]


def plain(url: str) -> str:
    """Return an address as the pages have it, without escapes."""
    return unquote(url)


def judge(folder: Path, seed: int) -> tuple[Counter[str], list[Found], list[Found]]:
    """Crawl and return counts, the wrong verdicts, and the copies that were missed."""
    pages, items = crawl(folder, seed)
    texts = {url: gold_text(*page) for url, page in pages.items()}
    gold = {url: shingles(text) for url, text in texts.items()}
    counts, wrong, kept = Counter(pages=len(items)), list[Found](), dict[str, frozenset[int]]()
    for item in items:
        url, verdict = plain(item["url"]), item["dedup"]
        if verdict["kind"] not in ("exact", "near"):
            kept[url] = shingles(item["text"])
            continue
        other = plain(verdict["duplicate_of"])
        counts["copies"] += 1
        alike = resemblance(gold[url], gold.get(other, frozenset()))
        if alike < ALIKE:
            few = "few words" if len(texts[url].split()) < FEW else "other text"
            wrong.append(Found(alike, f"{verdict['kind']}, {few}", url, other))
    return counts, sorted(wrong), sorted(missed(kept, gold), reverse=True)


def missed(kept: dict[str, frozenset[int]], gold: dict[str, frozenset[int]]) -> Iterator[Found]:
    """Find the pages that resemble an earlier one by their gold text, given what was kept of each.

    The kind says whether what was kept resembles as much, so that it is the verdict that is wrong.
    """
    having: defaultdict[int, list[str]] = defaultdict(list)
    for url, runs in kept.items():
        if len(gold[url]) < LEAST:
            continue
        shared = Counter(other for run in gold[url] for other in having[run])
        others = [other for other, _ in shared.most_common(CANDIDATES)]
        best = max(others, key=lambda other: resemblance(gold[url], gold[other]), default=None)
        if best is not None and (alike := resemblance(gold[url], gold[best])) >= COPY:
            as_kept = resemblance(runs, kept[best])
            kind = "by the verdict" if as_kept >= 0.8 else "by the main text"
            yield Found(alike, kind, url, best)
        for run in gold[url]:
            having[run].append(url)


def main() -> None:
    """Print what is wrong and missed, by kinds and hosts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--data", type=folder_with("."), required=True, help="a folder for each site"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="of the order")
    parser.add_argument("--list", action="store_true", help="name each page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="realsites-") as unpacked:
        folder = Path(unpacked)
        for archive in options.data.glob("*.tar.xz"):
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        if not any(folder.iterdir()):
            folder = options.data
        for seed in options.seeds:
            counts, *found = judge(folder, seed)
            share = len(found[0]) / max(counts["copies"], 1)
            print(
                f"seed {seed}: {counts['pages']} pages, {counts['copies']} said to be copies, "
                f"wrong {len(found[0])} ({share:.1%}), missed {len(found[1])}"
            )
            for name, of_name in zip(("wrong", "missed"), found, strict=True):
                kinds = Counter((one.kind, urlsplit(one.url).hostname) for one in of_name)
                for (kind, host), count in kinds.most_common():
                    print(f"  {name:6} {count:4}  {host}  {kind}")
                for one in of_name if options.list else ():
                    print(f"  {name} {one.resemblance:.2f} {one.kind}: {one.url} {one.other}")


if __name__ == "__main__":
    main()
