"""The S-curve as a picture: in the terminal, as SVG, and as PNG where matplotlib is installed.

As all of this package, it imports what takes long where it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from ..dedup.analysis.tuning import Choice

_COLUMNS, _ROWS = 60, 10  # of the plot in the terminal
_FEWEST_COLUMNS = 10  # however narrow that is
_LABEL = 7  # columns left of it
_BLOCKS = " ▁▂▃▄▅▆▇█"

# Of the picture, in pixels.
_WIDTH, _HEIGHT = 640, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 20, 20, 64
_SIMILARITIES = [step / 200 for step in range(201)]
_COLOURS = ("#1f4e9c", "#b3541e", "#4b7f3a")
_POSITIVES, _NEGATIVES = "#4b7f3a", "#1f4e9c"  # areas of errors, as lectures colour them


def text_plot(choice: Choice, threshold: float, width: int) -> str:
    """The S-curve of `choice` in block characters, the threshold marked below the axis.

    It is made for a terminal of `width` columns.
    """
    columns = max(_FEWEST_COLUMNS, min(_COLUMNS, width - _LABEL))
    found = choice.found([(column + 0.5) / columns for column in range(columns)])
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
    """Write the S-curves of `choices` as `path` says by its ending, .svg or .png.

    The areas of the errors are those of the first. Raises :class:`InputError` if the file cannot
    be written, or if matplotlib, which PNG needs, is not installed.
    """
    from ..dedup.errors import InputError

    try:
        if path.suffix.lower() == ".svg":
            path.write_text(_svg(choices, threshold), encoding="utf-8")
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


def _legend(choice: Choice) -> str:
    return f"{choice.name}: {choice.bands} bands of {choice.rows}"


def _svg(choices: Sequence[Choice], threshold: float) -> str:
    curve = _curve(choices[0])
    positives = [(threshold, 0.0), (0.0, 0.0), *(place for place in curve if place[0] <= threshold)]
    negatives = [(1.0, 1.0), (threshold, 1.0), *(place for place in curve if place[0] >= threshold)]
    axes = [((0, 0), (1, 0)), ((0, 0), (0, 1))]
    ticks = [step / 5 for step in range(6)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="13">',
        "<title>Share of pairs found over their similarity</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<polygon points="{_points(positives)}" fill="{_POSITIVES}" fill-opacity=".25"/>',
        f'<polygon points="{_points(negatives)}" fill="{_NEGATIVES}" fill-opacity=".25"/>',
        *(f'<polyline points="{_points(axis)}" stroke="#333"/>' for axis in axes),
        f'<polyline points="{_points([(threshold, 0), (threshold, 1)])}" stroke="#333" '
        'stroke-dasharray="5 4"/>',
    ]
    for colour, choice in zip(_COLOURS, choices, strict=False):
        line = _points(_curve(choice))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for tick in ticks:
        x, y = _place(tick, 0)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{tick:g}</text>')
        x, y = _place(0, tick)
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{tick:.0%}</text>')
    x, y = _place(0.5, 0)
    parts.append(f'<text x="{x}" y="{y + 38}" text-anchor="middle">similarity</text>')
    for i, (colour, text) in enumerate(_captions(choices, threshold)):
        parts.append(f'<text x="{_LEFT + 14}" y="{_TOP + 18 + 18 * i}" fill="{colour}">')
        parts.append(f"{escape(text)}</text>")
    return "\n".join([*parts, "</svg>", ""])


def _curve(choice: Choice) -> list[tuple[float, float]]:
    return list(zip(_SIMILARITIES, choice.found(_SIMILARITIES).tolist(), strict=True))


def _captions(choices: Sequence[Choice], threshold: float) -> list[tuple[str, str]]:
    lines = [(c, _legend(one)) for c, one in zip(_COLOURS, choices, strict=False)]
    first = choices[0]
    return [
        *lines,
        ("#333", f"threshold {threshold:g}"),
        (_POSITIVES, f"false positives {first.false_positives:.4f}"),
        (_NEGATIVES, f"false negatives {first.false_negatives:.4f}"),
    ]


def _place(similarity: float, found: float) -> tuple[float, float]:
    x = _LEFT + similarity * (_WIDTH - _LEFT - _RIGHT)
    y = _HEIGHT - _BOTTOM - found * (_HEIGHT - _TOP - _BOTTOM)
    return round(x, 1), round(y, 1)


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join("{},{}".format(*_place(*place)) for place in places)


def _save_png(path: Path, choices: Sequence[Choice], threshold: float) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH / 100, _HEIGHT / 100), dpi=200, layout="constrained")
    axes = figure.add_subplot(xlabel="similarity", ylabel="share of pairs found")
    s = _SIMILARITIES
    for colour, choice in zip(_COLOURS, choices, strict=False):
        axes.plot(s, choice.found(s), color=colour, label=_legend(choice))
    first = choices[0]
    axes.axvline(threshold, color="#333", linestyle="--", label=f"threshold {threshold:g}")
    areas = [
        ([x <= threshold for x in s], 0.0, _POSITIVES, f"positives {first.false_positives:.4f}"),
        ([x >= threshold for x in s], 1.0, _NEGATIVES, f"negatives {first.false_negatives:.4f}"),
    ]
    for where, base, colour, label in areas:
        axes.fill_between(
            s, first.found(s), base, where=where, color=colour, alpha=0.25, label=f"false {label}"
        )
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(path)
