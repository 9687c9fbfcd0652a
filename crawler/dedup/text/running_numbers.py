"""Numbers and times that run in order through a text: of raised notes, verses, transcripts."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from .segmentation import UNSPACED_LETTER

if TYPE_CHECKING:
    from collections.abc import Iterator

# Ends of a sentence or clause: a number that follows at once can only be a mark.
END: Final = '.,;:!?…”’"»)。，、；：！？」』）।؟،۔]］】'
SUPERSCRIPTS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_NUMBER: Final = re.compile(rf"\d{{1,3}}(?=\s|$)|[{SUPERSCRIPTS}]{{1,3}}(?![^\W_])")
# What an exponent follows: a letter that is a word, or a short number.
_BASE: Final = re.compile(r"(?:(?<![^\W_])|^)(?:[^\W\d_]|\d{1,2})$")
_DIGITS: Final = str.maketrans(SUPERSCRIPTS, "0123456789")
# Verse numbers at the start of a line, perhaps after a chapter, and after a clause. Numbers of list
# items, which a point or bracket follows, are kept.
_AT_LINE: Final = re.compile(r"(?:\d{1,3}[:.])?(\d{1,3})(?:[^\S\n]{1,8}(?=\S)|(?=[^\W\d_]{2}))")
_IN_LINE: Final = re.compile(r"(?:\d{1,3}:)?(\d{1,3})(?:\s{1,2}(?=[^\W\d_]|[“\"])|(?=[^\W\d_]{2}))")
_MOST_NUMBERED: Final = 199  # verses of a psalm, and no year
# What a number counts: the letter beside it, or one of a script without spaces, as 月, else a word.
_COUNTED: Final = re.compile(rf"[{UNSPACED_LETTER}]|(?<=\d)[^\W\d_]|\w+|\S")
# With a capital, as the beginning of a verse: months in English, German, Greek and others.
_MONTH: Final = re.compile(
    "jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|"
    "ιαν|φεβ|μαρ|απρ|μαΐ|ιου|αυγ|σεπ|οκτ|νοε|δεκ",
    re.IGNORECASE,
)
_TIME: Final = (
    r"(?:(\d{1,2}):)?(\d{1,2}):(\d{2})(?:[.,]\d{1,3})?"
    r"(?:\s?-->\s?[\d:.,]{4,15}(?:[^\S\n][^\n]{0,60})?)?[\])]?"
)
_STAMP: Final = re.compile(rf"{_TIME}(?=\s|$)")
# Two patterns: each begins with one character, which is found fast.
BRACKETED_STAMPS: Final = (
    re.compile(r"\((?:(\d{1,2}):)?(\d{1,2}):(\d{2})\)"),
    re.compile(r"\[(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\]"),
)
_CUE: Final = re.compile(r"^\d{1,5}\s{0,3}\n(?=\d{1,2}:\d\d:\d\d[.,]\d{3}\s-->)", re.MULTILINE)
FEWEST: Final = 3  # so many numbers in order are no chance
_SHARE: Final = 0.6  # of the numbers at places of verse numbers that must be in order
FEWEST_STAMPS: Final = 4
_FEWEST_LATE_STAMPS: Final = 6  # of a recording that does not begin at zero
_FALLS: Final = 0.1  # of the steps may go back, because times are misread
_LETTERS_AT_STAMP: Final = 25  # for each time of a transcript; timetables have less text


def find_raised_numbers(text: str, ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of raised note numbers that run through the text in order."""
    found = []
    stop = -1
    exponents = 0
    for start in ends:
        one = _RAISED_NUMBER.match(text, start) if start >= stop else None
        if one is not None:
            stop = one.end()
            # A number that is not raised follows a word and its full stop, without a space.
            raised = text[start] in SUPERSCRIPTS
            if raised or (text[start - 1] in END and text[max(0, start - 2)].isalpha()):
                found.append((int(one[0].translate(_DIGITS)), start, stop))
                exponents += raised and _BASE.search(text[max(0, start - 3) : start]) is not None
    if 2 * exponents > len(found):  # of a polynomial, of powers of ten
        return
    for at in _longest_run([number for number, _, _ in found]):
        yield found[at][1:]


def find_verse_numbers(text: str, lines: list[int], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers that begin lines or verses and run through the text in order."""
    in_line = sorted({*lines, *ends})
    for pattern, places, fewest in ((_AT_LINE, lines, FEWEST), (_IN_LINE, in_line, FEWEST + 1)):
        matches: list[tuple[int, re.Match[str]]] = []
        for at in places:
            one = pattern.match(text, at)
            if one and not (matches and at < matches[-1][1].end()):  # the verse of a chapter
                matches.append((at, one))
        found = [
            (int(one[1]), at - (text[at - 1 : at] == "("), one.end())
            for at, one in matches
            if one[1].isdecimal() and 0 < int(one[1]) <= _MOST_NUMBERED
        ]
        numbers = [number for number, _, _ in found]
        chain = _longest_run(numbers, fewest)
        restarted = _find_runs(numbers, fewest)
        if len(restarted) > len(chain):
            chain = restarted
        if len(chain) >= _SHARE * len(found) and not _are_counts(text, [found[at] for at in chain]):
            for at in chain:
                yield found[at][1:]


def _are_counts(text: str, numbers: list[tuple[int, int, int]]) -> bool:
    """Whether the same follows all numbers, as in dates: 1 мая, 2 мая, 3 мая."""
    counted = {(found := _COUNTED.match(text, stop)) and found[0] for _, _, stop in numbers}
    word = counted.pop() if len(counted) == 1 else None
    return word is not None and (not word[0].isupper() or _MONTH.match(word) is not None)


def _longest_run(numbers: list[int], fewest: int = FEWEST) -> list[int]:
    """The places in *numbers* of the longest run n, n + 1, n + 2, …; none if it is short.

    >>> _longest_run([7, 1, 2, 40, 3])
    [1, 2, 4]
    """
    length: dict[int, int] = {}
    before: list[int | None] = []
    latest: dict[int, int] = {}
    best = -1
    for at, number in enumerate(numbers):
        grown = length.get(number - 1, 0) + 1
        before.append(latest.get(number - 1))
        if grown >= length.get(number, 0):
            length[number], latest[number] = grown, at
            if best < 0 or grown > length[numbers[best]]:
                best = at
    chain: list[int] = []
    step: int | None = best if best >= 0 else None
    while step is not None:
        chain.append(step)
        step = before[step]
    return chain[::-1] if len(chain) >= fewest else []


def _find_runs(numbers: list[int], fewest: int) -> list[int]:
    """The places in *numbers* of runs that begin at 1, like the verses of chapters.

    >>> _find_runs([1, 2, 3, 4, 1, 2, 9, 1, 2, 3, 4], 4)
    [0, 1, 2, 3, 7, 8, 9, 10]
    """
    runs: list[list[int]] = []
    for at, number in enumerate(numbers):
        if number == 1:
            runs.append([at])
        elif runs and runs[-1][-1] == at - 1 and numbers[at - 1] == number - 1:
            runs[-1].append(at)
    return [at for run in runs if len(run) >= fewest for at in run]


def find_time_stamps(text: str, lines: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of times that begin the lines of a transcript, and of its cue numbers."""
    found = [one for at in lines if (one := _STAMP.match(text, at))]
    stamps = list(find_transcribed(text, found))
    yield from stamps
    if stamps:
        yield from (one.span() for one in _CUE.finditer(text))


def find_transcribed(text: str, found: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of times if they rise and have much text between them, as in a transcript."""
    if len(found) < FEWEST_STAMPS:
        return
    times = [int(one[1] or 0) * 3600 + int(one[2]) * 60 + int(one[3]) for one in found]
    written = len(text) - sum(one.end() - one.start() for one in found)
    is_early = times[0] <= 60 and any(time % 300 for time in times)
    # Most times of a timetable, read as minutes and seconds, are multiples of five.
    is_uneven = len(times) >= _FEWEST_LATE_STAMPS and (
        sum(time % 5 == 0 for time in times) < len(times) / 2
    )
    if (
        (is_early or is_uneven)
        and sum(a > b for a, b in pairwise(times)) <= _FALLS * len(times)
        and written >= _LETTERS_AT_STAMP * len(found)
    ):
        yield from (one.span() for one in found)
