"""What a page tells of its site's template, and what that cuts: compiled the same as in Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.chrome import block_hash
from tests.pure import load_pure

compiled = pytest.importorskip("crawler.chrome.template._pairs")
pairs = load_pure("crawler.chrome.template.pairs")

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
    return [str(what) if numbers else "abcde"[what] for what, *_ in blocks]


@settings(deadline=None)
@given(texts=TEXTS)
def test_hashes_of_pairs(texts: list[str]) -> None:
    """Both give the same, for any text, and one list where there are no digits."""
    found, wanted = compiled.pair_hashes(texts), pairs.pair_hashes(texts)
    assert found == wanted
    assert (found.same is found.alike) == (wanted.same is wanted.alike)
    hashes = [pairs.EDGE, *map(block_hash, texts), pairs.EDGE]
    assert len(found.alike) == len(texts) + 1
    for alike, one, other in zip(found.alike, hashes, hashes[1:], strict=False):
        assert alike == (one * 3 + other) % (1 << 64) >> 16 & 0xFFFFFFFF


@settings(deadline=None)
@given(blocks=BLOCKS, numbers=st.booleans())
def test_lessons(blocks: list[tuple[int, bool, int, int]], numbers: bool) -> None:
    """Both learn the same of a page, in the same order."""
    found = compiled.pair_hashes(said(blocks, numbers))
    alone = np.array([block[1] for block in blocks])
    wanted = pairs.lesson(found, alone)
    assert list(compiled.lesson(found, alone).items()) == list(wanted.items())


FLAGS = (0, pairs.KEPT, pairs.OF_ALL, pairs.OF_SOME)


@settings(deadline=None)
@given(blocks=BLOCKS, numbers=st.booleans(), data=st.data())
def test_what_is_templated(
    blocks: list[tuple[int, bool, int, int]], numbers: bool, data: st.DataObject
) -> None:
    """Both find the same of a template on a page."""
    found = pairs.pair_hashes(said(blocks, numbers))
    all_of = sorted({*found.alike, *found.same})
    template = data.draw(
        st.sets(
            st.sampled_from(
                [pair | f for pair in all_of for f in FLAGS]
                + [pair ^ pairs.TOLD for pair in all_of]
            )
        )
    )
    kept = np.array([block[1] for block in blocks])
    answers = [one.hits(found, kept, template) for one in (compiled, pairs)]
    assert answers[0].tolist() == answers[1].tolist()


def test_a_page_does_not_lose_all_its_text() -> None:
    """Of a page that is known as a whole nothing is cut; of one that has a tenth more, that is."""
    kept, linked = np.ones(3, bool), np.zeros(3, np.int64)
    none, sizes = np.zeros(3, bool), np.full(3, 50.0)

    def cut(*of: int) -> list[bool] | None:
        answer = pairs.templated(np.array(of, np.uint8), kept, linked, sizes, none, kept)
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
        answer = pairs.templated(of, kept, linked, sizes, heading, plain)
        assert answer is not None
        return list(answer)

    assert cut(0, 0, 0, 0) == [False] * 4 + [True] * 2
    assert not any(cut(1, 0, 0, 0)[4:])  # its heading is that of all pages
    assert not any(cut(0, 1, 1, 0)[4:])  # or all but one of the facts
    # But one line beside what pages of other names have is a page of one line.
    assert cut(1, 1, 1, 0, note=pairs.OFTEN | pairs.SURE)[3:] == [False, True, True]
    linked[2:4] = 9
    assert not any(cut(0, 0, 0, 0)[4:])
