"""Why blocks were kept or cut: compiled the same as by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from crawler.chrome import parse, reasons
from tests.chrome.test_hostile import SOUP

compiled = pytest.importorskip("crawler.chrome._reasons")

PAGE = """<nav>a</nav><footer>b</footer><div hidden>c</div><p><a href=/>d</a> e<p>f
<div class="menu comments">g</div><div class=related-links><ul><li><a href=/>h</a></ul></div>"""


@settings(deadline=None)
@given(html=SOUP)
def test_reasons(html: str) -> None:
    """Of any blocks of a page, of its template or not."""
    flat = parse(PAGE + html).flat
    n = len(flat.texts)
    draw = np.random.default_rng(n)
    kept, known = draw.random((2, n)) < 0.5
    wanted: Any
    for numbers in (np.arange(n), np.flatnonzero(~kept)[:3]):
        for template in (None, known):
            wanted = reasons.reasons(flat, numbers, kept, template)
            assert compiled.reasons(flat, numbers, kept, template) == wanted
    cut = np.zeros(n, bool)
    assert compiled.reasons(flat, np.arange(6), cut, None) == [
        "navigation", "footer", "hidden", "outside main text", "outside main text", "navigation"
    ]  # fmt: skip
