"""A hook of mkdocs: roles of Sphinx in docstrings are shown as plain names.

``:class:`~.shingles.Shingler` `` becomes ``Shingler``.
"""

from __future__ import annotations

import re
from typing import Any


def on_page_content(html: str, **_: Any) -> str:
    """The page without roles before names, and without the modules of names after a tilde."""
    html = re.sub(r":(?:class|func|meth|mod|attr|exc|data):(?=<code>)", "", html)
    return re.sub(r"<code>~[\w.]*\.(?=\w+</code>)", "<code>", html)
