"""Numbers that describe each block: itself, what wraps it, its neighbours, its place."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .blocks import LIMIT, TAGS, Flat
from .vocabulary import SIGNS

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Wide = NDArray[np.float64]

_ENDERS: Final = frozenset('.!?…。！？:;"”»）)')
_SIGN_SHIFTS: Final = np.arange(len(SIGNS))
_TAG_CODES: Final = np.arange(len(TAGS))
_WINDOWS: Final = (1, 3, 10)  # blocks on both sides
_SIDES: Final = (4, 12)  # blocks on one side
_NEIGHBOURS: Final = (-2, -1, 1, 2)
_SIZES: Final = (3, 10, 30)  # the smallest container with so many blocks
_SHARES: Final = (0.1, 0.25)  # the smallest container with such a share of the page's words
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
    own = _own(flat, texts, title)
    length, linked, prose, tags, words = own[:, 0], own[:, 1], own[:, 2], own[:, -2], own[:, -1]
    heading = (tags >= 2) & (tags <= 4)
    upto = np.zeros((n + 1, 7))
    np.cumsum(
        np.stack(
            (words, prose * words, linked * words, length, linked > 0.7, np.ones(n), heading), 1,
        ), 0, out=upto[1:],
    )  # fmt: skip
    place = upto[:-1] / np.maximum(upto[-1], _TINY)

    first = int(np.argmax(tags == 2)) if (tags == 2).any() else -1
    since = row - first if first >= 0 else np.zeros(n)
    last = np.maximum.accumulate(np.where(heading, row, -1))
    starts, stops = np.array(flat.starts), np.array(flat.ends)
    same = tags[1:] == tags[:-1]
    signs = np.array(flat.signs[:LIMIT], np.int64)
    parts: list[NDArray[Any]] = [
        own[:, :-2],
        place[:, (_WORDS, _PROSE, _BLOCKS)],
        tags[:, None] == _TAG_CODES,
        (signs[:, None] >> _SIGN_SHIFTS) & 1,
        np.stack(
            (
                np.sign(since) * np.log1p(np.abs(since)), since >= 0, np.log1p(row - last),
                np.bincount(starts, minlength=n)[:n], np.bincount(stops, minlength=n)[:n],
                np.concatenate(([False], same)), np.concatenate((same, [False])),
            ), 1,
        ),
    ]  # fmt: skip

    after = row + 1
    ranges = [(np.maximum(row - r, 0), np.minimum(after + r, n)) for r in _WINDOWS]
    ranges += [(np.maximum(row - r, 0), row) for r in _SIDES]
    ranges += [(after, np.minimum(after + r, n)) for r in _SIDES]
    froms, tos = np.stack([r[0] for r in ranges], 1), np.stack([r[1] for r in ranges], 1)
    parts.append(_ratios(upto[tos] - upto[froms]).reshape(n, -1))
    padded = np.zeros((n + 4, 4))
    padded[2:-2] = own[:, (0, 1, 2, -2)]
    parts.extend(padded[2 + shift : 2 + shift + n] for shift in _NEIGHBOURS)
    parts.extend(_containers(flat, upto, starts, stops))
    return np.concatenate(parts, 1, dtype=np.float32)


def _own(flat: Flat, texts: list[str], title: str) -> Wide:
    """Return what each block is by itself; the last two columns are its tag and its words."""
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
    prose = np.minimum(words / 20, 1) * (1 - linked) * ((stops > 0) | ends)
    counts = Counter(texts)
    return np.stack(
        (
            np.log1p(words), linked, prose, stops / words, ends, np.log1p(flat.links[:n]),
            np.log([counts[t] for t in texts]),
            [8 < len(t) < 200 and t in title for t in texts],
            flat.depths[:n], flat.tags[:n], words,
        ), 1,
    )  # fmt: skip


def _containers(flat: Flat, upto: Wide, starts: Ints, stops: Ints) -> list[NDArray[Any]]:
    """Return for each block what the containers around it hold, small ones and large ones."""
    n = len(upto) - 1
    row = np.arange(n)
    inside = upto[stops] - upto[starts]
    size = stops - starts
    counts = Counter(flat.keys)
    twins = np.array([counts[key] for key in flat.keys])  # siblings of one tag and class
    table = np.concatenate(
        (
            _ratios(inside),
            inside[:, :3] / np.maximum(upto[-1, :3], _TINY),
            np.stack(
                (
                    np.log1p(size), starts / n, stops / n, np.log1p(twins),
                    np.log1p(inside[:, _WORDS] * (twins > 2)), starts, np.maximum(size, 1),
                ), 1,
            ),
        ), 1,
    )  # fmt: skip
    fitting = [size >= least for least in _SIZES]
    fitting += [inside[:, _WORDS] >= share * upto[-1, _WORDS] for share in _SHARES]
    fitting.append((twins > 2) & (size > 1))
    levels = np.zeros((len(fitting), n), np.int64)
    spans = list(zip(starts.tolist(), stops.tolist(), strict=True))
    for level, fits in zip(levels, fitting, strict=True):
        for c in np.flatnonzero(fits).tolist():  # inner ones overwrite outer ones
            start, stop = spans[c]
            level[start:stop] = c
    looked_up = table.astype(np.float32)[levels.T]
    looked_up[:, :, -2] = (row[:, None] - looked_up[:, :, -2]) / looked_up[:, :, -1]
    parts: list[NDArray[Any]] = [looked_up[:, :, :-1].reshape(n, -1)]
    for share in _REGIONS:
        inner = np.flatnonzero(inside[:, _PROSE] >= share * (upto[-1, _PROSE] + _TINY))
        region = int(inner[-1]) if len(inner) else 0
        within = (row >= starts[region]) & (row < stops[region])
        share_of_words = np.full(n, inside[region, _WORDS] / upto[-1, _WORDS])
        parts.append(np.stack((within, share_of_words), 1))
    return parts


def _ratios(sums: Wide) -> Wide:
    """Return prose and links per word; length, links and headings per block."""
    result = np.empty((*sums.shape[:-1], 5))
    result[..., :2] = sums[..., 1:3] / np.maximum(sums[..., :1], 1)
    blocks = np.maximum(sums[..., _BLOCKS, None], 1)
    result[..., 2:4] = sums[..., 3:5] / blocks
    result[..., 4:] = sums[..., 6:] / blocks
    return result
