"""Command lines that are read strictly, with one line that says what was probably meant."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

_OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")


class StrictParser(argparse.ArgumentParser):
    """A parser that takes neither abbreviations nor arguments that it does not know."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False, conflict_handler="resolve")

    def parse_strictly(self, arguments: Sequence[str], namespace: argparse.Namespace) -> None:
        """Read all `arguments` into `namespace`, or exit with code 2 and one line of error."""
        _, unknown = self.parse_known_args(arguments, namespace)
        if not unknown:
            return
        word = unknown[0].partition("=")[0]
        if not word.startswith("-"):
            self.error(f"there is no place for the argument {word!r}")
        options = dict.fromkeys(_OPTION.findall(self.format_help()))
        self.error(f"there is no option {word!r}; {closest(word, options)}")

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, without the usage that would hide it."""
        self.exit(2, f"{self.prog}: {message} (-h for help)\n")


def closest(word: str, known: Iterable[str]) -> str:
    """A hint at what a mistyped word was meant to be.

    >>> closest("stast", ["show", "stats"])
    'did you mean stats?'
    >>> closest("xyz", ["show", "stats"])
    'known: show, stats'
    """
    words = list(known)
    matches = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {matches[0]}?" if matches else f"known: {', '.join(words)}"
