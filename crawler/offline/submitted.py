"""The job as spark-submit starts it: settings from the command line alone."""

from __future__ import annotations

import argparse
import json
import sys

from ..dedup.config import DedupConfig
from ..dedup.errors import DedupError
from . import cli


def main() -> None:
    """Read the command line, do the job and print its numbers as JSON.

    Exits with 2 if ``scrapy dedup corpus`` would.
    """
    parser = argparse.ArgumentParser(prog="corpus", description=__doc__)
    cli.add_arguments(parser)
    parser.add_argument(
        "-s", metavar="NAME=VALUE", dest="settings", action="append", default=[],
        help="a DEDUP_ setting; can be repeated",
    )  # fmt: skip
    options = parser.parse_args()
    try:
        settings = dict(cli.parse_settings(options.settings, "-s"))
        result = cli.run_job(options, DedupConfig.from_settings(settings), submitted=True)
    except DedupError as error:
        sys.exit(f"corpus: {error}")
    print(json.dumps(result._asdict(), indent=2))
    sys.exit(2 if result.is_doubtful else 0)
