"""A hook of mkdocs: roles of Sphinx in docstrings (``:class:``) are not shown as text."""

from __future__ import annotations

import re
from typing import Any


def on_page_content(html: str, **_: Any) -> str:
    """The page without roles before names."""
    return re.sub(r":(?:class|func|meth|mod|attr|exc|data):(?=<code>)", "", html)
