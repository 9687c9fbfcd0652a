"""Removes pages from the index, so that they are decided again when they are next seen.

The copies of a forgotten page stay dropped until they are next seen. The first of them is then
kept.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_notice, print_table
from ..subcommands import Exit, ask_index, describe_unseen

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Remove pages from the index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="+", metavar="URL", help="URL of a page, as crawled")
    parser.add_argument("--json", action="store_true", help="print JSON: URL to true or false")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Forget the pages, in order; exit code 1 if one was not there."""
    from ...dedup.archive.database import archive_path, forget_page
    from ...project import project_config

    async def forget(index: DuplicateIndex) -> tuple[dict[str, bool], Path]:
        urls = list(dict.fromkeys(options.url))
        known = dict(zip(urls, await asyncio.gather(*map(index.forget, urls)), strict=True))
        return known, archive_path(config, index.digest)

    config = project_config(settings)
    known, path = ask_index(settings, forget)
    try:
        for url in known:
            forget_page(path, url, canonical=config.canonical_urls)
    finally:  # the index has forgotten them, whatever becomes of the texts
        if options.json:
            print_json(known)
        else:
            rows = [
                [url, "forgotten" if was_there else "not known"] for url, was_there in known.items()
            ]
            print_table("", ["page", "result"], rows)
    unknown = [url for url, was_there in known.items() if not was_there]
    for url in unknown:
        print_notice(describe_unseen(url))
    return Exit.NOTHING if unknown else Exit.FOUND
