"""Numbers that describe each block: itself, what wraps it, its neighbours, its place."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .blocks import LIMIT, Flat
from .elements import TAGS
from .vocabulary import SIGNS

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Wide = NDArray[np.float64]

_ENDERS: Final = frozenset('.!?…。！？:;"”»）)')
_ONE_TAG: Final = np.eye(len(TAGS), dtype=np.float32)
_RANGES: Final = np.array([[-3, 4], [-10, 11], [-4, 0], [1, 5]]).T  # blocks around a block
_NEIGHBOURS: Final = (-2, -1, 1, 2)
_SIZES: Final = (3, 10)  # the smallest container with so many blocks
_SHARE: Final = 0.25  # the smallest container with such a share of the page's words
_REGIONS: Final = (0.5, 0.8, 0.95)  # the smallest container with such a share of the prose
_TINY: Final = 1e-9

# Columns whose sums over ranges of blocks are wanted.
_WORDS, _PROSE, _LINKED, _LENGTH, _LINKS, _BLOCKS, _HEADINGS = range(7)


def describe(flat: Flat, title: str = "") -> Floats:
    """Return features of the first `LIMIT` blocks, float32, one row for each.

    Prose is a block's likeness to running text, 0 to 1: it is long, has punctuation, and
    little of it is linked.  Sizes count words, for Chinese and Japanese half the characters.
    """
    texts = flat.texts[:LIMIT]
    n = len(texts)
    row = np.arange(n)
    tags = np.array(flat.tags[:n], np.int64)
    own, words = _own(flat, texts, title)
    linked, prose = own[1], own[2]
    heading = (tags >= 2) & (tags <= 4)
    upto = np.zeros((7, n + 1))
    each = np.stack((words, prose * words, linked * words, own[0], linked > 0.7, own[0], heading))
    each[_BLOCKS] = 1
    np.cumsum(each, 1, out=upto[:, 1:])
    upto = np.ascontiguousarray(upto.T)
    starts, stops = np.array(flat.starts, np.int64), np.array(flat.ends, np.int64)
    signs = np.array(flat.signs[:n], "<i8").view(np.uint8).reshape(n, 8)

    first = flat.tags.index(2) if 2 in flat.tags[:n] else -1
    since = row - first if first >= 0 else np.zeros(n)
    same = np.zeros(n + 1)
    same[1:-1] = tags[1:] == tags[:-1]
    around = row[:, None, None] + _RANGES
    np.clip(around, 0, n, out=around)
    padded = np.zeros((n + 4, 4), np.float32)
    padded[2:-2, :3] = own[:3].T
    padded[2:-2, 3] = tags
    parts: list[NDArray[Any]] = [
        own.T,
        upto[:-1, (_WORDS, _PROSE, _BLOCKS)]
        / np.maximum(upto[-1, (_WORDS, _PROSE, _BLOCKS)], _TINY),
        _ONE_TAG[tags],
        np.unpackbits(signs, axis=1, bitorder="little", count=len(SIGNS)),
        np.stack(
            (
                np.copysign(np.log1p(np.abs(since)), since), since >= 0,
                np.log1p(row - np.maximum.accumulate(np.where(heading, row, -1))),
                np.bincount(starts, minlength=n)[:n], np.bincount(stops, minlength=n)[:n],
                same[:-1], same[1:],
            )
        ).T,
        _ratios(upto[around[:, 1]] - upto[around[:, 0]]).reshape(n, -1),
    ]  # fmt: skip
    parts.extend(padded[2 + shift : 2 + shift + n] for shift in _NEIGHBOURS)
    parts.extend(_containers(flat, upto, starts, stops))
    return np.concatenate(parts, 1, dtype=np.float32)


def _own(flat: Flat, texts: list[str], title: str) -> tuple[Wide, Wide]:
    """Return what each block is by itself, one row for each number, and its size in words."""
    n = len(texts)
    chars = np.array([len(t) for t in texts], np.float64)
    spaces = np.array([t.count(" ") for t in texts], np.float64) + 1
    words = np.where(chars > 12 * spaces, chars / 2, spaces)
    stops = np.array(
        [
            t.count(",") + t.count(". ")
            if t.isascii()
            else t.count(",") + t.count(". ") + t.count("，") + t.count("。") + t.count("、")
            + t.count("،")
            for t in texts
        ],
        np.float64,
    )  # fmt: skip
    ends = np.array([t[-1] in _ENDERS for t in texts])
    linked = np.minimum(np.array(flat.linked[:n]) / chars, 1)
    counts = Counter(texts)
    own = np.empty((9, n))
    own[0] = words
    own[1] = linked
    own[2] = np.minimum(words / 20, 1) * (1 - linked) * ((stops > 0) | ends)
    own[3] = stops / words
    own[4] = ends
    own[5] = flat.links[:n]
    own[6] = [counts[t] for t in texts] if len(counts) < n else 1
    own[7] = [8 < len(t) < 200 and t in title for t in texts]
    own[8] = flat.depths[:n]
    own[0] = np.log1p(own[0])
    own[5:7] = np.log1p(own[5:7])
    return own, words


def _containers(flat: Flat, upto: Wide, starts: Ints, stops: Ints) -> list[NDArray[Any]]:
    """Return for each block what the containers around it hold, small ones and large ones."""
    n = len(upto) - 1
    row = np.arange(n)
    inside = upto[stops] - upto[starts]
    size = stops - starts
    counts = Counter(flat.keys)
    twins = np.array([counts[key] for key in flat.keys])  # siblings of one tag and class
    many = twins > 2
    table = np.empty((len(starts), 15), np.float32)
    table[:, :5] = _ratios(inside)
    table[:, 5:8] = inside[:, :3] / np.maximum(upto[-1, :3], _TINY)
    table[:, 8] = np.log1p(size)
    table[:, 9] = starts / n
    table[:, 10] = stops / n
    table[:, 11] = np.log1p(twins)
    table[:, 12] = np.log1p(inside[:, _WORDS] * many)
    table[:, 13] = starts
    table[:, 14] = size
    fitting = [size >= least for least in _SIZES]
    fitting.append(inside[:, _WORDS] >= _SHARE * upto[-1, _WORDS])
    fitting.append(many & (size > 1))
    levels = np.zeros((len(fitting), n), np.int64)
    for level, fits in zip(levels, fitting, strict=True):
        chosen = np.flatnonzero(fits)  # inner ones overwrite outer ones
        for c, start, stop in zip(
            chosen.tolist(), starts[chosen].tolist(), stops[chosen].tolist(), strict=True
        ):
            level[start:stop] = c
    looked_up = table[levels.T]
    looked_up[:, :, -2] = (row[:, None] - looked_up[:, :, -2]) / looked_up[:, :, -1]
    parts: list[NDArray[Any]] = [looked_up[:, :, :-1].reshape(n, -1)]
    regions = np.empty((n, 2 * len(_REGIONS)), np.float32)
    for i, share in enumerate(_REGIONS):
        inner = np.flatnonzero(inside[:, _PROSE] >= share * (upto[-1, _PROSE] + _TINY))
        region = int(inner[-1]) if len(inner) else 0
        regions[:, 2 * i] = 0
        regions[starts[region] : stops[region], 2 * i] = 1
        regions[:, 2 * i + 1] = inside[region, _WORDS] / upto[-1, _WORDS]
    parts.append(regions)
    return parts


def _ratios(sums: Wide) -> Wide:
    """Return prose and links per word; length, links and headings per block."""
    result = np.empty((*sums.shape[:-1], 5))
    result[..., :2] = sums[..., 1:3] / np.maximum(sums[..., :1], 1)
    blocks = np.maximum(sums[..., _BLOCKS, None], 1)
    result[..., 2:4] = sums[..., 3:5] / blocks
    result[..., 4:] = sums[..., 6:] / blocks
    return result
