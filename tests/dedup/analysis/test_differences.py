"""Lines and words that differ: as diff finds them, and within bounds."""

from __future__ import annotations

import difflib
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.analysis.differences import Overlap, line_overlap, word_changes

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_the_lectures_diff():
    """Files of 188 and 225 lines of which diff lists 55 are 86.682809 % alike."""
    common = [f"common {i}" for i in range(179)]
    a = [*common[:90], *(f"only a {i}" for i in range(9)), *common[90:]]
    b = [*common[:20], *(f"only b {i}" for i in range(46)), *common[20:]]
    assert (len(a), len(b)) == (188, 225)
    found = line_overlap("\n".join(a), "\n".join(b))
    assert found == Overlap(413, 358)
    assert found.similarity * 100 == pytest.approx(86.682809, abs=5e-7)


@pytest.mark.parametrize(
    ("union", "intersection", "printed"),
    [(20, 14, 70), (475, 96, 20.210526), (2, 2, 100), (100, 22, 22), (260, 33, 12.692308)],
)
def test_the_lectures_figures(union, intersection, printed):
    """Every similarity that the lecture prints is the ratio of the two numbers above it."""
    assert Overlap(union, intersection).similarity * 100 == pytest.approx(printed, abs=5e-7)


@given(WORDS, WORDS)
def test_lines_in_common_are_a_longest_common_subsequence(a, b):
    """The bits agree with the textbook's table, whatever stands in the lines."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else longer
    found = line_overlap("\n".join([*a, ""]), "\n".join([*b, ""]))
    assert found == Overlap(len(a) + len(b), 2 * table[-1][-1])


def applied(a, changes):
    """Words a with changes made, each found by what stands around it."""
    result, place = [], 0
    for change in changes:
        pattern = [*change.before, *change.removed]
        while a[place : place + len(pattern)] != pattern or (
            tuple(a[place + len(pattern) : place + len(pattern) + len(change.after)])
            != change.after
        ):
            result.append(a[place])
            place += 1
        result += [*change.before, *change.added]
        place += len(pattern)
    return result + a[place:]


def test_changes_turn_one_text_into_the_other():
    """What is said to be removed and added does it, in texts of distinct words."""
    rng = random.Random(1)
    for _ in range(50):
        a = [f"w{i}" for i in range(60)]
        b = list(a)
        for place in sorted(rng.sample(range(3, 55, 13), 3), reverse=True):
            b[place : place + rng.randrange(3)] = [f"new{i}" for i in range(rng.randrange(3))]
        assert applied(a, word_changes(a, b)) == b


@given(WORDS, WORDS)
def test_no_shorter_edit(a, b):
    """Words kept between changes are no fewer than difflib keeps, and equal texts have none."""
    changes = word_changes(a, b)
    assert (changes == []) == (a == b)
    removed = sum(len(change.removed) for change in changes)
    added = sum(len(change.added) for change in changes)
    assert len(a) - removed == len(b) - added
    matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    bridged = len(changes and a) - removed  # words between near changes count as changed
    assert bridged + removed + added >= len(a) - kept


@given(WORDS, st.integers(0, 40))
def test_a_beginning_differs_in_nothing(words, size):
    """What stands behind the end of a text that was cut is no change, whichever is cut."""
    beginning = words[:size]
    assert word_changes(beginning, words, whole=(False, True)) == []
    assert word_changes(words, beginning, whole=(True, False)) == []
    assert word_changes(beginning, words, whole=(False, False)) == []


def test_words_that_come_again_behind_the_end():
    """A change before the end of a text that was cut is told, and no other, however both end."""
    cut = ["the", "quick", "fox", "and", "the"]
    longer = ["the", "slow", "fox", "and", "the", "dog", "and", "the", *map(str, range(5000))]
    for sides in (1, -1):
        [change] = word_changes(*(cut, longer)[::sides], whole=(False, True)[::sides])
        assert (change.removed, change.added) == (("quick",), ("slow",))[::sides]


def test_hostile_sizes_end_in_seconds():
    """Texts without end in common cost seconds at most and are then not told apart."""
    rng = random.Random(1)
    a, b = (rng.choices("012345678", k=300_000) for _ in range(2))
    start = time.process_time()
    assert word_changes(a, b) is None
    assert line_overlap("\n".join(a), "\n".join(b)) is None
    assert line_overlap("\n".join(a[:40_000]), "\n".join(b[:40_000])).similarity > 0.4
    assert line_overlap("\n" * 10_000_000, "\n" * 9_000_000).intersection == 18_000_000
    assert time.process_time() - start < 30


def test_empty_texts():
    """A text without lines is all different, two of them are equal."""
    assert line_overlap("", "").similarity == 1
    assert line_overlap("", "a\nb") == Overlap(2, 0)
    assert word_changes([], []) == []
    assert word_changes([], ["a"])[0].added == ("a",)
