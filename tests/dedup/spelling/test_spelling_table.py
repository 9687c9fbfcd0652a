"""Words by their hashes: whatever is put together or cut has the hash of the result."""

from __future__ import annotations

import numpy as np
import pytest

from crawler.dedup.errors import InputError
from crawler.dedup.spelling.dictionary import Dictionary
from crawler.dedup.spelling.page_words import PageWords
from crawler.dedup.spelling.shape import code_points
from crawler.dedup.spelling.table import ODD, Table, hashes_of, hashes_of_cuts, whole_hashes

WORDS = ["a", "no", "on", "nation", "conceived", "überall", "x" * 30, "ab" * 16]


def test_a_table_has_its_keys_and_no_others() -> None:
    """Those that share a bucket are told apart."""
    crowd = np.arange(1, 41).astype(np.uint64) * np.uint64(pow(int(ODD), -1, 1 << 64))
    table = Table(crowd[:20], np.arange(20, dtype=np.int32))
    found = np.full(len(crowd), -1)
    table.fill_values(crowd, found)
    assert len(set(table._bucket_of(crowd).tolist())) == 1
    assert found.tolist() == [*range(20), *[-1] * 20]
    keys = np.random.default_rng(1).integers(0, 1 << 63, 20_000).astype(np.uint64)
    table = Table(keys[:10_000], np.arange(10_000, dtype=np.int32))
    found = np.full(len(keys), -1)
    table.fill_values(keys, found)
    assert found[:10_000].tolist() == list(range(10_000))
    assert set(found[10_000:].tolist()) == {-1}
    for size in (0, 1):
        found = np.full(2, -1)
        Table(keys[:size], np.zeros(size, np.int32)).fill_values(keys[:2], found)
        assert found.tolist() == [size - 1, -1]


def test_keys_made_to_collide_are_refused() -> None:
    """A bucket counts up to 63 keys, far more than chance puts into one."""
    crowd = np.arange(1, 65).astype(np.uint64) * np.uint64(pow(int(ODD), -1, 1 << 64))
    found = np.full(64, -1)
    Table(crowd[:63], np.arange(63, dtype=np.int32)).fill_values(crowd, found)
    assert found.tolist() == [*range(63), -1]
    with pytest.raises(InputError, match="made to collide"):
        Table(crowd, np.arange(64, dtype=np.int32))


def test_words_put_together_and_cut() -> None:
    """Two words have the hash of the whole, and a word's two parts have their own."""
    hashes = hashes_of(WORDS)
    assert len(set(hashes.tolist())) == len(WORDS)
    lengths = np.array([len(word) for word in WORDS])
    for word, hashed in zip(WORDS, hashes, strict=True):
        wholes = whole_hashes(hashes, lengths, np.full(len(WORDS), hashed))
        assert wholes.tolist() == hashes_of([first + word for first in WORDS]).tolist()
    first, second = hashes_of_cuts(code_points(WORDS, 32))
    for row, word in enumerate(WORDS):
        cuts = range(1, len(word))
        assert first[row, : len(word) - 1].tolist() == hashes_of([word[:c] for c in cuts]).tolist()
        assert second[row, : len(word) - 1].tolist() == hashes_of([word[c:] for c in cuts]).tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" ... ", []),
        ("The NATION, conceived", ["the", "nation", "conceived"]),
        # its lower case has two letters
        ("Die İSTANBUL-Nation", ["die", "istanbul", "nation"]),
        # vowel signs, which compose with no letter
        ("हिन्दी nation", ["हिन्दी", "nation"]),
        ("no\ud800nation \U0001d7d9a", ["no", "nation", "\U0001d7d9a"]),
    ],
)
def test_a_page_finds_its_words_in_the_dictionary(text: str, words: list[str]) -> None:
    """In lower case, whatever stands between them."""
    known = Dictionary({"nation": 5.0, "conceived": 2.0, "the": 9.0})
    page = PageWords(text, known)
    assert page.words_at() == words
    assert page.numbers.tolist() == [known.number.get(word, -1) for word in words]
    assert page.hashes.tolist() == hashes_of(words).tolist()
