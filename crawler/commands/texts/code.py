"""Prints the phonetic codes of words: words that sound alike have the same one.

DSound is the paper's own (docs/research/typos.md). Soundex and Double Metaphone need the extra
[typos]. Texts are corrected by such a code if DEDUP_CORRECT names it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from ..output import print_json, print_table
from ..subcommands import Exit

HELP = "The phonetic codes of words"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", nargs="+", metavar="WORD", help="a word without spaces")
    parser.add_argument("--json", action="store_true", help="print JSON: word to name to code")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print each word with its five codes."""
    from ...dedup.spelling.phonetics import CODES

    found = {word: {name: code(word) for name, code in CODES.items()} for word in options.word}
    if options.json:
        print_json(found)
    else:
        print_table(
            "", ["word", *CODES], [[word, *codes.values()] for word, codes in found.items()]
        )
    return Exit.FOUND if any(any(codes.values()) for codes in found.values()) else Exit.NOTHING
