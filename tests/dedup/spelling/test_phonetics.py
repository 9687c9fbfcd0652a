"""Phonetic codes give what their authors published."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.errors import MissingExtra
from crawler.dedup.spelling.phonetics import (
    CODES,
    double_metaphone,
    dsound,
    phonex,
    phonix,
    soundex,
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Rodgers", "602062"),  # the paper, section III B
        ("Rogers", "602062"),
        ("Houghton", "0305"),  # named in Table I for -gh-
        ("Attention", "0305205"),  # named in Table I for -tio-
        ("knight", "503"),
        ("xenon", "20505"),
        ("whale", "040"),
        ("write", "6030"),
        ("aether", "0306"),
        ("", ""),
        ("東京", ""),
    ],
)
def test_dsound(word: str, expected: str) -> None:
    """Table I, with the examples that it and the text name."""
    assert dsound(word) == expected


@pytest.mark.parametrize(
    "pair", [("knot", "not"), ("gnome", "nome"), ("pneumatic", "neumatic"), ("wrap", "rap")]
)
def test_dsound_drops_silent_first_letters(pair: tuple[str, str]) -> None:
    """Step 1 of Table I."""
    assert dsound(pair[0]) == dsound(pair[1])


@pytest.mark.parametrize("name", sorted(CODES))
@pytest.mark.parametrize(
    "pair",
    [("Łódź", "Lodz"), ("Straße", "Strasse"), ("Øresund", "Oresund"), ("ÆTHER", "aether")],
)
def test_latin_letters_beyond_z(name: str, pair: tuple[str, str]) -> None:
    """No letter of a word is lost, for a first one above all."""
    assert CODES[name](pair[0]) == CODES[name](pair[1]) != ""


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Rodgers", "R326"),  # the DSound paper
        ("Rojers", "R262"),
        ("Robert", "R163"),  # US National Archives
        ("Rupert", "R163"),
        ("Tymczak", "T522"),
        ("Pfister", "P236"),
        ("Ashcraft", "A261"),
    ],
)
def test_soundex(word: str, expected: str) -> None:
    """Codes of the US National Archives and of the DSound paper."""
    assert soundex(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Ewell", "A400"),
        ("Filp", "F100"),
        ("Heames", "A500"),
        ("Kneves", "N100"),
        ("River", "R160"),
        ("Corley", "C400"),
        ("Carton", "C350"),
        ("Cachpole", "C214"),
        ("Saxon", "S250"),
        ("Wright", "R230"),
        ("Camden", "C500"),
        ("Ganges", "G500"),
        ("h", ""),
    ],
)
def test_phonex(word: str, expected: str) -> None:
    """Names of Lait and Randell's assessment, and others that libraries agree on."""
    assert phonex(word) == expected


@pytest.mark.parametrize(
    "pair",
    [
        ("Ewell", "Ule"),
        ("Filp", "Philp"),
        ("Yule", "Ewell"),
        ("Heames", "Eames"),
        ("Kneves", "Neves"),
        ("River", "Rivers"),
        ("Corley", "Coley"),
        ("Carton", "Carlton"),
        ("Cachpole", "Catchpole"),
    ],
)
def test_phonex_matches_variants(pair: tuple[str, str]) -> None:
    """The variants that Lait and Randell wanted to match."""
    assert phonex(pair[0]) == phonex(pair[1])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Müller", "M400"),
        ("schneider", "S530"),
        ("fischer", "F800"),
        ("wagner", "W250"),
        ("schulz", "S480"),
        ("hoffmann", "H755"),
        ("computer", "K513"),
        ("pfeifer", "F700"),
        ("knight", "N300"),
        ("night", "N300"),
        ("gnome", "N500"),
        ("noam", "N500"),
        ("reece", "R800"),
        ("yaeger", "V200"),
        ("berkpakaian", "B212"),
        ("capaian", "K150"),
        ("stephen", "S375"),
        ("steve", "S370"),
        ("smythe", "S530"),
        ("christine", "K683"),
        ("kristina", "K683"),
    ],
)
def test_phonix(word: str, expected: str) -> None:
    """Codes of WAIS, of CPAN's Text::Phonetic and of papers that print some."""
    assert phonix(word) == expected


@pytest.mark.parametrize(
    ("word", "expected"), [("Thomas", "TMS"), ("Smith", "SM0"), ("Schmidt", "XMT"), ("", "")]
)
def test_double_metaphone(word: str, expected: str) -> None:
    """Philips' examples."""
    assert double_metaphone(word) == expected


@pytest.mark.parametrize("name", CODES)
@given(word=st.text())
def test_no_word_raises(name: str, word: str) -> None:
    """Any text has a code, case does not matter, and only Latin letters count."""
    found = CODES[name](word)
    assert found.isascii()
    assert found == CODES[name]("1" + word) or len(word) >= 64


@pytest.mark.parametrize("name", CODES)
def test_a_megabyte_in_one_word(name: str) -> None:
    """Its code is that of its beginning."""
    assert CODES[name]("tschgh" * 200_000) == CODES[name]("tschgh" * 20)


@pytest.mark.parametrize(
    ("name", "library"), [("soundex", "jellyfish"), ("metaphone", "doublemetaphone")]
)
def test_a_library_that_is_missing(
    name: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=r"pip install .*jellyfish"):
        CODES[name]("word")
