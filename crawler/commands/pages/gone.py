"""Reports pages as gone from the web, as a crawl does for answers 404 and 410.

A page that is gone stands for its copies until one of them, or a new copy, is checked and takes its
place. A page that is fetched again is no longer gone.
"""

from __future__ import annotations

import argparse
from asyncio import gather
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_notice, print_table
from ..subcommands import Exit, ask_index, describe_unseen

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Report pages as gone from the web"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="*", metavar="URL", help="URL of a page, as crawled")
    parser.add_argument(
        "--file",
        metavar="FILE",
        help="URLs, one a line, - for standard input; empty lines and those that begin with # "
        "are skipped",
    )
    parser.add_argument("--json", action="store_true", help="print JSON: URL to true or false")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Note the pages, in order; exit code 1 if one of them could not be noted."""
    from ...dedup.errors import InputError

    urls = [*options.url, *(_read_lines(options.file) if options.file else ())]
    if not urls:
        raise InputError("name pages that are gone, or a --file with their URLs")

    async def note(index: DuplicateIndex) -> tuple[dict[str, bool], set[str]]:
        different = list(dict.fromkeys(urls))
        noted = dict(zip(different, await gather(*map(index.gone, different)), strict=True))
        return noted, {
            url for url, is_noted in noted.items() if not is_noted and await index.show(url)
        }

    noted, later = ask_index(settings, note)
    if options.json:
        print_json(noted)
    else:
        said = {url: "seen later" if url in later else "not known" for url in noted}
        rows = [[url, "gone" if is_noted else said[url]] for url, is_noted in noted.items()]
        print_table("", ["page", "result"], rows)
    missed = [url for url, is_noted in noted.items() if not is_noted]
    for url in missed:
        later_seen = f"{url!r} was seen at a later time than this machine's clock shows"
        print_notice(later_seen if url in later else describe_unseen(url))
    return Exit.NOTHING if missed else Exit.FOUND


def _read_lines(source: str) -> Iterator[str]:
    """The URLs in a file; empty lines and comments are skipped."""
    from ..documents import read_document

    text = read_document(source, raw=True)
    lines = map(str.strip, text.split("\n"))
    return (line for line in lines if line and not line.startswith("#"))
