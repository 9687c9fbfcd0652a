"""Keeps one copy of each page of a corpus on disk, with Apache Spark, on one machine or a cluster.

INPUT is Parquet, or JSON lines, WARC or WET, also compressed by gzip or zstd. Of near-copies the
first in the order of the input is kept, as in an index, or the best by DEDUP_PREFER: name the
sources that you trust most first. OUT/kept gets the files without their duplicates, OUT/duplicates
each dropped page with its reason, and OUT/clusters the pages that stand for others.

If a run is interrupted, start it again, and it resumes. The first unreadable record of each file is
named. The exit code is 2 if a file cannot be read to its end, or if there are more unreadable
records than pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ...offline import cli
from ..output import print_json, print_notice, print_table
from ..subcommands import Exit

HELP = "Remove duplicates from a corpus on disk (Spark)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    cli.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Do the job and print its numbers."""
    from ...project import project_config

    result = cli.run_job(options, project_config(settings))
    if options.json:
        print_json(result._asdict())
    else:
        from ...offline.result import lines_of

        print_table("Corpus", ["fact", "value"], [list(line) for line in lines_of(result)])
    for fault in result.faults:
        print_notice(fault)
    if result.is_doubtful:
        return Exit.USAGE
    return Exit.FOUND if result.pages else Exit.NOTHING
