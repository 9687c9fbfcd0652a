"""Zstandard: Python's own from 3.14 on, before that a copy of it."""

from __future__ import annotations

import sys

__all__ = ["zstd"]

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd
