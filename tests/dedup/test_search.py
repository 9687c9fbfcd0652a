"""What is compiled for the correction of words finds what numpy does, to the last bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler.dedup.spelling import table
from crawler.dedup.spelling.choices import Choice, Finder
from crawler.dedup.spelling.dictionary import Dictionary, dictionary
from crawler.dedup.spelling.nearby import FREQUENT
from crawler.dedup.spelling.shape import Shapes
from crawler.dedup.spelling.table import hashes_of, word_hashes
from crawler.dedup.typos import ContextCorrector
from tests.dedup.test_typos import CLEAN, MISREAD, MISTYPED

if not table.COMPILED:
    pytest.skip("not compiled here: python hatch_build.py", allow_module_level=True)
from crawler.dedup.spelling._choices import Search

LETTERS = "abcdefghijklmnopqrstuvwxyzéßñşдж中𝒜0"
LONGEST = 64
# What stands in the way of all: letters of all sizes, long words, few strokes, many like each.
SMALL = {
    "a": 9.0,
    "m": 7.0,
    "iii": 7.0,
    "über": 5.0,
    "слово": 4.0,
    "слова": 4.0,
    "中文": 3.0,
    "𝒜𝒷𝒸": 2.0,
    "ab" * 50: 2.0,
    "жд" * 25: 2.0,
    "w" * LONGEST: 1.0,
    "wwiiii": 1.0,
    "phickkcc": 1.0,
} | {"".join(letters): 1.0 for size in (4, 5, 6) for letters in product("abm", repeat=size)}
DICTIONARIES: dict[str, Callable[[], Dictionary]] = {
    "en": dictionary,
    "de": lambda: dictionary("de"),
    "small": lambda: Dictionary(SMALL),
    "pairs": lambda: Dictionary(SMALL, [("a", "m", 5.0), ("m", "iii", 2.0), ("iii", "a", 0.5)]),
    "one": lambda: Dictionary({"nation": 1.0}),
}


@contextmanager
def nothing_compiled() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "COMPILED", False)
        yield


def same(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether arrays are equal to the last bit."""
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


@cache
def both(name: str) -> tuple[Finder, Search]:
    finder = Finder(DICTIONARIES[name]())
    return finder, Search(finder)


def compared(name: str, words: Sequence[str]) -> Choice:
    """The choices of *words*, found in both ways."""
    finder, search = both(name)
    different = list(dict.fromkeys(words))
    choices = search(different)
    with nothing_compiled():
        expected = finder(different)
    assert all(map(same, choices, expected)), (different, choices, expected)
    return choices


def misspelt(word: str, chooser: random.Random) -> str:
    """*word* with up to three letters changed, put in, left out or taken for the next."""
    for _ in range(chooser.randrange(4)):
        at = chooser.randrange(len(word) + 1)
        word = chooser.choice(
            (
                word[:at] + chooser.choice(LETTERS) + word[at:],
                word[:at] + chooser.choice(LETTERS) + word[at + 1 :],
                word[:at] + word[at + 1 :],
                word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            )
        )
    return word[:LONGEST]


@pytest.mark.parametrize("name", DICTIONARIES)
def test_words_of_the_dictionary(name: str) -> None:
    """As they are, misspelt, and run together; the most frequent, others, and between the two."""
    words = both(name)[0].dictionary.words
    chooser = random.Random(1)
    read = [*words[:500], *words[FREQUENT - 5 : FREQUENT + 5] * 50, *chooser.choices(words, k=1500)]
    read = [word for word in read if len(word) <= LONGEST]
    together = [a + b for a, b in zip(read, chooser.choices(words[:2000], k=2000), strict=False)]
    wrong = [misspelt(word, chooser) for word in read + together]
    asked = [word for word in read + together + wrong if 0 < len(word) <= LONGEST]
    assert compared(name, asked).counts.max() == (2 if name == "one" else 10)


WORDS = st.text(st.sampled_from(LETTERS), min_size=1, max_size=24) | st.text(
    st.characters(exclude_characters="\0\n"), min_size=1, max_size=24
)


@pytest.mark.parametrize("name", DICTIONARIES)
@settings(deadline=None, max_examples=100)
@given(st.lists(WORDS, min_size=1, max_size=20))
@example(["a", "\ud800", "\udfff" * 24, "i" * 24, "w" * 64, "m" * 63, "wwiiiiw", "phickck"])
def test_any_words(name: str, words: list[str]) -> None:
    """Whatever letters they have, and surrogates: of each there is itself, at least."""
    assert compared(name, words).counts.min() >= 1


@settings(deadline=None, max_examples=300)
@given(st.lists(st.text("abmiw", min_size=1, max_size=9), min_size=1, max_size=20))
def test_words_that_are_like_many(words: list[str]) -> None:
    """Where hundreds are as near and as frequent, both take the same."""
    for name in ("small", "pairs"):
        assert len(compared(name, words).counts) == len(set(words))


@settings(deadline=None, max_examples=200)
@given(st.lists(WORDS | st.text(st.sampled_from("ab"), min_size=65, max_size=200)))
@example([])
def test_hashes(words: list[str]) -> None:
    """Of words of any length."""
    found = hashes_of(words)
    with nothing_compiled():
        assert same(found, hashes_of(words))


def test_hashes_of_fewer_letters_than_are_said() -> None:
    """Nothing is read that is not there."""
    letters = np.array([97, 98], np.uint32)
    lengths = np.array([1, 9, 9])
    assert word_hashes(letters, lengths).tolist() == [*hashes_of(["a", "b"]).tolist(), 0]


@pytest.mark.parametrize("name", ["en", "pairs", "one"])
def test_numbers_and_gains(name: str) -> None:
    """Of all frequent words, of pairs that are listed, that are not, and of unknown words."""
    words = both(name)[0].dictionary
    chooser = np.random.default_rng(1)
    others = chooser.integers(0, 1 << 63, 1000, np.uint64)
    hashes = np.concatenate((hashes_of(words.words[:50_000]), others))
    count = min(len(words.words), 300)
    first, second = chooser.integers(-1, count, (2, 100_000))
    first[:2], second[:2] = -1, (0, -1)
    found = words.numbers(hashes), words.gain(first, second)
    with nothing_compiled():
        expected = words.numbers(hashes), words.gain(first, second)
    assert all(map(same, found, expected))
    assert found[0].max() == min(len(words.words), 50_000) - 1
    assert (found[0] < 0).sum() == 1000
    assert (found[1].max() > 0) == (name != "one")


def test_words_that_are_too_long() -> None:
    """No page asks for words of more than 24 letters; of more than 64 they are refused."""
    for words in ([""], ["a" * 65]):
        with pytest.raises(ValueError, match="no word of up to 64 letters"):
            both("small")[1](words)
    assert both("small")[1]([]).numbers.shape == (0, 2)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, len(CLEAN)), WORDS), max_size=12))
def test_pages(junk: list[tuple[int, str]]) -> None:
    """A page is corrected alike where nothing is compiled."""
    compiled, plain = correctors()
    for page in (MISTYPED, MISREAD):
        spoilt = page
        for place, word in junk:
            spoilt = spoilt[:place] + word + spoilt[place:]
        found = compiled(page), compiled(spoilt)
        with nothing_compiled():
            assert found == (plain(page), plain(spoilt))
        assert found[0] != page


@cache
def correctors() -> tuple[ContextCorrector, ContextCorrector]:
    compiled = ContextCorrector()
    with nothing_compiled():
        plain = ContextCorrector()
    ways = [corrector.reader._choices._found for corrector in (compiled, plain)]
    assert [type(way) for way in ways] == [Search, Finder]
    return compiled, plain


DRAWN = st.text(st.sampled_from("ijlrtfnuvhkpxymwdbqaceozsé IMNßİ²3_01\n½٣中𝒜\ud800"), max_size=60)


@given(text=DRAWN, blurred=st.booleans())
@example(text=f"{CLEAN} {MISREAD}", blurred=False)
@example(text=f"{CLEAN} {MISREAD} Illlllll wwww mmmm hilliness", blurred=True)
def test_shapes(text: str, blurred: bool) -> None:
    """Any text is written in the same strokes, sharp and blurred."""
    compiled = Shapes(blurred=blurred)(text)
    with nothing_compiled():
        assert Shapes(blurred=blurred)(text) == compiled
