"""Numbers that describe each block: itself, what wraps it, its neighbours, its place."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blocks import TAGS, Flat
from .vocabulary import BIT, SIGNS

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LEVELS: Final = (3, 10, 30)  # containers described: the smallest ones with so many blocks
_ENDERS: Final = tuple(".!?…。！？:;\"”»）")


def base(flat: Flat) -> dict[str, NDArray[np.float64]]:
    texts = flat.texts
    chars = np.array([len(t) for t in texts], np.float64)
    spaces = np.array([t.count(" ") for t in texts], np.float64) + 1
    stops = np.array(
        [t.count(",") + t.count(". ") if t.isascii() else
         t.count(",") + t.count(". ") + t.count("，") + t.count("。") + t.count("、") for t in texts],
        np.float64)
    ends = np.array([t.endswith(_ENDERS) for t in texts], np.float64)
    words = np.where(chars > 12 * spaces, chars / 2, spaces)
    linked = np.minimum(np.array(flat.linked, np.float64) / np.maximum(chars, 1), 1)
    return dict(chars=chars, words=words, stops=stops, ends=ends, linked=linked)


def smallest(starts: Ints, ends: Ints, n: int, least: float, size: NDArray) -> Ints:
    """Return for each block the innermost container whose size is at least `least`."""
    out = np.zeros(n, np.int64)
    for c in np.flatnonzero(size >= least).tolist():
        out[starts[c]:ends[c]] = c
    return out


def describe(flat: Flat, title: str = "") -> Floats:
    n = len(flat.texts)
    b = base(flat)
    words, linked = b["words"], b["linked"]
    prose = np.minimum(words / 20, 1) * (1 - linked) * ((b["stops"] + b["ends"]) > 0)
    pw = prose * words
    lw = linked * words
    cols: list[NDArray] = []
    names: list[str] = []

    def put(name: str, col: NDArray) -> None:
        names.append(name)
        cols.append(col.astype(np.float32))

    lwords = np.log1p(words)
    put("words", lwords)
    put("linked", linked)
    put("prose", prose)
    put("stops", b["stops"] / words)
    put("ends", b["ends"])
    put("links", np.log1p(np.array(flat.links)))
    tags = np.array(flat.tags)
    for code, tag in enumerate(TAGS):
        put("tag " + tag, tags == code)
    signs = np.array(flat.signs, np.int64)
    for sign in SIGNS:
        put("in " + sign, (signs & BIT[sign]) != 0)
    put("digits", np.array([sum(map(str.isdigit, t[:40])) / min(len(t), 40) for t in flat.texts]))
    put("upper", np.array([t[:60].isupper() for t in flat.texts]))
    put("copyright", np.array(["©" in t or "ights reserved" in t for t in flat.texts]))
    counts: dict[str, int] = {}
    for t in flat.texts:
        counts[t] = counts.get(t, 0) + 1
    put("repeats", np.log(np.array([counts[t] for t in flat.texts])))
    low = title.lower()
    put("is title", np.array([len(t) > 8 and t[:80].lower() in low for t in flat.texts]))

    def cum(x: NDArray) -> NDArray:
        return np.concatenate(([0.0], np.cumsum(x)))

    W, PW, LW, N = cum(words), cum(pw), cum(lw), np.arange(n + 1)
    LN = cum(lwords)
    LK = cum((linked > 0.7).astype(float))
    total, tp, tl = W[-1], PW[-1] + 1e-9, LW[-1]
    put("place", np.arange(n) / n)
    put("place words", W[:-1] / total)
    put("place prose", PW[:-1] / tp)
    put("n", np.full(n, np.log1p(n)))
    put("page words", np.full(n, np.log1p(total)))
    put("page prose", np.full(n, tp / total))
    put("page linked", np.full(n, tl / total))
    # headings
    h1 = np.flatnonzero(tags == 2)
    first = h1[0] if len(h1) else -1
    rel = np.arange(n) - first
    put("has h1", np.full(n, first >= 0))
    put("after h1", (rel >= 0) & (first >= 0))
    put("from h1", np.sign(rel) * np.log1p(np.abs(rel)) * (first >= 0))
    ish = (tags >= 2) & (tags <= 4)
    hpos = np.maximum.accumulate(np.where(ish, np.arange(n), -1))
    put("since heading", np.log1p(np.arange(n) - hpos))
    # windows
    for r in (1, 3, 10):
        lo = np.maximum(np.arange(n) - r, 0)
        hi = np.minimum(np.arange(n) + r + 1, n)
        put(f"±{r} prose", (PW[hi] - PW[lo]) / (W[hi] - W[lo]))
        put(f"±{r} linked", (LW[hi] - LW[lo]) / (W[hi] - W[lo]))
        put(f"±{r} length", (LN[hi] - LN[lo]) / (hi - lo))
    for d in (-2, -1, 1, 2):
        j = np.clip(np.arange(n) + d, 0, n - 1)
        put(f"{d} words", lwords[j])
        put(f"{d} linked", linked[j])
        put(f"{d} prose", prose[j])
        put(f"{d} same tag", tags[j] == tags)
    for r in (3, 10):
        i = np.arange(n)
        a0, a1 = np.maximum(i - r, 0), i
        b0, b1 = np.minimum(i + 1, n), np.minimum(i + 1 + r, n)
        put(f"-{r} prose", (PW[a1] - PW[a0]) / (W[a1] - W[a0] + 1))
        put(f"+{r} prose", (PW[b1] - PW[b0]) / (W[b1] - W[b0] + 1))
    # containers
    starts, ends = np.array(flat.starts), np.array(flat.ends)
    own = np.array(flat.own)
    size = ends - starts
    cw = W[ends] - W[starts]
    cp = PW[ends] - PW[starts]
    levels = {str(k): smallest(starts, ends, n, k, size) for k in LEVELS}
    for share in (0.5, 0.8, 0.95):
        inner = np.flatnonzero(cp >= share * tp)
        c = int(inner[-1]) if len(inner) else 0
        i = np.arange(n)
        put(f"region {share}", (i >= starts[c]) & (i < ends[c]))
        put(f"region {share} share", np.full(n, cw[c] / total))
    for share in (0.1, 0.25):
        levels[f"share {share}"] = smallest(starts, ends, n, share * total, cw)
    for name, c in levels.items():
        s, e = starts[c], ends[c]
        w = np.maximum(W[e] - W[s], 1)
        put(f"{name} share", w / total)
        put(f"{name} prose share", cp[c] / tp)
        put(f"{name} prose", cp[c] / w)
        put(f"{name} linked", (LW[e] - LW[s]) / w)
        put(f"{name} length", (LN[e] - LN[s]) / np.maximum(e - s, 1))
        put(f"{name} links", (LK[e] - LK[s]) / np.maximum(e - s, 1))
        put(f"{name} blocks", np.log1p(e - s))
        put(f"{name} place", s / n)
        put(f"{name} end", e / n)
        put(f"{name} list", (own[c] & BIT["list"]) != 0)
        put(f"{name} first", (np.arange(n) - s) / np.maximum(e - s, 1))
    put("depth", np.array(flat.depth))
    return np.stack(cols, 1)
