"""What is compiled for the words of a text writes what numpy does, to the last byte."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.dedup.text import marks
from crawler.dedup.text import normaliser as rules
from crawler.dedup.text.normaliser import Normaliser, single_spaced
from tests.dedup.text.test_text import TRICKY

if not rules.COMPILED:
    pytest.skip("not compiled here: python hatch_build.py", allow_module_level=True)
from crawler.dedup.text._normaliser import encode

# Of those that are remembered, all but the bulk of Han, Hangul, Tangut, private and free ones.
ALIKE = (
    *(range(0x3500, 0x4D00), range(0x4F00, 0x9F00), range(0xAD00, 0xD700), range(0xE100, 0xF800)),
    *(range(0x12600, 0x14300), range(0x17100, 0x18C00)),
)
# Most of what pages are written in, and what is next to it: tables end, letters compose, fold,
# decompose to several or stand alone.
COMMON = st.characters(max_codepoint=0x1FFF0, exclude_categories=("M", "Cn", "Co"))
EDGES = st.sampled_from(
    "a東\u1100\u1161\u11a8각ㄱㅏǰİΐﬃ½㌀㋿ﷺ´¨゛ﾞ\u200d\ufe0f\U00016d67\U0001d7ff\U0001ffff\U00020000"
)


@cache
def every_char() -> list[str]:
    """The characters that each test of all of them looks at."""
    return [
        chr(point)
        for point in range(0x1FFF0)
        if not any(point in bulk for bulk in ALIKE) and unicodedata.category(chr(point)) != "Cn"
    ]


def by_itself(char: str) -> bytes | None:
    return encode(char, rules._by_itself)


def by_numpy(text: str) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "COMPILED", False)
        return single_spaced(Normaliser().encode(text))


SIGNS = Normaliser(keep_signs=True)
SIGNIFICANT = st.text(
    "aZ_9 5--++<>=.,:/–—−★▲✓●$€\n\t\r\xa0\u3000\u200b\xad"
    "½℃＋￥－５。東ñ´…’|~😀\u2028✔\ufe0f\u0301⒈ʼ[(³٣%‰°′″‴#♯♭＃*＊&＆!！？?‼⁉‥～؟†〃㋀⑩㎏♘˥",
    max_size=60,
)
# The same more densely: lines of few signs, and what is told by its neighbours.
OPERATORS = st.text("a9 \n=!<>&|#*%°′″℃…?-–‼＝", max_size=20)


@given(SIGNIFICANT | OPERATORS | TRICKY)
def test_signs_and_marks_are_found_alike(text: str) -> None:
    """Whether a sign is a word, and where there may be marks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "COMPILED", False)
        expected = single_spaced(SIGNS.encode(text))
    assert single_spaced(SIGNS.encode(text)) == expected
    assert marks.places(text) == marks.find_places(text)


@pytest.mark.parametrize("around", ["1{}2", "-{}5", "★\n{}\n★"])
def test_every_character_is_written_alike_beside_signs(around: str) -> None:
    chars = [
        char for char in every_char() if encode(char, rules._by_itself_signs, True) is not None
    ]
    for start in range(0, len(chars), 1 << 13):
        text = "\n q \n".join(map(around.format, chars[start : start + (1 << 13)]))
        found = encode(text, rules._by_itself_signs, True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rules, "COMPILED", False)
            assert found == single_spaced(SIGNS.encode(text))


def both_agree(text: str) -> bool:
    return single_spaced(Normaliser().encode(text)) == by_numpy(text)


@pytest.mark.parametrize("around", ["a{}a", "東{}東", "!{}", "{}é"])
def test_every_character_is_written_alike(around: str) -> None:
    """All that is taken one by one, whatever it stands between; the others would hide it."""
    chars = [char for char in every_char() if by_itself(char) is not None]
    for start in range(0, len(chars), 1 << 14):
        text = " ".join(map(around.format, chars[start : start + (1 << 14)]))
        found = encode(text, rules._by_itself)
        assert found is not None
        assert found == by_numpy(text)


def test_nothing_is_taken_one_by_one_that_combines_with_what_is_before_it() -> None:
    """Second halves of composed characters, Hangul's by the rule that composes them."""
    halves = (unicodedata.decomposition(chr(point)).split() for point in range(sys.maxunicode + 1))
    seconds = {chr(int(both[1], 16)) for both in halves if len(both) == 2 and both[0][0] != "<"}
    seconds.update(map(chr, chain(range(0x1161, 0x1176), range(0x11A8, 0x11C3))))
    for char in every_char():
        if by_itself(char):
            folded = unicodedata.normalize("NFKC", char).casefold()
            for form in (char, folded):
                assert unicodedata.normalize("NFKD", form)[0] not in seconds


@given(TRICKY | st.text(COMMON | EDGES, max_size=60))
@example("")
@example("  ")
@example("\u200b")
@example("東")
@example("\ud800東\udfff\ud83d\ude00")
def test_texts_are_written_alike(text: str) -> None:
    assert both_agree(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ångström İstanbul Straße “naïve”—it´s 5 € 😀 ﬁn ½",
        "Ελληνικά, русский язык й; עברית العربية, كتــاب کتابی",
        "東京タワー、ひらがな 中文。 한국어 ㅋㅋ ＡＢＣ",
    ],
)
def test_most_languages_are_taken_one_character_at_a_time(text: str) -> None:
    assert encode(text, rules._by_itself) == by_numpy(text)


@pytest.mark.parametrize(
    "text", ["cafe\u0301", "ﾊﾞ", "हिन्दी", "ب\ufe77", "\u1100\u1161", "㍿", "\U00020000"]
)
def test_neighbours_have_a_say(text: str) -> None:
    assert encode(text, rules._by_itself) is None
    assert both_agree(f"a{text}b")


@given(st.lists(st.sampled_from([b" ", b"a", b"\xc3\xa9"]), max_size=80).map(b"".join))
def test_single_spaced_is_the_same(encoded: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rules, "COMPILED", False)
        expected = single_spaced(encoded)
    assert single_spaced(encoded) == expected


@pytest.mark.parametrize("unit", ["ü", "ü ", "a" * 63 + "中", "中a", " \n", "e\u0301 "])
def test_long_texts_are_written_alike(unit: str) -> None:
    """Around the length from which on texts are cut, and beyond it."""
    for size in (rules._PIECE, rules._PIECE + 1, 3 * rules._PIECE):
        assert both_agree((unit * size)[:size])


def test_an_error_on_the_way_is_passed_on() -> None:
    """Nothing is remembered of the character that it came from."""

    def fails(char: str) -> bytes:
        raise MemoryError(char)

    chars = "".join(map(chr, range(0x1FFF0, 0x20000)))  # some are in no other test
    with pytest.raises(MemoryError):
        encode(chars, fails)
    assert both_agree(chars)
