"""Which word is meant: by code, by frequency, by letters."""

from __future__ import annotations

from crawler.dedup.spelling.correction import (
    correct_towards,
    load_corrector,
)
from crawler.dedup.spelling.dictionary import Dictionary, load_dictionary
from crawler.dedup.spelling.nearby import Nearby
from crawler.dedup.spelling.phonetic import PhoneticRepair
from tests.dedup.spelling.mistyped import CLEAN, MISREAD, MISTYPED, similarity


def test_the_closest_of_all_words_is_found() -> None:
    """By two edits of any kind, as if it were compared with each of them."""
    words = ["continent", "proposition", "naïveté", "ε"]
    repair = PhoneticRepair(Dictionary(dict.fromkeys(words, 1.0)))
    found = [repair(word) for word in ("xontinenx", "bropositionb", "mïveté", "ζ", "continental")]
    assert found == ["continent", "proposition", "naïveté", "ε", "continent"]
    assert repair("xxntinenx") is None


def test_the_hybrid_of_the_paper() -> None:
    """Only words that keep the texts from matching are replaced, and none that the other has."""
    assert correct_towards("a concieved zzyzx nation", "a conceived zzyzx nation") == (
        "a conceived zzyzx nation"
    )
    assert similarity(CLEAN, correct_towards(MISTYPED, CLEAN)) > similarity(CLEAN, MISTYPED) + 0.1


def test_the_same_code_comes_before_a_closer_word() -> None:
    """Figure 2: the edit distance is asked only if no dictionary word has the code."""
    words = Dictionary({"rogers": 1.0, "dodgery": 5.0})
    repair = PhoneticRepair(words)
    assert repair("rodgers") == "rogers"
    assert repair("dodgerx") == "dodgery"
    assert repair("zzzzz") is None
    assert repair("rogers") is None


def test_nearby_words_are_the_most_frequent_that_there_are() -> None:
    """The look-up finds no other words than comparing with every word would find, of those one
    edit away all, and of those two edits away the most frequent.
    """
    from rapidfuzz.distance import OSA

    words = load_dictionary().words[:3000]
    asked = ["recieve", "goverment", "thier", "becuase", "untill", "seperately", "xq"]
    like = Nearby(words).find_nearby(asked)
    for place, word in enumerate(asked):
        most = 2 if len(word) > 4 else 1
        found = like.numbers[(like.asked == place) & (like.edits <= most)].tolist()
        near = [[n for n, w in enumerate(words) if OSA.distance(word, w) == m] for m in (1, 2)]
        assert set(near[0] + near[1][:4] * (most == 2)) <= set(found) <= set(near[0] + near[1])


def test_one_wrong_letter_is_found_in_rare_words_too() -> None:
    """However long the word."""
    words = load_dictionary()
    rare = [word for word in words.words[40_000:60_000] if len(word) > 7][:50]
    like = words.nearby.find_nearby([word[:3] + word[4:] for word in rare])
    for place, word in enumerate(rare):
        assert words.number[word] in like.numbers[like.asked == place]


def test_a_repeated_name_is_rather_meant() -> None:
    """On a page of errors, a name that comes once may be one of them."""
    correct = load_corrector("typos")
    once = MISREAD.replace("great civil", "great Moyer civil")
    thrice = once.replace("a new", "a Moyer").replace("any nation", "any Moyer nation")
    assert "Moyer" not in correct(once)
    assert correct(thrice).count("Moyer") == 3
