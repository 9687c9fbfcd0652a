"""Typos are corrected; what only looks like one is left alone, at a bounded price."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dedup import (
    ConfigError,
    DedupConfig,
    DuplicateIndex,
    ParameterMismatch,
    jaccard,
    shingle_hashes,
)
from crawler.dedup.errors import InputError
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.spelling import shape
from crawler.dedup.spelling.choices import FEATURES, WEIGHTS
from crawler.dedup.spelling.correction import (
    NAMES,
    correct_towards,
    load_corrector,
    parse_setting,
    version_setting,
)
from crawler.dedup.spelling.dictionary import Dictionary, _load_dictionary, load_dictionary
from crawler.dedup.spelling.kept import Choices
from crawler.dedup.spelling.nearby import Nearby
from crawler.dedup.spelling.phonetic import PhoneticRepair
from crawler.dedup.spelling.shape import Shapes
from crawler.dedup.text.normaliser import Normaliser

normalise = Normaliser()

CLEAN = """Four score and seven years ago our fathers brought forth on this continent, a new nation,
conceived in Liberty, and dedicated to the proposition that all men are created equal. Now we are
engaged in a great civil war, testing whether that nation, or any nation so conceived and so
dedicated, can long endure. We are met on a great battle-field of that war. We have come to dedicate
a portion of that field, as a final resting place for those who here gave their lives that that
nation might live. It is altogether fitting and proper that we should do this."""
MISTYPED = (
    CLEAN.replace("brought", "brougth")
    .replace("conceived in", "concieved in")
    .replace("proposition", "propostion")
    .replace("endure", "enndure")
    .replace("portion", "poriton")
    .replace("resting", "ressting")
    .replace("altogether", "alltogether")
)
MISREAD = (
    CLEAN.replace("fathers", "fathcrs")
    .replace("continent", "contincnt")
    .replace("nation might", "natiou might")
    .replace("equal", "cqual")
    .replace("testing", "tcstlng")
    .replace("those who", "thosc who")
    .replace("fitting", "fittlng")
)
FOREIGN = {
    "de": "Die Arbeiter haben das Schieferdach am Turm der Kirche gestern noch repariert, aber die "
    "Vögel wollten nicht weichen, und so mussten sie am Ende die Arbeit wieder aufgeben.",
    "fr": "Les ouvriers qui essayaient de réparer le toit de la tour ont été attaqués par des "
    "moineaux et ils ont dû descendre et abandonner leur travail dans la vieille église.",
    "es": "Los obreros que intentaban reparar el tejado de la torre fueron atacados por gorriones "
    "y tuvieron que bajar y abandonar el trabajo en la vieja iglesia del pueblo.",
    "nl": "De werklieden die het dak van de toren wilden herstellen werden door mussen aangevallen "
    "en moesten naar beneden komen en het werk aan de oude kerk opgeven.",
    "ru": "Рабочие чинили крышу башни, но воробьи напали на них, и им пришлось спуститься.",
    "ja": "職人たちは塔の屋根を修理していたが、雀に襲われて降りた。",
}


def similarity(a: str, b: str, size: int = 3) -> float:
    return jaccard(shingle_hashes(a, size=size), shingle_hashes(b, size=size))


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


def test_a_dictionary_of_ones_own(tmp_path: Path) -> None:
    """A file of words, with frequencies or in order."""
    path = tmp_path / "words.txt"
    path.write_text("zemlja 500\nnebo 300\nvoda\n\n", encoding="utf-8")
    found = load_dictionary(str(path))
    assert found.words[0] == "voda"  # 1e6 / 3, by its place
    assert "nebo" in found
    path.write_text("Me\u0301lodie 9\nStra\u00dfe 5\n", encoding="utf-8-sig")
    assert load_dictionary(f"{tmp_path}/.//words.txt").words == ["m\u00e9lodie", "strasse"]
    path.write_text("Ma\u00dfe 9\nhaus 9.5\nmasse 1\n", encoding="utf-8")
    assert load_dictionary(f"{tmp_path}/././/words.txt").words == ["masse", "haus"]  # of 10 and 9.5
    path.write_text("nebo 0.002\nzemlja 1.5e-2\n", encoding="utf-8")
    assert load_dictionary(f"{tmp_path}/././words.txt").words == ["zemlja", "nebo"]
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="has no words"):
        load_dictionary(f"{tmp_path}/./words.txt")
    for count in ("0", "-0.5", "9" * 400):
        path.write_text(f"zemlja 500\nnebo {count}\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"words\.txt says in line 2 that 'nebo' occurs [-09]"):
            load_dictionary(f"{tmp_path}/./words.txt")
    for name in ("none.txt", "words\0.txt"):
        with pytest.raises(InputError, match="cannot be read"):
            load_dictionary(str(tmp_path / name))
    with pytest.raises(InputError, match="no dictionary for 'xx'"):
        load_dictionary("xx")


def test_a_line_of_a_file_that_is_no_word(tmp_path: Path) -> None:
    """Arrays are as wide as the longest word; what a file has between words may be pictures."""
    path = tmp_path / "words.txt"
    path.write_text(f"zemlja 500\n{'x' * 10**6} 9\nnebo 300\n", encoding="utf-8")
    assert load_dictionary(str(path)).words == ["zemlja", "nebo"]


async def test_an_index_tells_files_of_words_apart(redis_url: str, tmp_path: Path) -> None:
    """Words are added to a file, and its name stays; texts are corrected otherwise then."""
    path = tmp_path / "words.txt"
    path.write_text("zemlja 500\n", encoding="utf-8")
    config = DedupConfig(redis_url=redis_url, correct=f"typos:{path}")
    for _ in range(2):
        async with DuplicateIndex.open(config):
            pass
    path.write_text("zemlja 500\nnebo 300\n", encoding="utf-8")
    _load_dictionary.cache_clear()  # another process has none
    with pytest.raises(ParameterMismatch, match=r"correct: index typos:.*, words .*, settings "):
        async with DuplicateIndex.open(config):
            pass


def test_another_language() -> None:
    """wordfreq's dictionaries correct their own language and leave English alone."""
    text = FOREIGN["de"].replace("gestern", "gesstern")
    assert load_corrector("typos:de")(text) == FOREIGN["de"]
    assert load_corrector("typos:de")(MISTYPED) == MISTYPED


@pytest.mark.parametrize("name", ["typos", "dsound"])  # one after the other, with one dictionary
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Ich weiß, wie die große Straße heißt, die außerhalb am Fuß des Berges liegt."),
        ("de", "Er ließ die Füße ruhen und aß gemäß dem Brauch, weil es draußen heiß war."),
        ("el", "Η Αθήνα είναι μία από τις παλαιότερες πόλεις του κόσμου."),
        ("ro", "Oraşul este aşezat lângă munţi şi are o istorie bogată, iar oraşele lui sunt aşa."),
        ("tr", "İstanbul ve İzmir Türkiye'nin büyük şehirleri, İlk olarak bu iki şehir bilinir."),
        ("hi", "भारत एक विशाल देश है और इसकी राजधानी नई दिल्ली है। यहाँ के लोग कई भाषाएँ बोलते हैं।"),
    ],
)
def test_letters_of_other_languages(name: str, language: str, text: str) -> None:
    """Words in letters that dictionaries write otherwise, or not at all, are no errors."""
    assert normalise(load_corrector(f"{name}:{language}")(text)) == normalise(text)


def test_words_of_invisible_letters() -> None:
    """wordfreq lists some, as Hangul's fillers by themselves; they are no words."""
    assert "" not in load_dictionary("ja")  # the smallest of those that have any
    assert load_corrector("typos:ja")(MISTYPED) == MISTYPED


def test_the_setting() -> None:
    """DEDUP_CORRECT is a name, known before a dictionary is loaded; off by default."""
    assert DedupConfig().correct is None
    assert DedupConfig(correct="typos:de").correct == "typos:de"
    assert parse_setting("dsound") == ("dsound", "en")
    with pytest.raises(ConfigError, match="DEDUP_CORRECT expects one of typos, scans, bad-scans"):
        DedupConfig(correct="speling")


def test_corrected_copies_have_one_fingerprint() -> None:
    """The exact hash, too, is of the corrected text."""
    text = CLEAN.replace("testing", "testting").replace("endure", "enndure")
    plain, correcting = (Fingerprinter(DedupConfig(correct=name), 1) for name in (None, "typos"))
    assert plain(text).exact != plain(CLEAN).exact
    assert correcting(text) == correcting(CLEAN) == plain(CLEAN)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_ignored_is_ignored_with_every_corrector(name: str) -> None:
    """Nobody would know a URL, a month or an accent once its letters are strokes."""
    config = DedupConfig(correct=name, ignore="case,punctuation,accents,numbers,urls,reposts")
    text = "Señor Muñoz met the mayor of Curaçao on {}, and {} people came to see them: https://{}"
    one = text.format("3 May 2021", "1,204", "t.co/abc")
    other = text.format("October 28, 2019", "310", "example.com/q").replace("ñ", "n")
    fingerprint = Fingerprinter(config, 1)
    assert fingerprint(f"RT @lamp: {one}").exact == fingerprint(other).exact
    assert fingerprint(one).exact != fingerprint(one.replace("mayor", "queen")).exact


@pytest.mark.parametrize("name", ["typos", "scans", "dsound"])
@pytest.mark.parametrize(
    "written",
    [
        lambda text: text.replace("ffi", "\ufb03").replace("fi", "\ufb01"),
        lambda text: re.sub("([a-z]{4})([a-z]{4})", "\\1\u00ad\\2", text),
        lambda text: unicodedata.normalize("NFD", text),
    ],
)
def test_equal_words_are_corrected_alike(name: str, written: Callable[[str], str]) -> None:
    """With ligatures, soft hyphens or accents apart, too, whose halves are no words."""
    text = (
        "The naïve fiancé of the official had confirmed at the office that the significant résumé "
        "was recieved, and befor the soirée at the château he was satisfied with thier findings. "
    )
    correct = load_corrector(name)
    assert normalise(correct(written(text))) == normalise(correct(text))


def test_soft_hyphens_at_line_ends_are_seen() -> None:
    """There a word is broken, as with any other hyphen."""
    broken = (
        "The ferry leaves in the evening and arrives at the har-\nbour before mid-\nnight. All are "
        "asked to receive their tickets at the of-\nfice before board-\ning, for there is a line."
    )
    correct = load_corrector("typos")
    assert "midnight" in correct(broken)
    assert normalise(correct(broken.replace("-", "\u00ad"))) == normalise(correct(broken))


def test_no_dictionary_is_loaded_unless_wanted() -> None:
    """Importing the package and checking the setting load none of the libraries."""
    code = (
        "import sys, crawler.dedup as d; d.DedupConfig(correct='typos');"
        "print(*{'symspellpy', 'wordfreq', 'rapidfuzz', 'jellyfish'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not run.stdout.strip()


@pytest.mark.parametrize("name", ["typos", "scans", "dsound"])
@settings(deadline=None, max_examples=60)
@given(text=st.text())
def test_any_text(name: str, text: str) -> None:
    """No text raises."""
    assert isinstance(load_corrector(name)(text), str)


@settings(deadline=None, max_examples=40)
@given(junk=st.text(max_size=12), place=st.integers(0, len(CLEAN)))
def test_junk_in_an_english_page(junk: str, place: int) -> None:
    """Whatever stands in it, the page is still nearly the same afterwards."""
    page = CLEAN[:place] + junk + CLEAN[place:]
    assert similarity(page, load_corrector("typos")(page)) > 0.8


def junk(count: int) -> list[str]:
    """Words that nobody knows, each another."""
    letters = str.maketrans("0123456789", "etaonrishd")
    return [f"{number * 7919:07}".translate(letters) for number in range(count)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a" * 1_000_000, id="a word"),
        pytest.param("\0" * 1_000_000, id="NULs"),
        pytest.param("\ud800" * 100_000, id="surrogates"),
        pytest.param("the " + "é" * 900_000, id="accents"),
        pytest.param("don’t " * 160_000, id="apostrophes"),
        pytest.param(" ".join(junk(100_000)), id="unknown words"),
        pytest.param(" ".join(f"the of and to {word}" for word in junk(2_000)), id="a few unknown"),
        pytest.param(" ".join(f"the of and to {word}" for word in junk(40_000)), id="many unknown"),
        pytest.param("the of " * 70_000 + "abcdefgh\u0301 " * 1000, id="marks"),
    ],
)
@pytest.mark.parametrize("name", ["typos", "dsound"])
def test_hostile_pages(name: str, text: str) -> None:
    """A megabyte of anything is done within seconds."""
    correct = load_corrector(name)
    correct(MISTYPED)
    start = time.process_time()
    correct(text)
    assert time.process_time() - start < 5
