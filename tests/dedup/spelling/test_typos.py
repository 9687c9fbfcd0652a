"""Errors are corrected, and what is none stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from crawler.dedup.spelling import shape
from crawler.dedup.spelling.choices import FEATURES, WEIGHTS
from crawler.dedup.spelling.correction import (
    NAMES,
    load_corrector,
    version_setting,
)
from crawler.dedup.spelling.dictionary import Dictionary, load_dictionary
from crawler.dedup.spelling.kept import Choices
from crawler.dedup.spelling.shape import Shapes
from tests.dedup.spelling.mistyped import CLEAN, FOREIGN, MISREAD, MISTYPED, normalise, similarity


@pytest.mark.parametrize("text", [MISTYPED, MISREAD])
def test_errors_are_corrected(text: str) -> None:
    """Each of seven errors in 90 words spoils three shingles; corrected, nearly none is left."""
    assert similarity(CLEAN, text) < 0.75
    assert similarity(CLEAN, load_corrector("typos")(text)) > 0.93


def test_long_words_with_three_errors_are_known_again() -> None:
    """A word of eight letters is still told with three of them wrong, a shorter one is not."""
    words = load_dictionary()
    like = words.nearby.find_nearby(["tighiteousiess", "wispegt"])
    found = [{words.words[number] for number in like.numbers[like.asked == row]} for row in (0, 1)]
    assert "righteousness" in found[0]
    assert "suspect" not in found[1]
    assert "dedicated to" in load_corrector("typos")(
        MISREAD.replace("dedicated to", "dedlcatcb to")
    )


def test_choices_know_how_many_letters_they_have_more() -> None:
    """Letters that got lost count for a word, letters that came in against it."""
    words = Dictionary({"bride": 1.0, "bid": 1.0, "bird": 1.0})
    found = Choices(words)(["brid"])
    more = found.features[:, FEATURES.index("letters more")]
    numbers = found.numbers[:, 0].tolist()
    of_words = {words.words[number]: one for number, one in zip(numbers[1:], more[1:], strict=True)}
    assert of_words == {"bride": 1, "bird": 0, "bid": -1}
    assert WEIGHTS["letters more"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_every_corrector_brings_copies_closer(name: str) -> None:
    """Whatever the method, a mistyped copy is closer to its original than before."""
    correct = load_corrector(name)
    assert similarity(correct(CLEAN), correct(MISTYPED)) > similarity(CLEAN, MISTYPED) + 0.1


@pytest.mark.parametrize("name", [name for name in NAMES if "scans" not in name])
def test_clean_text_stays(name: str) -> None:
    """Where the dictionary knows every word, nothing changes, nor when done twice."""
    assert load_corrector(name)(CLEAN) == CLEAN


def test_scans_also_make_look_alikes_equal() -> None:
    """What no dictionary knows is equal if it looks the same."""
    correct, sharp, blurred = load_corrector("scans"), Shapes(), Shapes(blurred=True)
    assert correct(CLEAN + " Thurmnn") == correct(CLEAN + " Thunnnn")
    assert correct(CLEAN + " I0l") == correct(CLEAN + " lo1")
    assert sharp("modern") != sharp("ancient")
    assert correct(CLEAN + " Thumn") != correct(CLEAN + " Thunn")
    assert sharp("in m iii") == "i i i"
    correct = load_corrector("bad-scans")
    assert correct(CLEAN + " Thumn") == correct(CLEAN + " Thunn")
    assert blurred("modern") != blurred("ancient")
    assert blurred("in m iii") == "i i i"
    assert blurred("with") != blurred("in")
    assert blurred("alberta") != blurred("ontario")


@pytest.mark.parametrize(
    "numbers",
    [("$10", "$100"), ("3.1", "3.11"), ("2001", "2011"), ("1,000", "1,000,000"), ("11th", "1th")],
)
@pytest.mark.parametrize("name", ["scans", "bad-scans"])
def test_scans_tell_numbers_apart(name: str, numbers: tuple[str, str]) -> None:
    """However much their digits look like strokes: a price ten times as high is another."""
    shapes = Shapes(blurred=name == "bad-scans")
    one, other = (normalise(shapes(f"{CLEAN} It was {number} then.")) for number in numbers)
    assert one != other


def test_shapes_are_remembered_for_so_many_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those met long ago are found anew, and are what they were."""
    monkeypatch.setattr(shape, "_MOST_KEPT", 3)
    sharp = Shapes()
    texts = [
        "The modern house, 1901.",
        "in m iii",
        "",
        "no\nWord: \u00c9t\u00e9 \u00b2x",
        "The modern house, 1901.",
    ]
    assert [sharp(text) for text in texts] == [Shapes()(text) for text in texts]
    assert len(sharp._kept) <= 3 + 4


@pytest.mark.parametrize(
    "word",
    [
        "Thurmar",  # a name
        "getElementById",  # code
        "snake_csae",
        "os.pathh",
        "abc123x",
        "user@exmaple",
        "isn't",
        "TLDR",
    ],
)
@pytest.mark.parametrize("text", [CLEAN, MISTYPED])
def test_names_and_code_stay(text: str, word: str) -> None:
    """In clean text as among typos."""
    around = text.replace("a new nation", f"a new {word} nation")
    assert word in load_corrector("typos")(around)


def test_a_term_stays() -> None:
    """An unknown word that comes twice on a page without typos is meant."""
    text = CLEAN.replace("nation, or", "scrapling, or").replace("great civil", "scrapling civil")
    assert load_corrector("typos")(text) == text


@pytest.mark.parametrize("name", ["typos", "dsound"])
def test_a_page_with_hardly_an_error(name: str) -> None:
    """A copy with one error in 180 words is found as it is; only the paper's way corrects it."""
    text = f"{CLEAN}\n{CLEAN.replace('testing', 'testting')}"
    assert similarity(f"{CLEAN}\n{CLEAN}", text, 5) > 0.9
    assert (load_corrector(name)(text) == text) == (name == "typos")


def test_paragraphs_of_other_languages_stay_on_a_page_of_errors() -> None:
    """From their first word to the last: function words of other languages stand among them."""
    correct = load_corrector("typos")
    for text in FOREIGN.values():
        assert f"\n\n{text}\n\n" in correct(f"{MISREAD}\n\n{text}\n\n{MISREAD}")


@pytest.mark.parametrize("language", FOREIGN)
@pytest.mark.parametrize("name", ["typos", "dsound"])
def test_other_languages_stay(name: str, language: str) -> None:
    """By themselves, and as a paragraph of an English page."""
    correct = load_corrector(name)
    text = FOREIGN[language]
    assert correct(text) == text
    assert f"\n\n{text}\n\n" in correct(f"{CLEAN}\n\n{text}\n\n{CLEAN}")


def test_a_dictionary_is_read_once() -> None:
    """By whatever name, it is in memory once: English takes some tens of megabytes."""
    assert load_dictionary() is load_dictionary("en") is load_dictionary(source="en")


def test_a_page_of_nothing_but_errors_stays() -> None:
    """More corrections than a third of the words: that is no English text with typos."""
    text = " ".join(f"the {word}x" for word in load_dictionary().words[300:400])
    assert load_corrector("typos")(text) == text


def test_halves_of_words_are_joined_and_run_together_words_cut() -> None:
    """As scanners leave them at the ends of lines."""
    halves = MISREAD.replace("dedicated to", "dedi-\ncated to").replace(
        "great battle", "greatbattle"
    )
    found = load_corrector("typos")(halves)
    assert "dedicated to" in found
    assert "great battle" in found


def test_words_broken_at_the_ends_of_lines_show_print() -> None:
    """They are joined where they are many; one or two are left, as they are on other pages."""
    around = "\n".join([CLEAN] * 5)
    broken = CLEAN
    for word in ("continent", "dedicated", "conceived", "fitting", "altogether"):
        broken = broken.replace(word, f"{word[:3]}-\n{word[3:]}", 1)
    assert load_corrector("typos")(f"{broken}\n{around}") == f"{CLEAN}\n{around}"
    once = around.replace("continent", "con-\ntinent", 1)
    assert load_corrector("typos")(once) == once


def test_lines_may_break_words_without_a_hyphen() -> None:
    """Both halves may be words: the whole is more probable than one after the other."""
    broken = MISREAD.replace("dedicated to", "dedi\ncated to").replace("brought", "re\nturned")
    found = load_corrector("typos")(broken)
    assert "dedicated to" in found
    assert "returned forth" in found
    assert "of\nthe" in load_corrector("typos")(MISREAD.replace("to the", "of\nthe"))


def test_headlines_and_misread_digits_on_a_page_of_errors() -> None:
    """Capitals beside capitals are words, and so are words with a digit in them."""
    correct = load_corrector("typos")
    assert (
        "the government of the people"
        in correct(f"THE GOVERNMEMT OF THE PEOPLE\n{MISREAD}").lower()
    )
    assert correct(MISREAD.replace("the proposition", "th4 proposition")).count("th4") == 0
    for word in ("4th", "1990s", "A4", "MP3", "x86", "2b2t"):
        assert word in correct(MISREAD.replace("a new", f"a {word} new"))
        assert word in correct(CLEAN.replace("a new", f"a {word} new"))


def test_a_pair_that_is_not_listed_counts_by_its_words() -> None:
    """That "of of" is not among the pairs says much, that two rare words are not says little."""
    words = load_dictionary()
    number = words.number
    first = np.array([number["of"], number["of"], number["sparrow"], -1])
    second = np.array([number["the"], number["of"], number["slate"], number["of"]])
    listed, frequent, rare, unknown = words.measure_gain(first, second)
    assert frequent < rare < unknown == 0 < listed


def test_an_index_tells_the_versions_of_the_correction_apart() -> None:
    """What it keeps changes with the algorithm, though the setting is the same."""
    assert version_setting("typos") != "typos"
    assert version_setting("typos:de") != version_setting("typos")


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pages a crawl has, and pages are corrected no otherwise for it."""
    monkeypatch.setattr("crawler.dedup.spelling.kept._MOST_KEPT", 5)
    choices = Choices(load_dictionary())
    once = choices(["enndure", "poriton", "brougth"])
    choices(["ressting", "alltogether", "concieved"])
    assert len(choices._kept.spans) <= 5
    again = choices(["enndure", "poriton", "brougth"])
    assert load_dictionary().words[once.numbers[1, 0]] == "endure"
    assert np.array_equal(once.numbers, again.numbers)
    assert np.array_equal(once.features, again.features)


def test_threads_may_share_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long pages are corrected in threads: each gets its own words' choices, whatever others do."""
    words = load_dictionary().words[1000:1400]
    pages = [[word + "x" for word in words[start : start + 40]] for start in range(0, 400, 10)]
    alone = Choices(load_dictionary())
    expected = [alone(page) for page in pages]
    monkeypatch.setattr("crawler.dedup.spelling.kept._MOST_KEPT", 100)
    shared = Choices(load_dictionary())
    with ThreadPoolExecutor(8) as threads:
        found = threads.map(shared, pages)
    for one, other in zip(found, expected, strict=True):
        assert all(map(np.array_equal, one, other))
