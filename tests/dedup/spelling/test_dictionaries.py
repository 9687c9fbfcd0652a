"""Dictionaries of one's own and of other languages, and any text."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dedup import (
    ConfigError,
    DedupConfig,
    DuplicateIndex,
    ParameterMismatch,
)
from crawler.dedup.errors import InputError
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.spelling.correction import (
    NAMES,
    load_corrector,
    parse_setting,
)
from crawler.dedup.spelling.dictionary import _load_dictionary, load_dictionary
from tests.dedup.spelling.mistyped import CLEAN, FOREIGN, MISTYPED, normalise, similarity


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
