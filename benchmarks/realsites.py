"""Verdicts on real documentation sites, held against the text of their content containers.

    python benchmarks/realsites.py --data FOLDER [--seeds 1 2] [--list]
    python benchmarks/realsites.py --data FOLDER --by load corpus [-s DEDUP_TEMPLATES=False]

FOLDER holds a folder of HTML pages for each site, or ``pages.tar.xz`` with such folders.  They are
named after the generator or project that made the site, before any digits (``llvm14``, ``qt6``).
Each is served as a host of its own on localhost and crawled by the spider `site`, from a page that
lists all others in random order; pages are tagged, none is dropped.  With `--by`, `load` or
`corpus` reads them from a file of JSON lines instead, one site after the other, each in random
order.  Their gold text is that of the element that holds the content on all pages of such a site;
resemblance is that of the sets of runs of five words.

A verdict `exact` or `near` is wrong if the gold texts of both pages resemble by less than .7.  A
page of 54 words or more that is kept is missed if its gold text resembles that of an earlier kept
one by .85 or more.
"""

from __future__ import annotations

import argparse
import asyncio
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lxml import etree, html

from benchmarks.tools.folders import folder_with
from crawler.dedup import DedupConfig, DuplicateIndex

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


Pages: TypeAlias = dict[str, tuple[str, bytes]]  # site and HTML by URL
Copies: TypeAlias = dict[str, tuple[str, str | None]]  # kind and original by URL


class Decision(NamedTuple):
    """What became of a page: the kept one that it is a copy of, and its main text, if known."""

    url: str
    kind: str
    duplicate_of: str | None
    text: str | None


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
def serve_folder(folder: Path, number: int) -> Iterator[str]:
    """Serve a folder as a host of its own; give its address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer((f"127.0.3.{number}", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.3.{number}:{server.server_port}/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def sites_in(folder: Path, seed: int) -> dict[Path, list[str]]:
    """Return the folders of sites, and the names of the pages of each in random order."""
    draw = random.Random(seed)
    found: dict[Path, list[str]] = {}
    for site in sorted(path for path in folder.iterdir() if path.is_dir()):
        found[site] = sorted(
            path.relative_to(site).as_posix()
            for path in site.rglob("*.html")
            if path.name != "start-here.html"
        )
        draw.shuffle(found[site])
    return found


def pages_at(address: str, site: Path, names: Iterable[str]) -> Pages:
    """Return the pages of a site by URL."""
    return {address + name: (site.name, (site / name).read_bytes()) for name in names}


def crawl(folder: Path, seed: int, settings: Mapping[str, str]) -> tuple[Pages, list[Decision]]:
    """Return the pages and what a crawl of all of them decides."""
    pages: Pages = {}
    starts: list[str] = []
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="realsites-") as made:
        for number, (site, names) in enumerate(sites_in(folder, seed).items(), 1):
            address = stack.enter_context(serve_folder(site, number))
            pages |= pages_at(address, site, names)
            listed = "".join(f"<p><a href='/{quote(name)}'>{name}</a></p>" for name in names)
            (site / "start-here.html").write_text(f"<html><body>{listed}</body></html>")
            starts.append(f"{address}start-here.html")
        out = Path(made) / "pages.jsonl"
        run_scrapy(
            ["crawl", "site", "-a", f"url={','.join(starts)}", "-O", str(out)],
            {
                "AUTOTHROTTLE_ENABLED": "False", "ROBOTSTXT_OBEY": "False", "DEPTH_LIMIT": "1",
                "DEDUP_DROP": "", "DEDUP_DATA_DIR": str(Path(made) / "dedup"),
                "LOG_LEVEL": "ERROR", **settings,
            },
        )  # fmt: skip
        lines = out.read_text("utf-8").splitlines()
    items = {unquote(item["url"]): item for item in map(json.loads, lines)}  # the last of each
    decisions = []
    for url, item in items.items():
        kind, other = item["dedup"]["kind"], item["dedup"].get("duplicate_of")
        is_copy = kind in ("exact", "near")
        if url in pages:
            decisions.append(Decision(url, kind, unquote(other) if is_copy else None, item["text"]))
    return pages, decisions


def read_files(
    command: str, folder: Path, seed: int, settings: Mapping[str, str]
) -> tuple[Pages, list[Decision]]:
    """Return the pages and what `load` or `corpus` decides of a file with all of them."""
    pages: Pages = {}
    for site, names in sites_in(folder, seed).items():
        pages |= pages_at(f"http://{site.name}.example/", site, names)
    with tempfile.TemporaryDirectory(prefix="realsites-") as made:
        file, out = Path(made) / "pages.jsonl", Path(made) / "out"
        with file.open("w", encoding="utf-8") as lines:
            for url, (_, page) in pages.items():
                html_text = page.decode("utf-8", "replace")
                lines.write(json.dumps({"url": url, "html": html_text}) + "\n")
        settings = {"DEDUP_DATA_DIR": str(out), "DEDUP_SEED": "1", **settings}
        if command == "load":
            run_scrapy(["dedup", "load", str(file)], settings)
            copies = asyncio.run(copies_in(pages, settings))
        else:
            import pyarrow.parquet as parquet

            run_scrapy(["dedup", "corpus", str(file), "-o", str(out)], settings)
            rows = parquet.read_table(out / "duplicates").to_pylist()
            copies = {row["url"]: (row["kind"], row["duplicate_of"]) for row in rows}
    kept = ("unique", None)
    return pages, [Decision(url, *copies.get(url, kept), text=None) for url in pages]


async def copies_in(urls: Iterable[str], settings: Mapping[str, str]) -> Copies:
    """Return the copies that an index knows among the URLs: kind and original of each."""
    async with DuplicateIndex.open(DedupConfig.from_settings(settings)) as index:
        records = [await index.show(url) for url in urls]
    return {one.url: (one.kind, one.duplicate_of) for one in records if one and one.duplicate_of}


def run_scrapy(command: Sequence[str], settings: Mapping[str, str]) -> None:
    """Run a command of Scrapy's with some settings."""
    options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
    words = [sys.executable, "-m", "scrapy", *command, *options]
    subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def judge_decisions(
    pages: Pages, decisions: Sequence[Decision]
) -> tuple[Counter[str], list[Found], list[Found]]:
    """Return counts, the wrong verdicts, and the copies that were missed."""
    texts = {url: gold_text(*page) for url, page in pages.items()}
    gold = {url: shingles(text) for url, text in texts.items()}
    counts, wrong = Counter(pages=len(decisions)), list[Found]()
    kept: dict[str, frozenset[int] | None] = {}
    for url, kind, other, text in decisions:
        if other is None:
            kept[url] = shingles(text) if text is not None else None
            continue
        counts["copies"] += 1
        alike = resemblance(gold[url], gold.get(other, frozenset()))
        if alike < ALIKE:
            few = "few words" if len(texts[url].split()) < FEW else "other text"
            wrong.append(Found(alike, f"{kind}, {few}", url, other))
    return counts, sorted(wrong), sorted(find_missed(kept, gold), reverse=True)


def find_missed(
    kept: Mapping[str, frozenset[int] | None], gold: Mapping[str, frozenset[int]]
) -> Iterator[Found]:
    """Find the pages that resemble an earlier one by their gold text, given what was kept of each.

    The kind says whether what was kept, if known, resembles as much, so that it is the verdict that
    is wrong.
    """
    having: defaultdict[int, list[str]] = defaultdict(list)
    for url, runs in kept.items():
        if len(gold[url]) < LEAST:
            continue
        shared = Counter(other for run in gold[url] for other in having[run])
        others = [other for other, _ in shared.most_common(CANDIDATES)]
        best = max(others, key=lambda other: resemblance(gold[url], gold[other]), default=None)
        if best is not None and (alike := resemblance(gold[url], gold[best])) >= COPY:
            yield Found(alike, _missed_by(runs, kept[best]), url, best)
        for run in gold[url]:
            having[run].append(url)


def _missed_by(one: frozenset[int] | None, other: frozenset[int] | None) -> str:
    if one is None or other is None:
        return ""
    return "by the verdict" if resemblance(one, other) >= 0.8 else "by the main text"


def main() -> None:
    """Crawl or read the pages, and print what is wrong and missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument(
        "--data", type=folder_with("."), required=True, help="a folder for each site"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="of the order")
    parser.add_argument("--by", nargs="+", choices=("crawl", "load", "corpus"), default=["crawl"])
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--list", action="store_true", help="name each page")
    options = parser.parse_args()
    settings = dict(one.split("=", 1) for one in options.settings)
    with tempfile.TemporaryDirectory(prefix="realsites-") as unpacked:
        folder = Path(unpacked)
        for archive in options.data.glob("*.tar.xz"):
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
        if not any(folder.iterdir()):
            folder = options.data
        for way, seed in product(options.by, options.seeds):
            decide = crawl if way == "crawl" else functools.partial(read_files, way)
            print_found(
                f"{way}, seed {seed}",
                *judge_decisions(*decide(folder, seed, settings)),
                options.list,
            )


def print_found(
    name: str, counts: Counter[str], wrong: list[Found], missed: list[Found], each: bool
) -> None:
    """Print what is wrong and missed, by kinds and hosts."""
    share = len(wrong) / max(counts["copies"], 1)
    print(
        f"{name}: {counts['pages']} pages, {counts['copies']} said to be copies, "
        f"wrong {len(wrong)} ({share:.1%}), missed {len(missed)}"
    )
    for what, found in ("wrong", wrong), ("missed", missed):
        kinds = Counter((one.kind, urlsplit(one.url).hostname) for one in found)
        for (kind, host), count in kinds.most_common():
            print(f"  {what:6} {count:4}  {host}  {kind}".rstrip())
        for one in found if each else ():
            print(f"  {what} {one.resemblance:.2f} {one.kind}: {one.url} {one.other}")


if __name__ == "__main__":
    main()
