"""Draws the pictures of the documentation with the project's own code, on the demo site.

python -m benchmarks.tools.pictures            # all, into docs/pictures
python -m benchmarks.tools.pictures --run      # and a real run of `make crawl`, as in a terminal,
                                               # with its report; in a clone without an index
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from html import escape
from pathlib import Path

import lxml.html

from crawler.chrome import strip_chrome
from crawler.dedup.analysis.tuning import list_choices
from crawler.dedup.config import DedupConfig
from crawler.dedup.fingerprint import Fingerprinter, make_sketcher
from crawler.dedup.sketches.odd import compare_odd
from crawler.dedup.sketches.shingles import shingle_hashes
from crawler.report.s_curve import save_plot
from examples.demo_site.pages import pages
from examples.demo_site.themes import render
from tests.report.browser import CHROMIUM

FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SEED = 1  # an index draws its own; pictures are to be the same each time
HOSTS = {name: f"http://{name}.example" for name in ("gazette", "tidewire", "coast")}
_TWINS = ("8901/news/wreck", "8902/story/wreck")
# File, width, pixels to a point, colours, and the elements at whose tops it begins and ends.
_PHOTOGRAPHS = (
    ("report.png", 1000, 1, "light", "body", "#hosts"),
    ("report-phone.png", 390, 1.5, "dark", "#decisions", "#similarities"),
)
_INK, _CUT, _BLUE, _PAPER, _LINE = "#1c1e21", "#9aa0a6", "#1f4e9c", "#ffffff", "#c9d3e6"
# What these become where the reader's page is dark.
_DARK = {_INK: "#e3e5e8", _CUT: "#80868b", _BLUE: "#8ab4f8", _PAPER: "#1e2129"}


def demo_page(host: str, path: str) -> str:
    """The HTML of a page of the demo site."""
    page = next(one for one in pages() if (one.host, one.path) == (host, path))
    return render(page, HOSTS, 1)


def svg(width: int, height: int, title: str, parts: list[str]) -> str:
    """A picture whose colours follow the reader's choice of a light or dark page."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13">'
    )
    dark = "".join(
        f'[{part}="{light}"]{{{part}:{colour}}}'
        for light, colour in _DARK.items()
        for part in ("fill", "stroke")
    )
    style = f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>"
    ground = f'<rect width="{width}" height="{height}" fill="{_PAPER}"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", style, ground, *parts, "</svg>", ""])


def text(x: float, y: float, words: str, colour: str = _INK, more: str = "") -> str:
    """A line of text."""
    return f'<text x="{x}" y="{y}" fill="{colour}" {more}>{escape(words)}</text>'


def steps_of_a_page() -> str:
    """The steps of one page of the demo site, with the values it really has."""
    config = DedupConfig()
    sketcher = make_sketcher(config, SEED)
    fingerprint = Fingerprinter(config, SEED)
    html = [demo_page("gazette", "/news/wreck"), demo_page("tidewire", "/story/wreck")]
    texts = [strip_chrome(one).text for one in html]
    known, found = (fingerprint(one) for one in texts)
    values = sketcher.sketch(texts[1])
    keys = [sketcher.keys(sketcher.sketch(one)).tolist() for one in texts]
    met = sum(a == b for a, b in zip(*keys, strict=True))
    estimate = compare_odd(known.odd[0], found.odd, bits=config.verify_bits)
    assert estimate is not None
    one, other = (int.from_bytes(sketch.odd[0].bits, "little") for sketch in (known, found))
    differing = (one ^ other).bit_count()
    steps = [
        ("HTML", f"{len(html[1].encode()):,} bytes: http://tidewire.example/story/wreck"),
        ("main text", f"{found.words} words, without menus, banners and sidebars"),
        ("exact hash", f"{found.exact.hex()[:12]}… no kept page has it"),
        ("shingles", f"{len(shingle_hashes(texts[1])):,} runs of {config.shingle_size} words"),
        ("sketch", f"{len(values)} values: {', '.join(f'{int(v):08x}' for v in values[:3])}, …"),
        ("band keys", f"{len(keys[1])} keys; {met} equal those of gazette.example/news/wreck"),
        ("odd sketch", f"{differing} of {config.verify_bits:,} bits differ from that page's"),
        (
            "verdict",
            f"near: {estimate.similarity:.3f} ({estimate.low:.3f} to {estimate.high:.3f}), "
            f"at least {config.threshold:g}",
        ),
    ]
    parts = []
    for place, (name, value) in enumerate(steps):
        x, y = 16 + 34 * place, 16 + 46 * place
        last = place == len(steps) - 1
        parts.append(
            f'<rect x="{x}" y="{y}" width="104" height="36" rx="4" fill="{_BLUE}" '
            f'fill-opacity="{1 if last else 0.12}" stroke="{_BLUE}"/>'
        )
        middle = 'text-anchor="middle" font-weight="bold"'
        parts.append(text(x + 52, y + 23, name, _PAPER if last else _INK, middle))
        parts.append(text(x + 116, y + 23, value))
        if not last:
            parts.append(
                f'<path d="M{x + 60} {y + 36} v10" stroke="{_BLUE}" stroke-width="2" fill="none"/>'
            )
    return svg(790, 16 + 46 * len(steps) + 8, "The steps of a page", parts)


def chrome() -> str:
    """A page of the demo site line by line: what is kept, and what is cut as chrome."""
    html = demo_page("tidewire", "/story/wreck")
    kept = strip_chrome(html).text
    body = lxml.html.document_fromstring(html).find("body")
    lines = [" ".join(part.split()) for part in body.itertext() if part.strip()]
    parts = [
        text(16, 26, "kept", _BLUE, 'font-weight="bold"'),
        text(60, 26, "cut as chrome", _CUT, 'text-decoration="line-through"'),
    ]
    for row, line in enumerate(lines):
        y = 52 + 19 * row
        shown = line if len(line) <= 96 else f"{line[:95]}…"
        if line in kept:
            parts.append(f'<rect x="8" y="{y - 12}" width="3" height="15" fill="{_BLUE}"/>')
            parts.append(text(16, y, shown))
        else:
            parts.append(text(16, y, shown, _CUT, 'text-decoration="line-through"'))
    return svg(700, 52 + 19 * len(lines), "What is cut from a page", parts)


def architecture() -> str:
    """Where the filter works in a crawl, in Scrapy's own terms."""
    parts = []

    def box(x: int, y: int, width: int, *lines: str, own: bool = False) -> None:
        parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{16 + 20 * len(lines)}" rx="4" '
            f'fill="{_BLUE}" fill-opacity="{0.22 if own else 0.06}" stroke="{_BLUE}"/>'
        )
        for row, line in enumerate(lines):
            weight = 'text-anchor="middle"' + (' font-weight="bold"' if row == 0 else "")
            parts.append(text(x + width / 2, y + 23 + 20 * row, line, _INK, weight))

    def arrow(path: str, x: float, y: float, words: str = "") -> None:
        parts.append(
            f'<path d="{path}" stroke="{_BLUE}" stroke-width="2" fill="none" '
            f'marker-end="url(#tip)"/>'
        )
        parts.append(text(x, y, words, _INK, 'text-anchor="middle" font-size="12"'))

    parts.append(
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        f'markerHeight="6" orient="auto"><path d="M0 0 8 4 0 8z" fill="{_BLUE}"/></marker></defs>'
    )
    box(16, 44, 110, "Scheduler", "Downloader")
    box(192, 44, 130, "Spider", "your callbacks")
    box(388, 16, 196, "DuplicatePipeline", "main text", "shingles, sketch", "verdict", own=True)
    box(660, 44, 120, "Your pipelines", "feed, engine")
    arrow("M126 72 H190", 158, 62, "response")
    arrow("M322 72 H386", 354, 62, "item")
    arrow("M584 72 H658", 621, 62, "item + tag")
    arrow("M257 100 V150 H71 V102", 164, 166, "requests (those for copies are spared)")
    arrow("M560 112 V140 H656", 720, 144, "DropItem: copies")
    box(388, 188, 196, "Index", "Redis or Valkey", own=True)
    arrow("M440 112 V186", 416, 150, "check")
    arrow("M500 188 V114", 0, -20)
    parts.append(text(508, 172, "verdict", _INK, 'font-size="12"'))
    box(192, 188, 130, "Other workers", "more spiders")
    arrow("M322 216 H386", 0, -20)
    box(660, 188, 120, "scrapy dedup", "report, override")
    arrow("M660 216 H586", 0, -20)
    return svg(796, 260, "The filter in a Scrapy crawl", parts)


def badge(label: str, value: str) -> str:
    """A label and a value, as READMEs begin with."""
    left, right = (14 + 7 * len(words) for words in (label, value))
    parts = [
        f'<rect width="{left}" height="20" fill="{_INK}"/>',
        f'<rect x="{left}" width="{right}" height="20" fill="{_BLUE}"/>',
        text(left / 2, 14, label, _PAPER, 'text-anchor="middle" font-size="11"'),
        text(left + right / 2, 14, value, _PAPER, 'text-anchor="middle" font-size="11"'),
    ]
    return svg(left + right, 20, f"{label}: {value}", parts)


def badges() -> dict[str, str]:
    """What pyproject.toml says of the package, by the names of the files."""
    project = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text())["project"]
    scrapy = next(line for line in project["dependencies"] if line.startswith("scrapy>="))
    return {
        "badge-python.svg": badge("Python", project["requires-python"].removeprefix(">=") + "+"),
        "badge-scrapy.svg": badge("Scrapy", scrapy.removeprefix("scrapy>=") + "+"),
        "badge-license.svg": badge("License", project["license"]),
    }


def draw(folder: Path) -> None:
    """Draw all pictures but those of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "architecture.svg").write_text(architecture(), encoding="utf-8")
    for name, drawn in badges().items():
        (folder / name).write_text(drawn, encoding="utf-8")
    (folder / "steps.svg").write_text(steps_of_a_page(), encoding="utf-8")
    (folder / "chrome.svg").write_text(chrome(), encoding="utf-8")
    found = list_choices(DedupConfig(), false_positives=0.1, false_negatives=0.9)
    save_plot(folder / "s-curve.svg", found[:1], DedupConfig().threshold)


def record(folder: Path) -> None:
    """Run the crawl of the demo site, and a question to its index, and keep what is shown."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=92, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    asked = [f"scrapy dedup show http://localhost:{page}" for page in _TWINS]
    for command in ("make crawl", *asked):
        shown = _in_terminal(command)
        if command in asked and "duplicate_of │ http" not in " ".join(shown.split()):
            continue  # of two copies either may come first and stay
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(shown.strip()), end="\n\n")
    # The letters of the reader's own machine: no picture here asks a network for anything.
    form = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    drawn = console.export_svg(title="scrapy-neardup", code_format=form, unique_id="crawl")
    (folder / "crawl.svg").write_text(drawn, encoding="utf-8")


def photograph(folder: Path) -> None:
    """The report of what was crawled: its upper part, and its decisions on a phone in the dark."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        report = Path(name) / "report.html"
        _in_terminal(f"scrapy dedup report -o {report}")
        # Its own sandbox does not work for root.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for file, width, scale, scheme, first, last in _PHOTOGRAPHS:
            page = browser.new_page(
                viewport={"width": width, "height": 800},
                device_scale_factor=scale,
                color_scheme=scheme,
            )
            page.goto(report.as_uri())
            page.locator("details").first.evaluate("one => { one.open = true; }")
            page.wait_for_timeout(500)
            ends = [page.locator(one).bounding_box() for one in (first, last)]
            top, bottom = (box["y"] if box else 0 for box in ends)
            clip = {"x": 0, "y": top, "width": width, "height": bottom - top}
            page.screenshot(path=folder / file, full_page=True, clip=clip)
        browser.close()


def _in_terminal(command: str) -> str:
    environment = Path(sys.executable).parents[1]
    make = f"make -s -o {environment}/crawl.stamp VENV={environment} "
    line = command.replace("make ", make, 1)
    path = f"{environment}/bin{os.pathsep}{os.environ['PATH']}"
    # `script` gives the command a terminal, so that it draws tables as it does for people.
    done = subprocess.run(
        ["script", "-qec", f"stty cols 92; {line}", "/dev/null"],
        env={**os.environ, "PATH": path, "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.replace("\r\n", "\n")


def main() -> None:
    """Draw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--run", action="store_true", help="and a run of `make crawl`")
    options = parser.parse_args()
    draw(FOLDER)
    if options.run:
        record(FOLDER)
        photograph(FOLDER)


if __name__ == "__main__":
    main()
