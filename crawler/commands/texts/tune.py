"""Shows which bands find near-duplicates at a threshold, what they miss and what they cost.

Only --sample asks a server. `fewest` are the bands that an index uses unless the settings name
others (`set`). `weighed` are those with the least error, weighted by --false-positives and
--false-negatives. A false positive is a pair below the threshold that is compared in vain, because
candidates are verified. A false negative is a duplicate that stays.

`textbook` is 1-(1-s^r)^b for the bands in use. An index finds more: its keys, of 27 bits, hold only
part of each value, and values that differ sometimes agree in that part. See b = 20 and r = 5 with
-s DEDUP_BANDS=20 -s DEDUP_ROWS=5.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from ..output import Bar, is_terminal, print_json, print_table
from ..strict_arguments import add_threshold, make_integer_type, make_number_type
from ..subcommands import Exit, ask_index, nothing_found

if TYPE_CHECKING:
    from ...dedup.analysis.tuning import Choice, SimilarityBin
    from ...dedup.config import DedupConfig

HELP = "The S-curve of a threshold, its bands, errors and memory"

TEXTBOOK = "textbook"
_BAR = 20  # columns of the longest bar
_WIDE = 80  # columns of a terminal; in a narrower one numbers would be folded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_threshold(parser, "similarity from which pairs are wanted")
    parser.add_argument(
        "--num-hashes",
        type=make_integer_type(16, 4096),
        metavar="N",
        help="values in a sketch (default: DEDUP_NUM_HASHES)",
    )
    for error, weight in (("positives", 0.1), ("negatives", 0.9)):
        parser.add_argument(
            f"--false-{error}",
            type=make_number_type(0),
            metavar="W",
            default=weight,
            help=f"weight of false {error} for the weighed bands (default: {weight})",
        )
    parser.add_argument(
        "--sample",
        type=make_integer_type(2, 5000),
        metavar="N",
        help="ask the index for the similarities of its near-duplicates and of all pairs of N of "
        "its kept pages",
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="plot the curves to FILE.svg or FILE.png"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the choices, the curve and, if asked for, the sample of the index."""
    from dataclasses import replace

    from ...dedup.analysis.tuning import list_choices
    from ...dedup.errors import ConfigError
    from ...project import project_config
    from ...report.s_curve import save_plot

    config = project_config(settings)
    if not config.has_bands:
        raise ConfigError(
            f"DEDUP_METHOD {config.method} has no bands to choose; fast, minwise and "
            "one-permutation have"
        )
    asked = {"threshold": options.threshold, "num_hashes": options.num_hashes}
    config = replace(config, **{name: value for name, value in asked.items() if value is not None})
    try:
        found = list_choices(
            config,
            false_positives=options.false_positives,
            false_negatives=options.false_negatives,
        )
    except ValueError as error:
        raise ConfigError(str(error)) from None
    if options.plot:
        save_plot(options.plot, found, config.threshold)
    bins = _sample_pages(options.sample, found[0], config, settings) if options.sample else []
    if not any(one.near_duplicates or one.pairs for one in bins):
        bins = []
    if options.json:
        print_json(_to_dict(config, found, bins))
    else:
        _print_choices(config, found, bins)
    if bins or not options.sample:
        return Exit.FOUND
    return nothing_found(
        settings, "the index holds no near-duplicates, and no two pages to compare"
    )


def _list_similarities(threshold: float) -> list[float]:
    steps = {step / 10 for step in range(1, 11)}
    near = {threshold, round(threshold - 0.05, 4), round(threshold + 0.05, 4)}
    return sorted(steps | {s for s in near if 0 < s <= 1})


def _draw_curve(threshold: float, found: list[Choice]) -> Iterator[tuple[float, dict[str, float]]]:
    """Similarities, and the shares of pairs that each choice finds, and the textbook's formula."""
    from ...dedup import collision_probability

    for s in _list_similarities(threshold):
        textbook = float(collision_probability(s, found[0].bands, found[0].rows))
        yield s, {one.name: float(one.share_found(s)) for one in found} | {TEXTBOOK: textbook}


def _print_choices(config: DedupConfig, found: list[Choice], bins: list[SimilarityBin]) -> None:
    from ...report.s_curve import text_plot

    width = get_terminal_size().columns if is_terminal() else _WIDE
    if is_terminal():
        print(text_plot(found[0], config.threshold, width), end="\n\n")
    rows: list[list[Any]] = [
        [
            f"{one.name} (used)" if one.used else one.name,
            one.bands,
            one.rows,
            f"{float(one.share_found(config.threshold)):.4f}",
            f"{one.false_positives:.4f}",
            f"{one.false_negatives:.4f}",
            one.page_bytes,
            one.band_bytes,
        ]
        for one in found
    ]
    columns = ["choice", "bands", "rows", "recall", "false pos.", "false neg.", "bytes a page"]
    columns.append("of bands")
    title = f"Bands for threshold {config.threshold:g} out of {config.values} values"
    if width < _WIDE:  # transposed
        columns, *rows = map(list, zip(columns, *rows, strict=True))
    print_table(title, columns, rows)
    rows = [
        [f"{s:g}", *(f"{share:.4f}" for share in shares.values())]
        for s, shares in _draw_curve(config.threshold, found)
    ]
    print_table(
        "Share of pairs found", ["similarity", *(one.name for one in found), TEXTBOOK], rows
    )
    if is_terminal():
        print(f"{TEXTBOOK}: 1-(1-s^r)^b of the bands used; keys of 27 bits find a few pairs more\n")
    if bins:
        _print_bins(found[0], bins, width)


def _print_bins(choice: Choice, bins: list[SimilarityBin], width: int) -> None:
    most = max(1, *(one.near_duplicates for one in bins))
    rows = [
        [
            f"{one.low:.2f}",
            f"{float(choice.share_found((one.low + one.high) / 2)):.4f}" if i else None,
            one.pairs,
            one.near_duplicates,
            None if one.missed is None else f"{one.missed:.1f}",
            Bar(one.near_duplicates, most, _BAR),
        ]
        for i, one in enumerate(bins)
    ]
    columns = ["from", "curve", "pairs of the sample", "near-duplicates", "missed, expected", ""]
    if width < _WIDE:  # without the curve, which the table above has, and the bars
        columns, rows = columns[:1] + columns[2:5], [row[:1] + row[2:5] for row in rows]
    print_table("Similarities in the index", columns, rows)


def _sample_pages(
    pages: int, choice: Choice, config: DedupConfig, settings: Mapping[str, Any]
) -> list[SimilarityBin]:
    from ...dedup.analysis.tuning import floor_of_pairs, pair_similarities, similarity_bins
    from ...dedup.index import DuplicateIndex
    from ...dedup.sketches.odd import OddSketch
    from ...dedup.store.statistics import IndexStats

    async def ask(index: DuplicateIndex) -> tuple[IndexStats, list[OddSketch]]:
        return await index.stats(), await index.sample(pages)

    stats, sketches = ask_index(settings, ask)
    floor = floor_of_pairs(sketches, config.sketch_bits)
    pairs = pair_similarities(sketches, config.sketch_bits)
    return similarity_bins(choice, stats.histogram, pairs.tolist(), floor)


def _to_dict(config: DedupConfig, found: list[Choice], bins: list[SimilarityBin]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "threshold": config.threshold,
        "num_hashes": config.values,
        "choices": [
            {**asdict(one), "recall_at_threshold": float(one.share_found(config.threshold))}
            for one in found
        ],
        "curve": [
            {"similarity": s, **shares} for s, shares in _draw_curve(config.threshold, found)
        ],
        "sample": [asdict(one) for one in bins],
    }
