"""What a page tells of its site's template, and what that cuts."""

from __future__ import annotations

from collections import Counter
from itertools import compress, pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.chrome import block_hash
from crawler.chrome.template import pairs

TEXTS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=40),
        st.sampled_from(["a", "A", "7", "a 1", "a 2", "Ä 1", "ä 1", "\ud800", "x" * 300]),
    ),
    max_size=20,
)
BLOCKS = st.lists(
    # What a block says, whether the page alone keeps it, its characters, and those in links.
    st.tuples(st.integers(0, 4), st.booleans(), st.integers(1, 600), st.integers(0, 300)),
    min_size=1,
    max_size=20,
)


def said(blocks: list[tuple[int, bool, int, int]], numbers: bool) -> list[str]:
    """Blocks of one character, the last of them of many."""
    texts = "01234" if numbers else "abcde"
    return [texts[what] * (pairs.PROSE if what == len(texts) - 1 else 1) for what, *_ in blocks]


@settings(deadline=None)
@given(texts=TEXTS)
def test_hashes_of_pairs(texts: list[str]) -> None:
    """For any text; one list where there are no digits. Long ones have a hash of their own."""
    found = pairs.pair_hashes(texts)
    sizes = [len(text.encode("utf-8", "replace")) for text in texts]
    assert list(found.long) == [i for i, size in enumerate(sizes) if size >= pairs.PROSE]
    has_digits = any(digit in text for text in texts for digit in "0123456789")
    assert (found.same is found.alike) == (not has_digits)
    hashes = [pairs.EDGE, *map(block_hash, texts), pairs.EDGE]
    assert len(found.alike) == len(texts) + 1
    for alike, one, other in zip(found.alike, hashes, hashes[1:], strict=False):
        assert alike == (one * 3 + other) % (1 << 64) >> 16 & 0xFFFFFFFF


@settings(deadline=None)
@given(blocks=BLOCKS, numbers=st.booleans())
def test_lessons(blocks: list[tuple[int, bool, int, int]], numbers: bool) -> None:
    """Beside a kept block with its numbers, once or twice; elsewhere with them and without."""
    found = pairs.pair_hashes(said(blocks, numbers))
    alone = [block[1] for block in blocks]
    beside = [one or other for one, other in pairwise([False, *alone, False])]
    times = Counter(compress(found.same, beside))
    elsewhere = [block[3] > 150 and not block[1] for block in blocks]
    skipped = [one or other for one, other in pairwise([False, *elsewhere, False])]
    rest = [not any(of) for of in zip(beside, skipped, strict=True)]
    cut = {*compress(found.alike, rest), *compress(found.same, rest)}
    wanted = dict.fromkeys(cut - {pair for pair in times if times[pair] > pairs.ROWS}, False)
    wanted |= {pair: True for pair in times if times[pair] <= pairs.ROWS}
    longs = {number: pair for number, pair in found.long.items() if not elsewhere[number]}
    wanted |= dict.fromkeys(longs.values(), False)
    wanted |= {pair: True for number, pair in longs.items() if alone[number]}
    assert pairs.make_lesson(found, np.array(alone), np.array(elsewhere)) == wanted


@settings(deadline=None)
@given(blocks=BLOCKS, numbers=st.booleans(), data=st.data())
def test_what_is_templated(
    blocks: list[tuple[int, bool, int, int]], numbers: bool, data: st.DataObject
) -> None:
    """As asked pair by pair."""
    found = pairs.pair_hashes(said(blocks, numbers))
    flags = (0, pairs.KEPT, pairs.OF_ALL, pairs.OF_SOME)
    all_of = sorted({*found.alike, *found.same, *found.long.values()})
    marked = [pair | flag for pair in all_of for flag in flags]
    template = data.draw(st.sets(st.sampled_from(marked + [p ^ pairs.TOLD for p in all_of])))
    kept = [block[1] for block in blocks]
    sides = list(zip([False, *kept], [*kept, False], strict=True))
    cut = {same for same, side in zip(found.same, sides, strict=True) if not any(side)}
    ways = []

    def ways_of_kept(pair: int) -> int:
        is_sure = pair | pairs.OF_ALL in template or pair ^ pairs.TOLD in template
        return (
            pairs.OFTEN * (pair | pairs.KEPT in template)
            | pairs.SURE * is_sure
            | pairs.LISTED * (pair | pairs.OF_SOME in template)
        )

    for alike, same, side in zip(*found[:2], sides, strict=True):
        way = pairs.ALIKE * (alike in template)
        if not (all(side) and same in cut):
            way |= pairs.SAME * (same in template)
            if any(side):
                way |= ways_of_kept(same)
        ways.append(way)
    answer = pairs.find_ways(found, np.array(kept), template)
    wanted = [one | other for one, other in pairwise(ways)]
    for number, pair in found.long.items():
        wanted[number] |= pairs.SAME * (pair in template) | ways_of_kept(pair)
    assert answer.tolist() == wanted


def test_a_page_does_not_lose_all_its_text() -> None:
    """Of a page that is known as a whole nothing is cut; of one that has a tenth more, that is."""
    kept, linked = np.ones(3, bool), np.zeros(3, np.int64)
    none, sizes = np.zeros(3, bool), np.full(3, 50.0)

    def cut(*of: int) -> list[bool] | None:
        answer = pairs.find_templated(np.array(of, np.uint8), kept, linked, sizes, none, kept)
        return None if answer is None else list(answer)

    assert cut(pairs.SAME, pairs.SAME, pairs.SAME) is None
    assert cut(pairs.SAME, pairs.SAME, 0) == [True, True, False]


def test_a_page_of_its_own_facts_is_no_version_of_another() -> None:
    """The note that nearly all pages have beside these is cut, though it is all that is kept."""
    kept = np.array([False] * 4 + [True] * 2)
    sizes, linked = np.array([9.0, 9, 9, 9, 900, 900]), np.zeros(6, np.int64)
    heading, plain = np.arange(6) == 0, np.ones(6, bool)

    def cut(*lines: int, note: int = pairs.OFTEN) -> list[bool]:
        of = np.array([*lines, note, note], np.uint8)
        answer = pairs.find_templated(of, kept, linked, sizes, heading, plain)
        assert answer is not None
        return list(answer)

    assert cut(0, 0, 0, 0) == [False] * 4 + [True] * 2
    assert not any(cut(1, 0, 0, 0)[4:])  # its heading is that of all pages
    assert not any(cut(0, 1, 1, 0)[4:])  # or all but one of the facts
    # But one line beside what pages of other names have is a page of one line.
    assert cut(1, 1, 1, 0, note=pairs.OFTEN | pairs.SURE)[3:] == [False, True, True]
    linked[2:4] = 9
    assert not any(cut(0, 0, 0, 0)[4:])
