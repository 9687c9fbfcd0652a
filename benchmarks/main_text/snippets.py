"""Pages of which some snippets are known to be main text, or not to be: what tools make of them."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.tools.folders import read_rows
from crawler.chrome.page.encoding import decode_body


def judge_snippets(
    folder: Path, chosen: Mapping[str, Callable[[str], str]]
) -> dict[str, dict[str, float]]:
    """Return for each tool precision, recall, F1 and accuracy over all snippets.

    They stand in `segments.jsonl` of the folder, as lists `with` and `without`; white space does
    not count.  No weights are fitted on these pages, but on others of a few of their sites.
    """
    rows = read_rows(folder / "segments.jsonl")
    counts = {name: [0, 0, 0, 0] for name in chosen}
    for row in rows:
        raw = gzip.decompress((folder / "pages" / f"{row['id']}.html.gz").read_bytes())
        page = decode_body(raw, None)[1]
        for name, tool in chosen.items():
            try:
                text = _squeezed(tool(page))
            except Exception:  # peers raise for some pages
                text = ""
            for i, wanted in enumerate(("with", "without")):
                for snippet in row[wanted]:
                    counts[name][2 * i + (_squeezed(snippet) in text)] += 1
    return {name: _figures(*found) for name, found in counts.items()}


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _figures(missed: int, found: int, left_out: int, kept: int) -> dict[str, float]:
    precision, recall = found / max(found + kept, 1), found / max(found + missed, 1)
    return {
        "P": precision,
        "R": recall,
        "F1": 2 * precision * recall / max(precision + recall, 1e-9),
        "accuracy": (found + left_out) / max(missed + found + left_out + kept, 1),
    }
