"""Why a block was kept or cut, in a word or two.

Where it is compiled, `_reasons.pyx` does the same without numpy's price for each call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blocks import Flat
from .vocabulary import BIT

# What is said around a block, the surest first.
SAID: Final = tuple(
    (BIT[sign], reason)
    for sign, reason in (
        ("hidden", "hidden"),
        ("nav", "navigation"),
        ("footer", "footer"),
        ("c_footer", "footer"),
        ("c_menu", "navigation"),
        ("c_crumbs", "breadcrumbs"),
        ("c_consent", "consent"),
        ("c_related", "related"),
        ("c_share", "sharing"),
        ("c_comment", "comments"),
        ("c_ad", "advertisement"),
        ("c_signup", "sign-up"),
        ("aside", "aside"),
        ("c_sidebar", "sidebar"),
        ("form", "form"),
        ("header", "header"),
        ("c_header", "header"),
    )
)
TEMPLATE: Final = "template"
KEPT: Final = "main text", "links in main text"
CUT: Final = "outside main text", "links"


def reasons(
    flat: Flat,
    numbers: NDArray[np.intp],
    kept: NDArray[np.bool_],
    known: NDArray[np.bool_] | None,
) -> list[str]:
    """Return why blocks of these numbers were kept or cut, `known` being those of the template."""
    columns = (
        numbers,
        flat.signs[flat.around[numbers]],
        flat.linked[numbers],
        kept[numbers],
        np.zeros(len(numbers), bool) if known is None else known[numbers],
    )
    return [
        _reason(signs, linked > len(flat.texts[i]) / 2, keep, templated)
        for i, signs, linked, keep, templated in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _reason(signs: int, linked: bool, kept: bool, templated: bool) -> str:
    if templated:
        return TEMPLATE
    if kept:
        return KEPT[linked]
    return _said(signs) or CUT[linked]


@lru_cache(1024)
def _said(signs: int) -> str | None:
    return next((reason for sign, reason in SAID if signs & sign), None)
