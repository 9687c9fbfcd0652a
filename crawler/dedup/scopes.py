"""Scopes: pages of different ones are no copies of each other, though one index has them all.

The server knows nothing of scopes. What is compared of a page is changed by a mask that only pages
of its scope have: among themselves that changes nothing, and to all others they are like a page
that has nothing in common with them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import shake_128
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .errors import InputError
from .identity import domain, host
from .sketches.anchors import mask_anchors

if TYPE_CHECKING:
    from .config import DedupConfig
    from .fingerprint import Fingerprint
    from .sketches.hashing import ShingleArray

_KEY: Final = 4  # bytes of a key


def scope_of(config: DedupConfig, url: str, named: str | None = None) -> str:
    """The scope of a page: the one that is `named`, or that of its URL.

    Raises :class:`InputError` where neither tells.
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
    """The scope that an item names in its field: all items that name none share one.

    >>> field_scope(7), field_scope(["blue"]), field_scope(None)
    ('7', 'blue', '')
    """
    if isinstance(value, (list, tuple)) and len(value) == 1:
        (value,) = value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def mask_fingerprint(
    page: Fingerprint, scope: str, seed: int, *, one_table: bool = False
) -> Fingerprint:
    """What is compared of a page of a scope, under an index's seed; '' changes nothing.

    Keys that are in `one_table` are in order.

    >>> from .fingerprint import Fingerprint
    >>> page = Fingerprint(bytes(12), 9, b"".join(key.to_bytes(4) for key in (0, 5, 900)))
    >>> blue, red = (mask_fingerprint(page, name, seed=1) for name in ("blue", "red"))
    >>> blue == red, mask_fingerprint(blue, "blue", seed=1) == page
    (False, True)
    """
    if not scope or not page.words:
        return page
    head = len(page.exact)
    size = len(page.odd[0].bits) if page.odd else 0
    mask = _make_mask(scope, seed, head + _KEY + size)
    exact, key, odd = mask[:head], int.from_bytes(mask[head : head + _KEY]), mask[head + _KEY :]
    return replace(
        page,
        exact=_xor(page.exact, exact),
        bands=_mask_keys(page.bands, key, one_table),
        odd=tuple(one._replace(bits=_xor(one.bits, odd)) for one in page.odd),
        anchors=mask_anchors(page.anchors, key),
    )


def mask_shingles(hashes: ShingleArray, scope: str, seed: int) -> ShingleArray:
    """The hashes of shingles of a scope's page, in no order; '' changes nothing."""
    if not scope:
        return hashes
    return hashes ^ np.uint64(int.from_bytes(_make_mask(scope, seed, hashes.itemsize)))


def _mask_keys(bands: bytes, mask: int, in_order: bool) -> bytes:
    """Keys with other bits below their highest one: how large they are tells of a sample, as of
    :class:`~.sketches.ModuloSample`.
    """
    keys = np.frombuffer(bands, ">u4").astype(np.int64)
    _, lengths = np.frexp(keys.astype(np.float64))
    masked = keys ^ (mask & ((1 << np.maximum(lengths - 1, 0).astype(np.int64)) - 1))
    return (np.sort(masked) if in_order else masked).astype(">u4").tobytes()


@lru_cache(maxsize=1024)
def _make_mask(scope: str, seed: int, size: int) -> bytes:
    # Without the seed nobody can make a page of another scope like one of this.
    return shake_128(seed.to_bytes(8) + scope.encode("utf-8", "replace")).digest(size)


def _xor(value: bytes, mask: bytes) -> bytes:
    return (int.from_bytes(value) ^ int.from_bytes(mask)).to_bytes(len(value))
