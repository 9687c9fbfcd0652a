"""Finds the lines and words in which two texts differ."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# For more pairs of lines, the longest common subsequence would take more than some seconds.
_MOST_LINE_PAIRS: Final = 2_500_000_000
# Removed and added words, beyond which two texts are not compared word by word.
_MOST_CHANGED: Final = 1000
# Changes with fewer equal words between them read better as one.
_BRIDGE: Final = 2
_CONTEXT: Final = 4


class Overlap(NamedTuple):
    """The overlap of two collections, counted as in *Shingles* (lecture 17 of EECS 440, 2021).

    ``union`` is the sum of the numbers of elements of both, and ``intersection`` counts each
    common element twice. The ratio is Dice's coefficient, not Jaccard's.

    >>> Overlap(413, 358).similarity, Overlap(20, 14).similarity
    (0.86682..., 0.7)
    """

    union: int
    intersection: int

    @property
    def similarity(self) -> float:
        """The share that is common, 0 to 1; two empty collections are equal."""
        return self.intersection / self.union if self.union else 1.0


class WordChange(NamedTuple):
    """Words ``removed`` from the first text, words ``added`` in their place, and the context."""

    before: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    after: tuple[str, ...]


def line_overlap(a: str, b: str) -> Overlap | None:
    """The lines that two texts share in order, as ``diff`` finds them.

    ``union`` is the number of lines of both texts, and ``intersection`` is ``union`` minus the
    lines that a shortest ``diff`` lists. None for texts with too many lines to compare in seconds.

    >>> line_overlap("1\\n2\\n3\\n4", "1\\n2\\n4\\n5")
    Overlap(union=8, intersection=6)
    """
    lines_a, lines_b = _split_lines(a), _split_lines(b)
    union = len(lines_a) + len(lines_b)
    start, end_a, end_b = _trim_common_ends(lines_a, lines_b)
    equal = len(lines_a) - (end_a - start)
    # A line that only one text has is in no common subsequence.
    shared = set(lines_a[start:end_a]) & set(lines_b[start:end_b])
    numbers = {line: number for number, line in enumerate(shared)}
    ids_a = [numbers[line] for line in lines_a[start:end_a] if line in shared]
    ids_b = [numbers[line] for line in lines_b[start:end_b] if line in shared]
    if len(ids_a) * len(ids_b) > _MOST_LINE_PAIRS:
        return None
    return Overlap(union, 2 * (equal + _common_length(np.array(ids_a), np.array(ids_b))))


def _split_lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _trim_common_ends(a: Sequence[Hashable], b: Sequence[Hashable]) -> tuple[int, int, int]:
    """The place where two sequences begin to differ, and the end of the difference in each."""
    shorter = min(len(a), len(b))
    start = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if a[-1 - i] != b[-1 - i]), rest)
    return start, len(a) - end, len(b) - end


def _common_length(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """The length of the longest common subsequence, 64 places at a time.

    Source: H. Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004.
    """
    everywhere = (1 << a.size) - 1
    row = everywhere
    for value in b:
        places = np.packbits(a == value, bitorder="little").tobytes()
        matched = row & int.from_bytes(places, "little")
        row = ((row + matched) | (row - matched)) & everywhere
    return a.size - row.bit_count()


def word_changes(
    a: Sequence[str], b: Sequence[str], *, whole: tuple[bool, bool] = (True, True)
) -> list[WordChange] | None:
    """The fewest changes that turn words *a* into words *b*, in their order.

    None for texts that differ in more than 1,000 words, because such a list would be of no use. A
    text that is not *whole* is the beginning of a longer one: words of the other text beyond its
    end are not changes.

    Source: E. W. Myers, "An O(ND) difference algorithm and its variations", 1986.

    >>> word_changes("in a hole there lived a hobbit".split(), "in a hole was a hobbit".split())
    [WordChange(before=('in', 'a', 'hole'), removed=('there', 'lived'), added=('was',),
                after=('a', 'hobbit'))]
    >>> word_changes(["in", "a"], ["in", "a", "hole"], whole=(False, True))
    []
    """
    start, end_a, end_b = _trim_common_ends(a, b)
    if not all(whole):  # equal ends may lie beyond the end of the other text
        end_a, end_b = len(a), len(b)
    steps = _shortest_edit(a[start:end_a], b[start:end_b], whole)
    if steps is None:
        return None
    spans: list[list[int]] = []  # from and to in a, from and to in b
    for x, y, adds in steps:
        if not spans or x + start - spans[-1][1] >= _BRIDGE:
            spans.append([x + start, x + start, y + start, y + start])
        spans[-1][1] = x + start + (not adds)
        spans[-1][3] = y + start + adds
    if spans:
        _complete_last_words(spans[-1], a, b, whole)
    return [
        WordChange(
            tuple(a[max(0, a_from - _CONTEXT) : a_from]),
            tuple(a[a_from:a_to]),
            tuple(b[b_from:b_to]),
            tuple(a[a_to : a_to + _CONTEXT]),
        )
        for a_from, a_to, b_from, b_to in spans
    ]


def _complete_last_words(
    last: list[int], a: Sequence[str], b: Sequence[str], whole: tuple[bool, bool]
) -> None:
    """Extend the last change, at the end of a cut text, by the other text's words in that place."""
    a_from, a_to, b_from, b_to = last
    if not whole[0] and a_to == len(a):
        last[3] = max(b_to, min(b_from + a_to - a_from, len(b)))
    elif not whole[1] and b_to == len(b):
        last[1] = max(a_to, min(a_from + b_to - b_from, len(a)))


def _shortest_edit(
    a: Sequence[str], b: Sequence[str], whole: tuple[bool, bool]
) -> list[tuple[int, int, bool]] | None:
    """The steps of a shortest edit: place in a, place in b, and whether a word of b is added.

    Otherwise, a word of a is removed. The steps end where a text ends that is not whole.
    """
    furthest = {1: 0}  # diagonal x - y → the furthest x that can be reached in `steps`
    history = []
    for steps in range(min(_MOST_CHANGED, len(a) + len(b)) + 1):
        history.append(furthest.copy())
        for diagonal in range(-steps, steps + 1, 2):
            x = _position_after(furthest, diagonal, _adds_word(furthest, diagonal, steps))
            y = x - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            at_end = x >= len(a) and y >= len(b)
            at_end |= not whole[0] and x >= len(a) and y <= len(b)
            at_end |= not whole[1] and y >= len(b) and x <= len(a)
            if at_end:
                return _trace_steps(history, x, y)
    return None


def _adds_word(furthest: dict[int, int], diagonal: int, steps: int) -> bool:
    """Whether the step that gets furthest on a diagonal adds a word of b."""
    if abs(diagonal) == steps:
        return diagonal == -steps
    return furthest[diagonal - 1] < furthest[diagonal + 1]


def _position_after(furthest: dict[int, int], diagonal: int, adds: bool) -> int:
    return furthest[diagonal + 1] if adds else furthest[diagonal - 1] + 1


def _trace_steps(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int, bool]]:
    """The steps that led to (x, y), traced back through the history of furthest places."""
    way = []
    for steps in range(len(history) - 1, 0, -1):
        diagonal = x - y
        adds = _adds_word(history[steps], diagonal, steps)
        diagonal += 1 if adds else -1
        x = history[steps][diagonal]
        y = x - diagonal
        way.append((x, y, adds))
    return way[::-1]
