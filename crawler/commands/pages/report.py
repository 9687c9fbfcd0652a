"""Writes one HTML file that shows what was found and dropped, and needs no network.

Decisions in doubt come first, with both texts side by side if the archive of texts (DEDUP_ARCHIVE)
has them. --json prints the same as JSON instead.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import make_printable, print_json, whole_file
from ..strict_arguments import make_integer_type, output_file
from ..subcommands import Exit, ask_index, nothing_yet

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Write an HTML file with figures and decisions"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=output_file,
        default=Path("report.html"),
        metavar="FILE",
        help="(default: report.html)",
    )
    parser.add_argument(
        "--clusters",
        type=make_integer_type(1, 100_000),
        default=500,
        metavar="N",
        help="list up to N clusters (default: 500)",
    )
    parser.add_argument(
        "--texts",
        type=make_integer_type(0, 10_000),
        default=200,
        metavar="N",
        help="show the texts of up to N pairs (default: 200)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON and write no file")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Write the report."""
    from ...dedup.archive.archived_pages import Archive
    from ...project import project_config
    from ...report.content import Limits, read_content
    from ...report.html_file import make_environment, render_report

    config = project_config(settings)
    if not options.json:
        make_environment()  # a missing library is an error before the index is read
    limits = Limits(clusters=options.clusters, comparisons=options.texts)

    async def read(index: DuplicateIndex) -> dict[str, Any]:
        with Archive.of(config, index.digest) as archive:
            return await read_content(index, archive, limits)

    content = ask_index(settings, read)
    if options.json:
        print_json(content)
    else:
        text = render_report(content, config)
        with whole_file(options.output) as file:
            file.write(text)
        print(f"The report is in {make_printable(str(options.output))}")
    return Exit.FOUND if content["verdicts"] else nothing_yet(settings)
