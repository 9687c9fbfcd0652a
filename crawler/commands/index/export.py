"""Writes the index to a file, from which `import` makes it again on any server or cluster.

The file holds the pages and the decisions about them, as compressed JSON lines with checksums. It
holds no texts. It gets its name when it is complete. If the command is killed, start it again, and
it resumes. The index must not change meanwhile: stop its crawls first.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...wording import counted
from ..output import print_json, progress_reporter
from ..strict_arguments import output_file
from ..subcommands import Exit, ask_index, nothing_found, nothing_yet

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Write the index to a file"

_PLAIN = (".json", ".jsonl", ".jl", ".txt")  # endings by which programs do not expect gzip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=_parse_file, metavar="FILE", help="a new file, such as index.jsonl.gz"
    )
    parser.add_argument("--json", action="store_true", help="print JSON: the pages written")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Write the file."""
    from ...dedup.export.transfer import export_index

    async def export(index: DuplicateIndex) -> int | None:
        if not (await index.store.read_counters())[
            "params"
        ]:  # there is no index, and its file could not be imported
            return None
        return await export_index(index, options.file, progress=progress_reporter())

    pages = ask_index(settings, export)
    if pages is None:
        return nothing_yet(settings)
    if options.json:
        print_json({"file": str(options.file), "pages": pages})
    else:
        print(f"{counted(pages, 'page is', 'pages are')} in {options.file}.")
    return Exit.FOUND if pages else nothing_found(settings, "the index holds no pages")


def _parse_file(text: str) -> Path:
    path = output_file(text)
    if path.suffix in _PLAIN:
        raise argparse.ArgumentTypeError(
            f"expects a name that says that the file is compressed, as '{text}.gz', not {text!r}"
        )
    return path
