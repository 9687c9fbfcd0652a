"""Zstandard: Python's own from 3.14 on, before that a copy of it."""

from __future__ import annotations

import sys

try:
    if sys.version_info >= (3, 14):
        from compression import zstd as zstd
    else:
        from backports import zstd as zstd
except ImportError as error:
    hint = "use a Python that was built with libzstd, or up to 3.13 install backports-zstd"
    raise ImportError(f"this Python cannot read Zstandard ({error}): {hint}") from error
