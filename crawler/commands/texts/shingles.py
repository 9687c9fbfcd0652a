"""Lists the shingles of a text: their hashes, smallest first, and their words or characters.

A text is compared by these numbers. FILE is a text or HTML file, whose main text is taken, `-` for
standard input, or an http(s) URL. The main text of a URL comes from the archive (DEDUP_ARCHIVE), or
is fetched now (at most 50 MB, 30 seconds). Words are normalised by DEDUP_IGNORE. Without --size a
shingle has 25 characters or 5 words.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..output import print_json, print_table
from ..strict_arguments import make_integer_type
from ..subcommands import Exit, explain_nothing

HELP = "The smallest shingles of a text and their hashes"

_SIZES = {"char": 25, "word": 5}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE|URL", help="the document")
    parser.add_argument("--unit", choices=list(_SIZES), default="char", help="(default: char)")
    parser.add_argument(
        "--size", type=make_integer_type(1, 10_000), metavar="N", help="units in a shingle"
    )
    parser.add_argument(
        "--step",
        type=make_integer_type(1, 10_000),
        metavar="N",
        default=1,
        help="units from one shingle to the next (default: 1)",
    )
    group = parser.add_mutually_exclusive_group()
    group.add_argument(
        "--smallest",
        type=make_integer_type(1, 10**9),
        metavar="N",
        default=10,
        help="number of shingles to list (default: 10)",
    )
    group.add_argument("--all", action="store_true", help="list all")
    parser.add_argument(
        "--repeats", action="store_true", help="list a shingle each time that it occurs"
    )
    parser.add_argument("--raw", action="store_true", help="take HTML as text, with its tags")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the shingles."""
    from dataclasses import asdict

    from ...dedup.analysis.comparison import smallest_shingles
    from ...dedup.fingerprint import make_sketcher
    from ...dedup.sketches.shingles import Shingler
    from ...project import project_config
    from ..documents import find_document

    config = project_config(settings)
    normaliser = make_sketcher(config, 0).shingler.normaliser
    size = options.size or _SIZES[options.unit]
    shingler = Shingler(options.unit, size, options.step, normaliser=normaliser)
    text = find_document(
        options.file, config, raw=options.raw, user_agent=settings["USER_AGENT"]
    ).text
    count = None if options.all else options.smallest
    found = smallest_shingles(text, shingler, count, repeats=options.repeats)
    if options.json:
        print_json([asdict(one) for one in found])
    else:
        # As text, because a program that reads tables as numbers would round 64-bit hashes.
        print_table("", ["hash", "shingle"], [[str(one.hash), one.text] for one in found])
    return Exit.FOUND if found else explain_nothing(f"there are no words in {options.file!r}")
