"""Measures what a wheel has: the walk over a page's tree compiled, where there is a compiler."""

from __future__ import annotations

import os
import sys

from crawler.chrome.document import COMPILED


def as_shipped() -> None:
    """Compile the walk unless it is, and run the benchmark from its beginning."""
    if COMPILED or os.environ.get("NEARDUP_PURE"):
        return
    try:
        import hatch_build

        hatch_build.in_place()
    except Exception as error:
        print(f"Measured without the compiled walk: {error}", file=sys.stderr)
        return
    os.environ["NEARDUP_PURE"] = "1"  # once is enough, whatever came of it
    os.execv(sys.executable, sys.orig_argv)
