"""Main text of real pages: quality and CPU time beside other tools, in one interleaved run.

python benchmarks/chrome.py --data FOLDER [--manuals FOLDER] [--marked FOLDER] [--json FILE]

FOLDER holds `gold.jsonl`, `pages/` and, if there are such, `segments.jsonl`; that of --manuals
`pages.jsonl`, `pairs.jsonl`, `site/`; that of --marked what `main_text/marked.py` fetches.  The
weights that are shipped were fitted on all of them: `main_text/fit.py` judges unseen sites.
Tools that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lxml import etree, html

from benchmarks.compiled import as_shipped
from benchmarks.main_text import first, snippets, swap
from benchmarks.main_text.data import Page, load_manuals, load_pages, score
from benchmarks.main_text.marked import load_marked
from benchmarks.tools.folders import folder_with, read_rows
from crawler.chrome import strip_chrome

Tool = Callable[[str], str]
OURS = "strip_chrome"
ORDERS = 5  # random orders of a site's pages
WORST = 15


def _floor(page: str) -> str:
    parser = html.HTMLParser(encoding="utf-8")
    html.document_fromstring(page.encode("utf-8", "replace") or b"<html/>", parser=parser)
    return ""


def load_tools() -> dict[str, Tool]:
    """Return the tools that are installed, ours first."""
    found: dict[str, Tool] = {OURS: lambda page: strip_chrome(page).text}

    def trafilatura() -> Tool:
        import trafilatura

        return lambda page: trafilatura.extract(page) or ""

    def resiliparse() -> Tool:
        from resiliparse.extract.html2text import extract_plain_text

        return lambda page: extract_plain_text(page, main_content=True)

    def readability() -> Tool:
        from readability import Document

        def run(page: str) -> str:
            summary = Document(page).summary()
            return "\n".join(etree.HTML(summary).itertext()) if summary else ""

        return run

    def justext() -> Tool:
        import justext

        words = justext.get_stoplist("English")
        return lambda page: "\n".join(
            p.text for p in justext.justext(page, words) if not p.is_boilerplate
        )

    def soup() -> Tool:
        from bs4 import BeautifulSoup

        def run(page: str) -> str:
            tree = BeautifulSoup(page, "lxml")
            for tag in tree(["script", "style", "nav", "header", "footer", "aside"]):
                tag.decompose()
            return tree.get_text("\n")

        return run

    for load in (trafilatura, resiliparse, readability, justext, soup):
        try:
            found[load.__name__] = load()
        except ImportError as error:
            print(f"{load.__name__} is left out: {error}")
    return found


def measure_tools(pages: list[Page], chosen: dict[str, Tool]) -> tuple[dict[str, Any], np.ndarray]:
    """Return for each tool rows of P, R, F1 and CPU seconds per page; and the floor's seconds."""
    rows: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    floor = []
    for tool in (_floor, *chosen.values()):  # imports and caches of the first page
        tool(pages[0].html)
    for page in pages:
        began = time.process_time()
        _floor(page.html)
        floor.append(time.process_time() - began)
        for name, tool in chosen.items():
            began = time.process_time()
            try:
                text = tool(page.html)
            except Exception:  # peers raise for some pages
                text = ""
            seconds = time.process_time() - began
            rows[name].append((*score(page.gold, text), seconds, not text))
    return {name: np.array(values, float) for name, values in rows.items()}, np.array(floor)


def average_groups(
    pages: list[Page], rows: dict[str, Any], floor: np.ndarray
) -> list[dict[str, Any]]:
    result = []
    groups = [("all", "all"), *sorted({("kind", p.kind) for p in pages})]
    groups += sorted({("source", p.source) for p in pages})
    for by, group in groups:
        chosen = [i for i, p in enumerate(pages) if by == "all" or getattr(p, by) == group]
        for name, values in rows.items():
            p, r, f1, seconds, empty = values[chosen].mean(0)
            result.append(
                {
                    "group": group, "pages": len(chosen), "tool": name, "F1": f1, "P": p, "R": r,
                    "R < .5": (values[chosen, 1] < 0.5).mean(), "empty": empty,
                    "× parse": seconds / floor[chosen].mean(),
                }
            )  # fmt: skip
    return result


def compare_tools(pages: list[Page], chosen: dict[str, Tool]) -> dict[str, Any]:
    """Print and return what the tools make of the pages, by group, and on which ours is worst."""
    rows, floor = measure_tools(pages, chosen)
    found = average_groups(pages, rows, floor)
    print(f"\n{len(pages)} pages; lxml's parse {floor.mean() * 1e3:.2f} ms a page (CPU)")
    for row in found:
        figures = " ".join(f"{k} {v:6.3f}" for k, v in row.items() if isinstance(v, float))
        print(f"{row['group'][:34]:34} {row['pages']:4}  {row['tool']:13} {figures}")
    ours = rows[OURS]
    least = np.argsort(ours[:, 2])[:WORST]
    worst = [(pages[i].id, pages[i].kind, *ours[i, :3].round(3).tolist()) for i in least]
    print("\nworst pages (P, R, F1)", *worst, sep="\n  ")
    return {"table": found, "worst": worst}


def near_pairs(folder: Path) -> set[frozenset[str]]:
    """Return the pairs of manuals' pages whose gold texts have J ≥ 0.8."""
    rows = read_rows(folder / "pairs.jsonl")
    return {frozenset((row["a"], row["b"])) for row in rows if row["j5"] >= 0.8}


def score_pairs(near: set[frozenset[str]], texts: dict[str, str]) -> float:
    """Return F1 of finding the near pairs, within each manual."""
    families = defaultdict(list)
    for name, text in texts.items():
        families[name.partition("/")[0]].append((name, swap.shingles(text)))
    found = {
        frozenset((a, b))
        for family in families.values()
        for (a, x), (b, y) in combinations(family, 2)
        if swap.jaccard(x, y) >= 0.8
    }
    return 2 * len(near & found) / (len(near) + len(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=folder_with("gold.jsonl"), required=True)
    parser.add_argument("--manuals", type=folder_with("pages.jsonl"))
    parser.add_argument("--marked", type=Path)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--swaps", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    as_shipped()
    warnings.simplefilter("ignore")  # peers warn of pages
    chosen = load_tools()
    if options.only_ours:
        chosen = {OURS: chosen[OURS]}
    report: dict[str, Any] = {
        "environment": f"{platform.python_implementation()} {platform.python_version()}, "
        f"libxml2 {'.'.join(map(str, etree.LIBXML_VERSION))}, numpy {np.__version__}, "
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    }
    print(report["environment"])
    report["pages"] = compare_tools(list(load_pages(options.data, options.limit)), chosen)
    if options.marked:
        report["marked"] = compare_tools(list(load_marked(options.marked))[: options.limit], chosen)

    swapped = swap.swap_articles(load_pages(options.data), min(options.swaps, options.limit or 999))
    report["swapped"] = {name: swap.judge_swapped(swapped, tool) for name, tool in chosen.items()}
    learning = swap.learn_templates(swapped)
    report["swapped"][f"{OURS} learning"] = swap.judge_swapped(swapped, learning)
    print("\narticles in other chrome, share of pairs")
    for name, shares in report["swapped"].items():
        print(f"  {name:22}", ", ".join(f"{k}: {v:.3f}" for k, v in shares.items()))

    if (options.data / "segments.jsonl").exists():
        report["snippets"] = snippets.judge_snippets(options.data, chosen)
        print("\nsnippets")
        for name, shares in report["snippets"].items():
            print(f"  {name:22}", ", ".join(f"{k}: {v:.3f}" for k, v in shares.items()))

    if options.manuals:
        manuals = list(load_manuals(options.manuals))
        near = near_pairs(options.manuals)
        report["manuals"] = {}
        for name, tool in chosen.items():
            texts = {page.id: tool(page.html) for page in manuals}
            report["manuals"][name] = (score_pairs(near, texts), _mean_f1(manuals, texts))
        orders = first.read_in_orders(manuals, lambda page: (page.site, page.source), range(ORDERS))
        for seed, met in enumerate(orders):
            texts = {page.page.id: page.text for page in met}
            figures = (score_pairs(near, texts), _mean_f1(manuals, texts))
            report["manuals"][f"{OURS} learning, order {seed}"] = figures
        print("\nmanuals: F1 of pairs at J ≥ .8, 4-shingle F1")
        for name, (paired, f1) in report["manuals"].items():
            print(f"  {name:32} {paired:.4f}  {f1:.4f}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1, default=float), encoding="utf-8")


def _mean_f1(pages: list[Page], texts: dict[str, str]) -> float:
    return float(np.mean([score(page.gold, texts[page.id])[2] for page in pages]))


if __name__ == "__main__":
    main()
