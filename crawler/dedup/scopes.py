"""Scopes: pages of different scopes are not copies of each other, although they share an index.

The server knows nothing about scopes. The fingerprint of each page is XORed with a mask of its
scope. This does not change comparisons within a scope, and leaves nothing in common between scopes.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import shake_128
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError
from .identity import domain, host

if TYPE_CHECKING:
    from .config import DedupConfig
    from .sketches.hashing import ShingleArray


def scope_of(config: DedupConfig, url: str, named: str | None = None) -> str:
    """The scope of a page: the `named` one, or the host or domain of its URL.

    Raises :class:`InputError` if neither is known.
    """
    if named is not None or config.scope == "all":
        return named or ""
    if config.scope_field is not None or not url:
        where = f" ({config.scope_field!r})" if config.scope_field else ""
        raise InputError(
            "this index has scopes (DEDUP_SCOPE): name the scope of the page with "
            f"--scope or scope=...{where}"
        )
    return host(url) if config.scope == "host" else domain(url)


def field_scope(value: Any) -> str:
    """The scope in an item's field; all items without one share a scope.

    >>> field_scope(7), field_scope(["blue"]), field_scope(None)
    ('7', 'blue', '')
    """
    if isinstance(value, (list, tuple)) and len(value) == 1:
        (value,) = value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def mask_shingles(hashes: ShingleArray, scope: str, seed: int) -> ShingleArray:
    """The shingle hashes masked with a scope, no longer sorted; '' changes nothing."""
    if not scope:
        return hashes
    return hashes ^ np.uint64(int.from_bytes(make_mask(scope, seed, hashes.itemsize)))


def mask_keys(bands: bytes, mask: int, *, one_table: bool) -> bytes:
    """Mask the bits of keys below their highest one.

    The size of a key stays, because it shows the sampling rate of :class:`~.sketches.ModuloSample`.
    Keys in `one_table` are sorted.
    """
    keys = np.frombuffer(bands, ">u4").astype(np.int64)
    _, lengths = np.frexp(keys.astype(np.float64))
    masked = keys ^ (mask & ((1 << np.maximum(lengths - 1, 0).astype(np.int64)) - 1))
    return (np.sort(masked) if one_table else masked).astype(">u4").tobytes()


@lru_cache(maxsize=1024)
def make_mask(scope: str, seed: int, size: int) -> bytes:
    """The mask of a scope under an index's seed, `size` bytes long."""
    # Without the seed, pages of another scope cannot be made to match pages of this one.
    return shake_128(seed.to_bytes(8) + scope.encode("utf-8", "replace")).digest(size)


def mask_bytes(value: bytes, mask: bytes) -> bytes:
    """The bytes XORed with a mask of the same length."""
    return (int.from_bytes(value) ^ int.from_bytes(mask)).to_bytes(len(value))
