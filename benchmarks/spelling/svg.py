"""The picture of benchmarks/typos.py."""

from __future__ import annotations

from typing import Any


def svg(pairs: list[dict[str, Any]], results: dict[str, dict[str, Any]]) -> str:
    """For each pair, its J3 uncorrected and with ``typos``, ``scans`` and ``bad-scans``."""
    left, top, width, line = 150, 40, 480, 18
    colours = {"none": "#999", "typos": "#4363d8", "scans": "#e6194b", "bad-scans": "#3cb44b"}
    order = sorted(
        range(len(pairs)), key=lambda at: (pairs[at]["kind"], results["none"]["each J3"][at])
    )
    parts = [
        f'<text x="{left + place * 120}" y="18" fill="{colour}">● {name}</text>'
        for place, (name, colour) in enumerate(colours.items())
    ]
    bottom = top + line * len(order)
    for tick in (0, 0.2, 0.4, 0.6, 0.8, 1):
        x = left + tick * width
        parts.append(
            f'<line x1="{x}" y1="{top - 8}" x2="{x}" y2="{bottom}" stroke="#ddd"/>'
            f'<text x="{x - 8}" y="{bottom + 16}">{tick}</text>'
        )
    for row, at in enumerate(order):
        y = top + line * row + 6
        parts.append(f'<text x="8" y="{y + 4}">{pairs[at]["id"]}</text>')
        places = [left + width * results[name]["each J3"][at] for name in colours]
        parts.append(
            f'<line x1="{places[0]:.1f}" y1="{y}" x2="{max(places):.1f}" y2="{y}" stroke="#bbb"/>'
        )
        parts += [
            f'<circle cx="{x:.1f}" cy="{y}" r="4.5" fill="{colour}"/>'
            for x, colour in zip(places, colours.values(), strict=True)
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {bottom + 28}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        f"{''.join(parts)}</svg>\n"
    )
