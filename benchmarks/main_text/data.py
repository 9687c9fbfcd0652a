"""Pages with gold text, and how a text is scored against it."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.tools.folders import read_rows

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")


@dataclass(frozen=True)
class Page:
    id: str
    site: str
    kind: str
    source: str
    html: str
    gold: str


def load_pages(folder: Path, limit: int | None = None) -> Iterator[Page]:
    """Yield the pages of `gold.jsonl`; limited, an even sample of them."""
    rows = read_rows(folder / "gold.jsonl")
    step = max(1, len(rows) // limit) if limit else 1
    for row in rows[::step][:limit]:
        raw = gzip.decompress((folder / "pages" / f"{row['id']}.html.gz").read_bytes())
        html = raw.decode(row["encoding"], "replace")
        source = row["source"].rpartition("/")[2]
        yield Page(row["id"], row["site"], row["kind"], source, html, row["gold"])


def load_manuals(folder: Path) -> Iterator[Page]:
    """Yield pages of manuals in several versions and themes; `site` is the manual."""
    for row in read_rows(folder / "pages.jsonl"):
        html = (folder / "site" / row["id"]).read_bytes().decode("utf-8", "replace")
        yield Page(row["id"], row["family"], "manual", row["version"], html, row["gold_text"])


def tokens(text: str) -> list[str]:
    """Return words in lower case; of Chinese, Japanese and Korean, characters."""
    return _TOKEN.findall(text.lower())


def label_blocks(texts: list[str], gold: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each block's words that stand in the gold text, and the words.

    A word counts if any run of four words through it, across blocks too, is in the gold.
    """
    words = tokens(gold)
    runs = set(zip(*(words[i:] for i in range(4)), strict=False))
    blocks = [tokens(text) for text in texts]
    flat = [word for block in blocks for word in block]
    hit = np.zeros(len(flat) + 4, bool)
    for i, run in enumerate(zip(*(flat[i:] for i in range(4)), strict=False)):
        if run in runs:
            hit[i : i + 4] = True
    sizes = np.array([len(block) for block in blocks], int)
    stops = np.cumsum(sizes)
    sums = np.concatenate(([0], np.cumsum(hit)))
    return (sums[stops] - sums[stops - sizes]) / np.maximum(sizes, 1), sizes


def _bag(words: list[str]) -> Counter[tuple[str, ...]]:
    if len(words) < 4:
        return Counter([tuple(words)] if words else [])
    return Counter(zip(*(words[i:] for i in range(4)), strict=False))


def score(gold: str, found: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the multisets of word 4-grams."""
    g, f = _bag(tokens(gold)), _bag(tokens(found))
    if not g:
        return (0.0, 1.0, 0.0) if f else (1.0, 1.0, 1.0)
    if not f:
        return (0.0, 0.0, 0.0)
    common = (g & f).total()
    precision, recall = common / f.total(), common / g.total()
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0
