"""Whether an article is found again as a PDF and as a Word file.

    python benchmarks/main_text/file_pairs.py --data FOLDER [--articles 60]

FOLDER holds `gold.jsonl`, whose texts of 150 to 4,000 words are rendered: to HTML, by Chromium to
PDF on A5 with running heads, and by python-docx to Word.  Told is which share of the pairs of two
forms resemble each other by 0.8 and more, by word 5-shingles, and what the lowest is.
Needs the extra `files`, playwright, Chromium and python-docx.
"""

from __future__ import annotations

import argparse
import html
import io
import random
import sys
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.tools.folders import folder_with, read_rows
from crawler.chrome import strip_chrome
from crawler.dedup import jaccard, shingle_hashes
from crawler.files import read_file
from tests.report.browser import CHROMIUM

STYLE = "<style>p { hyphens: auto; text-align: justify }</style>"
RUNNING = {"display_header_footer": True, "margin": {"top": "2cm", "bottom": "2cm"}}


def read_articles(folder: Path, count: int) -> list[list[str]]:
    """Return the paragraphs of some articles."""
    texts = [row["gold"] for row in read_rows(folder / "gold.jsonl")]
    wanted = [text for text in texts if 150 <= len(text.split()) <= 4000 and "\n" in text]
    random.Random(1).shuffle(wanted)
    return [[part for part in text.split("\n") if part.strip()] for text in wanted[:count]]


def as_html(article: list[str]) -> str:
    """Return an article as a page."""
    heading, *rest = map(html.escape, article)
    body = f"<h1>{heading}</h1>" + "".join(f"<p>{part}</p>" for part in rest)
    return f"<html lang=en><head><meta charset=utf-8>{STYLE}</head><body>{body}</body></html>"


def as_word(article: list[str]) -> bytes:
    """Return an article as a Word file."""
    import docx

    document = docx.Document()
    document.add_heading(article[0])
    for part in article[1:]:
        document.add_paragraph(part)
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def main() -> None:
    """Render, read, compare."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=folder_with("gold.jsonl"), required=True)
    parser.add_argument("--articles", type=int, default=60)
    options = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {}
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        for article in read_articles(options.data, options.articles):
            page.set_content(as_html(article))
            texts = {
                "HTML": strip_chrome(as_html(article)).text,
                "PDF": read_file(page.pdf(format="A5", **RUNNING)).text,
                "Word": read_file(as_word(article)).text,
            }
            shingles = {form: shingle_hashes(text) for form, text in texts.items()}
            for pair in combinations(shingles, 2):
                found.setdefault(pair, []).append(jaccard(*map(shingles.__getitem__, pair)))
    print("| pair | found at 0.8 | lowest |\n|---|--:|--:|")
    for pair, values in found.items():
        share = sum(value >= 0.8 for value in values) / len(values)
        print(f"| {' and '.join(pair)} | {share:.1%} | {min(values):.2f} |")


if __name__ == "__main__":
    main()
