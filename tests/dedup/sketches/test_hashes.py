"""What is compiled for the hashes of words finds what numpy does, to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.dedup.sketches import hashing
from crawler.dedup.sketches.hashing import hash_runs, mix_bits, sorted_unique, word_hashes
from crawler.dedup.sketches.shingles import Shingler
from tests.dedup.sketches.test_shingles import SHINGLERS, SPARSE_WORDS

if not hashing.COMPILED:
    pytest.skip("not compiled here: python hatch_build.py", allow_module_level=True)

Found = TypeVar("Found")
# Words end anywhere among the eight bytes that are read at once, and so does the text.
BYTES = st.lists(
    st.binary(max_size=20)
    | st.sampled_from([b" ", b"  ", b"\x21\x1f\x20\x21", b"\x20\xa0\x20\x80\xff"])
    | st.integers(0, 130).map(lambda size: b"x" * size),
    max_size=30,
).map(b" ".join)
VALUES = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=60).map(
    lambda values: np.array(values, np.uint64)
)


@contextmanager
def nothing_compiled() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing, "COMPILED", False)
        yield


def by_both(find: Callable[[], Found]) -> tuple[Found, Found]:
    with nothing_compiled():
        expected = find()
    return find(), expected


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


@given(BYTES, st.integers(0, 2**64 - 1))
@example(b"", 0)
@example(b" ", 0)
@example(b"x" * 64 + b" " + b"y" * 65, 1)
def test_words_have_the_same_hashes_and_places(encoded: bytes, seed: int) -> None:
    found, expected = by_both(lambda: word_hashes(encoded, seed))
    assert all(map(same, found, expected))


@given(VALUES, st.integers(1, 60))
def test_runs_are_joined_alike(values: np.ndarray, size: int) -> None:
    if size <= values.size:
        assert same(*by_both(lambda: hash_runs(values, size)))


@pytest.mark.parametrize("size", [255, 256, 1365, 4095, 4096, 5000])
def test_long_runs_take_all_multipliers(size: int) -> None:
    values = np.random.default_rng(size).integers(0, 2**64, 5000, dtype=np.uint64)
    assert same(*by_both(lambda: hash_runs(values, size)))


@pytest.mark.parametrize("size", range(2, 101))
def test_each_place_of_a_run_counts_for_itself(size: int) -> None:
    """Tokens that change places make another run, in all sizes that an index may have."""
    places = np.eye(size, dtype=np.uint64)
    weights = {int(hash_runs(place, size)[0]) for place in places}
    assert len(weights) == size


def test_runs_longer_than_the_text_are_an_error() -> None:
    for size in (0, 3):
        with pytest.raises(ValueError, match="2 tokens have no runs"):
            hash_runs(np.zeros(2, np.uint64), size)


@given(VALUES)
def test_values_are_mixed_and_sorted_alike(values: np.ndarray) -> None:
    assert same(*by_both(lambda: mix_bits(values.copy())))
    assert same(*by_both(lambda: sorted_unique(values.copy())))


@given(SPARSE_WORDS, SHINGLERS)
def test_shingles_are_the_same(text: str, shingler: Shingler) -> None:
    assert same(*by_both(lambda: shingler(text)))


def test_long_texts_have_the_same_shingles() -> None:
    """So they have where pieces of them end within a word, and where a word is longer than all."""
    draw = random.Random(1)
    words = ["".join(draw.choices("etaoin", k=draw.randint(1, 100))) for _ in range(3000)]
    text = " ".join(draw.choices(words, k=40_000))
    for page in (text, text.replace(" ", ""), "a" * 3_000_000, "a " * 1_000_000):
        assert same(*by_both(lambda page=page: Shingler()(page)))
