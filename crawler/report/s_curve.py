"""The S-curve as a picture: in a terminal, as SVG, and as PNG if matplotlib is installed.

In the report, it comes with the similarities that were found. Slow imports are made where they are
needed, because `scrapy dedup tune` can mostly do without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.sax.saxutils import escape

from ..wording import counted

if TYPE_CHECKING:
    from ..dedup.analysis.tuning import Choice
    from ..dedup.config import DedupConfig
    from .survey import KeptPairs

_COLUMNS, _ROWS = 60, 10  # of the plot in the terminal
_FEWEST_COLUMNS = 10  # also in a narrower terminal
_LABEL = 7  # columns of the labels, left of the plot
_BLOCKS = " ▁▂▃▄▅▆▇█"

_SIMILARITIES = [step / 200 for step in range(201)]
_COLOURS = ("#1f4e9c", "#b3541e", "#4b7f3a")
_POSITIVES, _NEGATIVES = "#4b7f3a", "#1f4e9c"  # areas of errors, as lectures colour them
_FULL: Final = 10  # the least count of a full bar, so that the bar of a single pair is short


class Frame(NamedTuple):
    """A drawing's size and the margins around its axes, in its own units."""

    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int

    def x(self, similarity: float) -> float:
        """The x coordinate of a similarity."""
        return round(self.left + similarity * (self.width - self.left - self.right), 1)

    def y(self, share: float) -> float:
        """The y coordinate of a share, from the top."""
        return round(self.height - self.bottom - share * (self.height - self.top - self.bottom), 1)

    def points(self, places: Iterable[tuple[float, float]]) -> str:
        """Similarities and shares as the points of a line of SVG."""
        return " ".join(f"{self.x(similarity)},{self.y(share)}" for similarity, share in places)


_PLOT: Final = Frame(640, 420, left=56, right=20, top=20, bottom=64)
_CHART: Final = Frame(640, 300, left=66, right=16, top=16, bottom=54)


def text_plot(choice: Choice, threshold: float, width: int) -> str:
    """The S-curve of `choice` in block characters, the threshold marked below the axis.

    It is made for a terminal of `width` columns.
    """
    columns = max(_FEWEST_COLUMNS, min(_COLUMNS, width - _LABEL))
    found = choice.share_found([(column + 0.5) / columns for column in range(columns)])
    eighths = [round(share * _ROWS * 8) for share in found.tolist()]
    lines = []
    for row in range(_ROWS - 1, -1, -1):
        label = {_ROWS - 1: "100 %", _ROWS // 2 - 1: " 50 %"}.get(row, "")
        bar = "".join(_BLOCKS[min(8, max(0, height - row * 8))] for height in eighths)
        lines.append(f"{label:>5} │{bar}".rstrip())
    mark = min(columns - 1, int(threshold * columns))
    lines.append(f"{'0':>5} └{'─' * mark}┴{'─' * (columns - mark - 1)}")
    axis = ["0", *" " * (columns - 2), "1"]
    axis[mark] = "▲"
    lines.append(" " * _LABEL + "".join(axis))
    legend = f"similarity; ▲ threshold {threshold:g}; height: share of pairs found"
    lines += [" " * _LABEL + line for line in wrap(legend, max(width - _LABEL, columns))]
    return "\n".join(lines)


def save_plot(path: Path, choices: Sequence[Choice], threshold: float) -> None:
    """Write the S-curves of `choices` to a file that ends with .svg or .png.

    The areas of the errors belong to the first choice. Raises :class:`InputError` if the file
    cannot be written, or if matplotlib, which PNG needs, is not installed.
    """
    from ..dedup.errors import InputError

    try:
        if path.suffix.lower() == ".svg":
            path.write_text(_draw_svg(choices, threshold), encoding="utf-8")
        elif path.suffix.lower() == ".png":
            _save_png(path, choices, threshold)
        else:
            raise InputError(f"--plot expects a file.svg or a file.png, not {str(path)!r}")
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    except ImportError:
        raise InputError(
            "a PNG needs matplotlib: pip install matplotlib, or name a file.svg"
        ) from None


def _legend_of(choice: Choice) -> str:
    return f"{choice.name}: {choice.bands} bands of {choice.rows}"


def _draw_svg(choices: Sequence[Choice], threshold: float) -> str:
    curve = _curve_of(choices[0])
    positives = [(threshold, 0.0), (0.0, 0.0), *(place for place in curve if place[0] <= threshold)]
    negatives = [(1.0, 1.0), (threshold, 1.0), *(place for place in curve if place[0] >= threshold)]
    axes = [((0, 0), (1, 0)), ((0, 0), (0, 1))]
    ticks = [step / 5 for step in range(6)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_PLOT.width} {_PLOT.height}" '
        f'width="{_PLOT.width}" height="{_PLOT.height}" font-family="sans-serif" font-size="13">',
        "<title>Share of pairs found over their similarity</title>",
        f'<rect width="{_PLOT.width}" height="{_PLOT.height}" fill="#fff"/>',
        f'<polygon points="{_PLOT.points(positives)}" fill="{_POSITIVES}" fill-opacity=".25"/>',
        f'<polygon points="{_PLOT.points(negatives)}" fill="{_NEGATIVES}" fill-opacity=".25"/>',
        *(f'<polyline points="{_PLOT.points(axis)}" stroke="#333"/>' for axis in axes),
        f'<polyline points="{_PLOT.points([(threshold, 0), (threshold, 1)])}" stroke="#333" '
        'stroke-dasharray="5 4"/>',
    ]
    for colour, choice in zip(_COLOURS, choices, strict=False):
        line = _PLOT.points(_curve_of(choice))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for tick in ticks:
        x, y = _PLOT.x(tick), _PLOT.y(0)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{tick:g}</text>')
        x, y = _PLOT.x(0), _PLOT.y(tick)
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{tick:.0%}</text>')
    x, y = _PLOT.x(0.5), _PLOT.y(0)
    parts.append(f'<text x="{x}" y="{y + 38}" text-anchor="middle">similarity</text>')
    for i, (colour, text) in enumerate(_list_captions(choices, threshold)):
        parts.append(f'<text x="{_PLOT.left + 14}" y="{_PLOT.top + 18 + 18 * i}" fill="{colour}">')
        parts.append(f"{escape(text)}</text>")
    return "\n".join([*parts, "</svg>", ""])


def _curve_of(choice: Choice) -> list[tuple[float, float]]:
    return list(zip(_SIMILARITIES, choice.share_found(_SIMILARITIES).tolist(), strict=True))


def _list_captions(choices: Sequence[Choice], threshold: float) -> list[tuple[str, str]]:
    lines = [(c, _legend_of(one)) for c, one in zip(_COLOURS, choices, strict=False)]
    first = choices[0]
    return [
        *lines,
        ("#333", f"threshold {threshold:g}"),
        (_POSITIVES, f"false positives {first.false_positives:.4f}"),
        (_NEGATIVES, f"false negatives {first.false_negatives:.4f}"),
    ]


def _save_png(path: Path, choices: Sequence[Choice], threshold: float) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_PLOT.width / 100, _PLOT.height / 100), dpi=200, layout="constrained")
    axes = figure.add_subplot(xlabel="similarity", ylabel="share of pairs found")
    s = _SIMILARITIES
    for colour, choice in zip(_COLOURS, choices, strict=False):
        axes.plot(s, choice.share_found(s), color=colour, label=_legend_of(choice))
    first = choices[0]
    axes.axvline(threshold, color="#333", linestyle="--", label=f"threshold {threshold:g}")
    areas = [
        ([x <= threshold for x in s], 0.0, _POSITIVES, f"positives {first.false_positives:.4f}"),
        ([x >= threshold for x in s], 1.0, _NEGATIVES, f"negatives {first.false_negatives:.4f}"),
    ]
    for where, base, colour, label in areas:
        axes.fill_between(
            s,
            first.share_found(s),
            base,
            where=where,
            color=colour,
            alpha=0.25,
            label=f"false {label}",
        )
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(path)


class Bar(NamedTuple):
    """A bar of the drawing, with its label."""

    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class Curve:
    """The S-curve as the points of a line, and the similarities that were found as bars.

    ``line`` is empty for a sketching method without bands. ``bars`` count near-duplicates, and
    ``pairs`` the pairs of a sample of kept pages. ``full`` and ``full_pairs`` are the counts of
    bars of full height, 0 without bars.
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
    left: float = _CHART.left
    right: float = _CHART.width - _CHART.right
    top: float = _CHART.top
    base: float = _CHART.height - _CHART.bottom
    width: int = _CHART.width
    height: int = _CHART.height


def report_curve(config: DedupConfig, histogram: Mapping[str, int], kept: KeptPairs) -> Curve:
    """The share of pairs that the bands find, over their similarity, and the similarities found.

    `histogram` maps similarities, rounded down to hundredths, to near-duplicates.
    """
    from ..dedup.analysis.tuning import list_choices

    line, bands, rows = "", 0, 0
    if config.has_bands:
        choice = list_choices(config, false_positives=0.5, false_negatives=0.5)[0]
        bands, rows = choice.bands, choice.rows
        line = _CHART.points(_curve_of(choice))
    return Curve(
        line=line,
        bars=_list_bars(histogram, "near-duplicate", "near-duplicates"),
        pairs=_list_bars(kept.histogram, "pair of kept pages", "pairs of kept pages"),
        threshold=config.threshold,
        threshold_x=_CHART.x(config.threshold),
        bands=bands,
        rows=rows,
        full=_full_height(histogram),
        full_pairs=_full_height(kept.histogram),
        x_ticks=[(_CHART.x(step / 5), f"{step / 5:g}") for step in range(6)],
        y_ticks=[(_CHART.y(step / 4), f"{step / 4:.0%}".replace("%", " %")) for step in range(5)],
    )


def _list_bars(histogram: Mapping[str, int], one: str, many: str) -> list[Bar]:
    full = _full_height(histogram)
    bars = []
    for name, count in sorted(histogram.items()):
        low = float(name)
        y = _CHART.y(count / full)
        width = round(_CHART.x(low + 0.01) - _CHART.x(low) - 1, 1)
        text = f"{low:.2f} to {low + 0.01:.2f}: {counted(count, one, many)}"
        bars.append(Bar(_CHART.x(low), y, width, round(_CHART.y(0) - y, 1), text))
    return bars


def _full_height(histogram: Mapping[str, int]) -> int:
    return max(_FULL, *histogram.values()) if histogram else 0
