"""What is compiled stands in Python, too, which takes its place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from crawler.chrome import strip_chrome

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path.relative_to(ROOT) for path in (ROOT / "crawler").rglob("*.pyx"))
PAGE = """<!doctype html><title>Tea</title><nav class="menu"><a href=/>Home</a></nav>
<main><h1>Tea</h1><p>Tea is a drink made of leaves, and of little else: water, milk at times.</p>
<p>It was brought to Europe in the 17th century, by traders who had drunk it in Macau.</p></main>
<footer><p>Read more</p><a href=/terms>Terms</a></footer>"""
UNCOMPILED = f"""
import sys

sys.modules |= dict.fromkeys({[".".join(path.with_suffix("").parts) for path in SOURCES]})
from crawler.chrome import strip_chrome
from crawler.chrome.page.reader import COMPILED

assert not COMPILED
print(strip_chrome({PAGE!r}).text)
"""


def test_names() -> None:
    """Who knows the name of one knows that of the other."""
    assert SOURCES
    for path in SOURCES:
        assert path.stem.startswith("_")
        assert (ROOT / path.with_name(path.stem.removeprefix("_") + ".py")).exists()


def test_where_nothing_is_compiled() -> None:
    """Nothing compiled is taken, and a page has the same main text."""
    run = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout == strip_chrome(PAGE).text + "\n"
