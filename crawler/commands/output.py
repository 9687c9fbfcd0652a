"""Results on standard output: tables for people, tabs for pipes, JSON for programs."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from ..wording import similarity_in_words

if TYPE_CHECKING:
    from collections.abc import Set

    from rich.console import Console, ConsoleOptions
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

_SHORT = 12  # characters: numbers, dates and kinds
_ROOM = 20  # characters for each column of URLs or sentences, if the terminal is wide enough
_LEAST = 5  # characters for each of them; in a narrower terminal all columns are broken
_PROGRESS = 5.0  # seconds between lines of progress
# Invisible characters that join or separate letters in Persian, Hindi or Sinhala, and words in
# Khmer.
_LETTER = r"[^\x00-\x7f\u2000-\u206f]"
_WITHIN_WORDS = re.compile(rf"(?<={_LETTER})([\u200b-\u200d])(?={_LETTER})")


def print_notice(text: str) -> None:
    """Print a message on standard error, apart from the result.

    If nobody reads it there, neither the result nor the exit code is another.
    """
    if sys.stderr is not None:  # closed: print would take standard output instead
        with suppress(OSError):
            print(f"scrapy dedup: {make_printable(text)}", file=sys.stderr)


def is_terminal() -> bool:
    """Whether the output is a terminal."""
    return sys.stdout.isatty()


def print_json(value: Any) -> None:
    """Print `value` as JSON in ASCII, so that nothing in it acts on a terminal."""
    print(json.dumps(value, indent=2))


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows: a table in a terminal; in a pipe tab-separated lines, column names first.

    None is shown as a dash. Control characters in URLs are escaped.
    """
    if not is_terminal():
        print(*("\t".join(line) for line in [columns, *_format_cells(rows)]), sep="\n", end="\n\n")
        return
    make_terminal().print(make_table(title, columns, rows))


def make_terminal(*, highlight: bool = True) -> Console:
    """Standard output as a terminal."""
    from rich.console import Console

    from ..terminal import measure_width

    return measure_width(Console(highlight=highlight))


class Bar:
    """A bar in a table: it shows `value` of `most`, in `longest` columns or fewer.

    >>> str(Bar(3, 10, 5))
    '██'
    """

    def __init__(self, value: int, most: int, longest: int) -> None:
        self._value, self._most, self._longest = value, most, longest

    def __str__(self) -> str:
        return self._draw_bar(self._longest)

    def _draw_bar(self, columns: int) -> str:
        return "█" * -(-self._value * columns // self._most)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        from rich.measure import Measurement

        return Measurement(1, self._longest)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        from rich.text import Text

        yield Text(self._draw_bar(min(self._longest, options.max_width)))


def make_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """The table that :func:`print_table` prints in a terminal."""
    from rich.table import Table
    from rich.text import Text

    lines = _format_cells(rows)
    bars = {i for row in rows for i, value in enumerate(row) if isinstance(value, Bar)}
    layout = _lay_out(columns, lines, bars, get_terminal_size().columns)
    table = Table(
        title=title or None, title_justify="left", title_style="bold", padding=(0, layout.padding)
    )
    for i, name in enumerate(layout.headers):
        is_number = all(isinstance(row[i], (int, float, type(None))) for row in rows)
        table.add_column(
            name,
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=layout.is_unbroken[i],
        )
    for row, line in zip(rows, lines, strict=True):
        cells = zip(row, line, strict=True)  # Text: brackets are not markup
        table.add_row(*(one if isinstance(one, Bar) else Text(cell) for one, cell in cells))
    return table


class _Layout(NamedTuple):
    """Headers, which columns are not to be broken, and the spaces on both sides of each."""

    headers: list[str]
    is_unbroken: list[bool]
    padding: int


def _lay_out(
    columns: Sequence[str], lines: Sequence[Sequence[str]], bars: Set[int], width: int
) -> _Layout:
    """Lay out columns in `width`: short cells stay in one line, URLs and sentences fold.

    If that leaves little room to folded columns, columns stand closer and their headers are broken
    between words. `bars` are columns that take any room.
    """
    from rich.cells import cell_len

    widths = [max((cell_len(line[i]) for line in lines), default=0) for i in range(len(columns))]
    is_short = [widest <= _SHORT for widest in widths]
    folded = sum(not short for short in is_short) - len(bars)

    def room_left(headers: Sequence[str], padding: int) -> int:
        taken = sum(
            max(widest, *map(cell_len, header.split("\n")))
            for header, widest, short in zip(headers, widths, is_short, strict=True)
            if short
        )
        return width - taken - len(headers) * (2 * padding + 1) - 1

    if room_left(columns, 1) >= _ROOM * folded:
        return _Layout(list(columns), is_short, 1)
    headers = [
        name.replace(" ", "\n") if short else name
        for name, short in zip(columns, is_short, strict=True)
    ]
    if room_left(headers, 0) < _LEAST * folded:
        return _Layout(headers, [False] * len(headers), 0)
    return _Layout(headers, is_short, 0)


def _format_cells(rows: Sequence[Sequence[Any]]) -> list[list[str]]:
    return [["–" if value is None else make_printable(str(value)) for value in row] for row in rows]


def make_printable(text: str) -> str:
    r"""Text without characters that act on a terminal or change the direction of other text.

    >>> make_printable("a\x1b[31m\u202eb")
    'a\\x1b[31m\\u202eb'
    >>> make_printable("می\u200cخواهم") == "می\u200cخواهم"  # a letter has another form there
    True
    """
    if text.isprintable():
        return text
    parts = _WITHIN_WORDS.split(text)  # every second part is a separator
    parts[::2] = ("".join(c if c.isprintable() else repr(c)[1:-1] for c in p) for p in parts[::2])
    return "".join(parts)


def format_similarity(value: float | None) -> str | None:
    """A similarity as tables show it; None gives the dash for unknown values.

    >>> format_similarity(0.79998)
    '0.7999'
    """
    return None if value is None else similarity_in_words(value)


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file for writing, which gets its name when it is complete.

    Devices and pipes are written directly. Raises :class:`InputError` if the file cannot be
    written; an existing file then stays.
    """
    from ..dedup.errors import InputError

    real = Path(os.path.realpath(path))
    is_special = path.exists() and not path.is_file()
    new = path if is_special else real.parent / f"{real.name}.{os.getpid()}"
    try:
        with new.open("w", encoding="utf-8") as file:
            yield file
        if not is_special:
            new.replace(real)
    except BaseException as error:  # Ctrl-C, too, leaves nothing behind
        if not is_special:
            with suppress(OSError):
                new.unlink()
        if not isinstance(error, (OSError, ValueError)):
            raise
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot write {str(path)!r}: {reason}") from None


def now_and_then() -> Callable[[str], None]:
    """Prints messages on standard error, at most one every few seconds."""
    from time import monotonic

    last = monotonic()

    def say(text: str) -> None:
        nonlocal last
        if monotonic() - last > _PROGRESS:
            last = monotonic()
            print_notice(text)

    return say


def progress_reporter() -> Callable[[int, int], None]:
    """Reports on standard error, every few seconds, how many of how many pages were read."""
    say = now_and_then()
    return lambda done, total: say(f"{done:,} of {total:,} pages read")
