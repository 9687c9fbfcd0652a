"""Shingle hashes stand for the shingles: as many, equal when they are, and nothing in between."""

import random
from itertools import pairwise

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.sketches.shingles import Shingler, shingle_hashes
from crawler.dedup.text.normaliser import Normaliser

SPARSE_WORDS = st.lists(
    st.text(st.sampled_from("aab東é_1"), min_size=1, max_size=12)
    | st.sampled_from(["a" * 8, "a" * 9, "a" * 63, "a" * 64, "a" * 65, "b" + "a" * 64, "a" * 200]),
    max_size=40,
).map(" ".join)
SHINGLERS = st.builds(
    Shingler,
    unit=st.sampled_from(["word", "char"]),
    size=st.integers(1, 12),
    step=st.integers(1, 4),
    repeats=st.booleans(),
)


def tokens(text: str, unit: str) -> list[str]:
    return Normaliser().words(text) if unit == "word" else list(Normaliser()(text))


def readable(text: str, shingler: Shingler) -> list[tuple[str, ...]]:
    """The shingles of a text as a person would cut them."""
    found = tokens(text, shingler.unit)
    size = min(shingler.size, len(found))
    starts = range(0, len(found) - size + 1, shingler.step)
    return [tuple(found[start : start + size]) for start in starts] if found else []


@given(SPARSE_WORDS, SHINGLERS)
def test_hashes_are_equal_exactly_where_shingles_are(text: str, shingler: Shingler) -> None:
    expected = readable(text, shingler)
    hashes = shingler.in_order(text).tolist()
    if shingler.repeats:
        assert len(set(hashes)) == len(hashes) == len(expected)
        return
    assert [hashes.index(one) for one in hashes] == [expected.index(one) for one in expected]
    assert shingler(text).tolist() == sorted(set(hashes))


@given(st.lists(SPARSE_WORDS, max_size=8), SHINGLERS)
def test_a_batch_has_the_shingles_of_its_texts(texts: list[str], shingler: Shingler) -> None:
    found = [
        hashes[start:end].tolist()
        for hashes, offsets in shingler.hash_batches(texts)
        for start, end in pairwise(offsets)
    ]
    assert found == [shingler.in_order(text).tolist() for text in texts]


def test_batches_of_short_and_long_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    texts = ["word " * draw.choice([0, 1, 3, 30, 300]) + str(n) for n in range(200)]
    shingler = Shingler()
    whole = [shingler.in_order(text) for text in texts]
    monkeypatch.setattr("crawler.dedup.sketches.shingles._BATCH", 700)
    monkeypatch.setattr("crawler.dedup.sketches.shingles._PIECE", 100)
    pieces = [
        hashes[start:end]
        for hashes, offsets in shingler.hash_batches(texts)
        for start, end in pairwise(offsets)
    ]
    assert len(pieces) == len(whole)
    assert all(map(np.array_equal, pieces, whole))


@given(SPARSE_WORDS, SHINGLERS)
def test_a_long_text_is_its_pieces(text: str, shingler: Shingler) -> None:
    whole = shingler.in_order(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crawler.dedup.sketches.shingles._PIECE", 7)
        assert np.array_equal(shingler.in_order(text), whole)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_large_texts_have_as_many_shingles_as_a_slow_hash_counts(size: int) -> None:
    draw = random.Random(size)
    vocabulary = ["".join(draw.choices("etaoinshr", k=draw.randint(1, 14))) for _ in range(3000)]
    found = draw.choices(vocabulary, k=200_000)
    slow = {
        xxhash.xxh3_64_intdigest(" ".join(found[start : start + size]).encode())
        for start in range(len(found) - size + 1)
    }
    assert len(shingle_hashes(" ".join(found), size=size)) == len(slow)


def thue_morse(length: int, zero: str, one: str) -> str:
    """The sequence that gives equal hashes to different texts in every polynomial mod 2**64."""
    return "".join((zero, one)[place.bit_count() % 2] for place in range(length))


@pytest.mark.parametrize("length", [64, 1024, 4096])
def test_texts_made_to_collide_do_not(length: int) -> None:
    there, back = thue_morse(length, "a", "b"), thue_morse(length, "b", "a")
    assert shingle_hashes(there).tolist() != shingle_hashes(back).tolist()  # one long word each
    for unit, gap in (("char", ""), ("word", " ")):
        spaced = [
            thue_morse(length, "a" + gap, "b" + gap),
            thue_morse(length, "b" + gap, "a" + gap),
        ]
        a, b = (shingle_hashes(text, unit=unit, size=length) for text in spaced)
        assert a.tolist() != b.tolist()


@pytest.mark.parametrize(
    "pair",
    [
        ("a b", "b a"),
        ("a a b", "a b b"),
        ("ab c", "a bc"),
        ("a", "aa"),
        ("0 1", "00 1"),
        ("a" * 64, "a" * 65),
        ("a" * 64 + "b", "a" * 65 + "b"),
        ("a b c d e", "a b c d"),
        ("x y x y", "y x y x"),
    ],
)
def test_like_texts_hash_differently(pair: tuple[str, str]) -> None:
    a, b = (shingle_hashes(text, size=9) for text in pair)
    assert a.tolist() != b.tolist()


def test_every_bit_of_a_hash_is_a_fair_coin() -> None:
    hashes = shingle_hashes(" ".join(map(str, range(20_000))))
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1)
    shares = bits.mean(axis=0)
    assert np.abs(shares - 0.5).max() < 5 * 0.5 / np.sqrt(len(hashes))
    together = np.corrcoef(bits.T) - np.eye(64)
    assert np.abs(together).max() < 6 / np.sqrt(len(hashes))


def test_seeds_give_unrelated_hashes() -> None:
    text = " ".join(map(str, range(1000)))
    one, other = (shingle_hashes(text, seed=seed) for seed in (1, 2**64 - 1))
    assert not np.intersect1d(one, other).size


@pytest.mark.parametrize("unit", ["word", "char"])
def test_texts_without_words_have_no_shingles(unit: str) -> None:
    for text in ("", " \n ", "\x00", "…!", "\u200b", "\ud800"):
        hashes = shingle_hashes(text, unit=unit)
        assert hashes.size == 0
        assert hashes.dtype == np.uint64


def test_a_short_text_is_one_shingle() -> None:
    assert len(shingle_hashes("to be")) == 1
    assert shingle_hashes("To be!").tolist() == shingle_hashes("to be").tolist()


def test_letters_of_unspaced_scripts_are_words() -> None:
    assert len(shingle_hashes("我们昨天去了北京", size=5)) == 4


def test_hashes_are_the_same_on_every_machine() -> None:
    """An index outlives the process that made it: these numbers must never change."""
    assert shingle_hashes("to be or not to be", size=5).tolist() == [
        14709394307102392304,
        16235462734537401531,
    ]
    assert shingle_hashes("abc", unit="char", size=2, seed=7).tolist() == [
        5783312383952144897,
        12177074241507997556,
    ]


def test_the_normaliser_decides_what_is_equal() -> None:
    numbers = Normaliser(fold_numbers=True)
    a, b = (
        shingle_hashes(f"seen {count} times since the first of the month", normaliser=numbers)
        for count in ("12", "1,204")
    )
    assert a.tolist() == b.tolist()


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"unit": "line"}, "unit"),
        ({"size": 0}, "size"),
        ({"step": 0}, "step"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
    ],
)
def test_parameters_out_of_range_are_named(parameters: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Shingler(**parameters)  # type: ignore[arg-type]
