"""Strict command lines, with suggestions for misspelt words."""

from __future__ import annotations

import argparse
import difflib
import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

_LISTED = 40  # words that an error lists
_OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")


class StrictParser(argparse.ArgumentParser):
    """A parser that accepts neither abbreviations nor unknown arguments."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, allow_abbrev=False, conflict_handler="resolve")

    def parse_strictly(self, arguments: Sequence[str], namespace: argparse.Namespace) -> None:
        """Read all `arguments` into `namespace`, or exit with code 2 and a one-line error."""
        _, unknown = self.parse_known_args(arguments, namespace)
        if not unknown:
            return
        word = unknown[0].partition("=")[0]
        if not word.startswith("-"):
            self.error(f"there is no place for the argument {word!r}")
        options = dict.fromkeys(_OPTION.findall(self.format_help()))
        self.error(f"there is no option {word!r}; {suggest_word(word, options)}")

    def error(self, message: str) -> NoReturn:
        """Print the error without the usage, which would hide it."""
        self.exit(2, f"{self.prog}: {message} (-h for help)\n")


def make_number_type(
    low: float, high: float = math.inf, *, above: bool = False
) -> Callable[[str], float]:
    """A type of arguments: numbers from `low`, or `above` it, up to `high`.

    >>> make_number_type(0, 1)("0.8")
    0.8
    """

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not (low < value <= high or (value == low and not above)) or math.isinf(value):
            bounds = f"above {low:g}" if above else f"from {low:g}"
            if high == math.inf:
                bounds += " on"
            else:
                bounds += f" and up to {high:g}" if above else f" to {high:g}"
            raise argparse.ArgumentTypeError(f"expects a number {bounds}, not {text!r}")
        return value

    return parse


def add_threshold(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add ``--threshold``, by default that of the project; `meaning` is for the help."""
    parser.add_argument(
        "--threshold",
        type=make_number_type(0, 1, above=True),
        help=f"{meaning} (default: DEDUP_THRESHOLD)",
    )


def make_integer_type(low: int, high: int) -> Callable[[str], int]:
    """A type of arguments: whole numbers from `low` to `high`."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                f"expects a whole number from {low} to {high}, not {text!r}"
            )
        return int(text)

    return parse


def one_of(words: Sequence[str]) -> Callable[[str], str]:
    """A type of arguments: one of these words.

    >>> one_of(["near", "exact"])("near")
    'near'
    """

    def parse(text: str) -> str:
        if text not in words:
            raise argparse.ArgumentTypeError(f"there is no {text!r}; {suggest_word(text, words)}")
        return text

    return parse


def output_file(text: str) -> Path:
    """A type of arguments: a file to write, which ``-`` is not."""
    if text == "-":
        raise argparse.ArgumentTypeError("expects a file, not '-' (./- is a file of that name)")
    return Path(text)


def parse_span(text: str) -> tuple[float, float]:
    """A type of arguments: a similarity, or two with a hyphen between.

    >>> parse_span(".80-.85"), parse_span("0.9")
    ((0.8, 0.85), (0.9, 1.0))
    """
    first, hyphen, last = text.partition("-")
    low, high = make_number_type(0, 1)(first), make_number_type(0, 1)(last) if hyphen else 1.0
    if low > high:
        raise argparse.ArgumentTypeError(f"expects the lower similarity first, not {text!r}")
    return low, high


def suggest_word(word: str, known: Iterable[str]) -> str:
    """A suggestion for a misspelt word.

    >>> suggest_word("stast", ["show", "stats"])
    'did you mean stats?'
    >>> suggest_word("xyz", ["show", "stats"])
    'known: show, stats'
    """
    words = list(known)
    matches = difflib.get_close_matches(word, words, n=1)
    if matches:
        return f"did you mean {matches[0]}?"
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return f"known: {', '.join(words[:_LISTED])}{more}"
