"""Why blocks were kept or cut."""

from __future__ import annotations

import numpy as np

from crawler.chrome import main_text, parse

PAGE = """<nav>a</nav><footer>b</footer><div hidden>c</div><p><a href=/>d</a> e<p>f
<div class="menu comments">g</div><div class=related-links><ul><li><a href=/>h</a></ul></div>"""


def test_reasons() -> None:
    """The surest of what is around a block is said, and the template before all else."""
    flat = parse(PAGE).flat
    cut, all_of_it = np.zeros(6, bool), np.arange(6)
    assert main_text.give_reasons(flat, all_of_it, cut, None) == [
        "navigation", "footer", "hidden", "outside main text", "outside main text", "navigation"
    ]  # fmt: skip
    kept = ["main text"] * 3 + ["links in main text"]
    assert main_text.give_reasons(flat, np.arange(4, 8)[:1], ~cut, None) == kept[:1]
    assert main_text.give_reasons(flat, all_of_it[:2], cut, np.arange(6) < 1) == [
        "template",
        "footer",
    ]
