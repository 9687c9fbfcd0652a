"""Figures for the pictures in a report: places in a drawing, not its looks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..wording import counted

if TYPE_CHECKING:
    from ..dedup.config import DedupConfig
    from ..dedup.inspection import HostCounts
    from .survey import KeptPairs

# Of the drawing, in its own units.
WIDTH: Final = 640
HEIGHT: Final = 300
_LEFT: Final = 66
_RIGHT: Final = 16
_TOP: Final = 16
_BOTTOM: Final = 54
_STEPS: Final = 100
_FULL: Final = 10  # of a bar's height, at least: one pair is no tall bar
_MOST_HOSTS: Final = 25


class Bar(NamedTuple):
    """A bar of the drawing, and what it says."""

    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """The S-curve as the points of a line, and the similarities that were found as bars.

    ``line`` is empty for a sketching method without bands. ``bars`` are near-duplicates, ``pairs``
    those of a sample of kept pages, ``full`` and ``full_pairs`` the counts that reach the top, 0
    without bars.
    """

    line: str
    bars: list[Bar]
    pairs: list[Bar]
    threshold: float
    threshold_x: float
    bands: int
    rows: int
    full: int
    full_pairs: int
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    left: float = _LEFT
    right: float = WIDTH - _RIGHT
    top: float = _TOP
    base: float = HEIGHT - _BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def s_curve(config: DedupConfig, histogram: Mapping[str, int], kept: KeptPairs) -> Curve:
    """The share of pairs that the bands find, over their similarity, and what was found.

    `histogram` maps similarities, rounded down to hundredths, to near-duplicates.
    """
    from ..dedup.analysis.tuning import choices

    line, bands, rows = "", 0, 0
    if config.has_bands:
        choice = choices(config, false_positives=0.5, false_negatives=0.5)[0]
        bands, rows = choice.bands, choice.rows
        similarities = [step / _STEPS for step in range(_STEPS + 1)]
        found = choice.found(similarities).tolist()
        points = zip(similarities, found, strict=True)
        line = " ".join(f"{_x(s)},{_y(share)}" for s, share in points)
    return Curve(
        line=line,
        bars=_bars(histogram, "near-duplicate", "near-duplicates"),
        pairs=_bars(kept.histogram, "pair of kept pages", "pairs of kept pages"),
        threshold=config.threshold,
        threshold_x=_x(config.threshold),
        bands=bands,
        rows=rows,
        full=_full(histogram),
        full_pairs=_full(kept.histogram),
        x_ticks=[(_x(step / 5), f"{step / 5:g}") for step in range(6)],
        y_ticks=[(_y(step / 4), f"{step / 4:.0%}".replace("%", " %")) for step in range(5)],
    )


def _bars(histogram: Mapping[str, int], one: str, many: str) -> list[Bar]:
    full = _full(histogram)
    bars = []
    for name, count in sorted(histogram.items()):
        low = float(name)
        y = _y(count / full)
        width = round(_x(low + 0.01) - _x(low) - 1, 1)
        text = f"{low:.2f} to {low + 0.01:.2f}: {counted(count, one, many)}"
        bars.append(Bar(_x(low), y, width, round(_y(0) - y, 1), text))
    return bars


def _full(histogram: Mapping[str, int]) -> int:
    return max(_FULL, *histogram.values()) if histogram else 0


def _x(similarity: float) -> float:
    return round(_LEFT + similarity * (WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM), 1)


def host_rows(hosts: Iterable[HostCounts]) -> tuple[list[dict[str, Any]], int]:
    """The hosts with most copies, most first, and how many others there are.

    Of each its pages, those of them that are copies now, by kind, and their share.
    """
    ranked = sorted(hosts, key=lambda one: (-one.duplicates, -one.pages, one.host))
    names = ("host", "pages", "exact", "near", "share")
    rows = [{name: getattr(one, name) for name in names} for one in ranked[:_MOST_HOSTS]]
    return rows, max(0, len(ranked) - _MOST_HOSTS)


def verdict_rows(verdicts: Mapping[str, int]) -> list[dict[str, Any]]:
    """How many checks ended with each verdict, and their share, in the order people read them."""
    from ..dedup.verdict import Kind

    total = sum(verdicts.values())
    return [
        {"kind": str(kind), "checks": verdicts[kind], "share": verdicts[kind] / total}
        for kind in Kind
        if verdicts.get(kind)
    ]
