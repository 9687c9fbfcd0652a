"""Words are what a person would call the same words, whatever the bytes."""

import re
import unicodedata

import pytest
from bs4 import BeautifulSoup
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from crawler.dedup.text.characters import one_writing
from crawler.dedup.text.normaliser import Normaliser, single_spaced
from crawler.dedup.text.segmentation import make_segmenter

normalise, words = Normaliser(), Normaliser().words

# Every kind of character the tables tell apart, mixed more densely than chance would.
TRICKY = st.text(
    st.sampled_from(
        "aZ_9 é\u0301\u0308\u0345ßİıΣςǅﬁ½²´’“—\xa0\xad\u200b\u200d\u202e\u2066\ufeff\ufe0f\u034f"
        "東京タﾀーกำี๑ကា한글\u1160\uffa0हिन्दीمُحَمَّدשָׁ٣🙂\u20e3\x00\x1f\ud800\udfff\U000e0041ﷺ\U00020000"
    )
    | st.characters(),
    max_size=60,
)
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u1b00-\u1b7f\u2e80-\u2fdf"
    "\u3005-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua980-\ua9ff\uaa60-\uaadf\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U00033479]"
)
IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    return "".join(
        char
        for char in text
        if not IGNORABLE.match(char) and unicodedata.category(char) not in ("Cf", "Me")
    )


def reference(text: str) -> list[str]:
    """The rules of Normaliser, one character at a time."""
    text = one_writing(unicodedata.normalize("NFKC", visible(text)))
    text = unicodedata.normalize("NFKC", text.casefold())
    found = [""]
    alone = False
    for char in visible(text):
        is_letter = (char.isalnum() or char == "_") and char not in "\u02bb\u02bc\u02bd"
        if is_letter and UNSPACED.match(char):
            found.append(char)
            alone = True
        elif is_letter:
            if alone:
                found.append("")
            found[-1] += char
            alone = False
        elif unicodedata.category(char) in ("Mn", "Mc") and found[-1]:
            found[-1] += char
        else:
            found.append("")
            alone = False
    return [word for word in found if word]


@given(TRICKY)
@example("it´s")
@example("a\u0301\u200b\u0323")
@example("\u0e33\u0e31")
@example("ΐ\u0345")
@example("ൺ")
@example("a\u02bbb \u02bc")
def test_words_follow_the_rules_one_character_at_a_time(text: str) -> None:
    assert words(text) == reference(text)


@given(TRICKY)
def test_normalised_text_is_normal(text: str) -> None:
    once = normalise(text)
    assert words(once) == once.split(" ") if once else not words(once)


@given(st.text(st.characters(max_codepoint=0x24F, categories=("L", "N", "P", "Z")), max_size=80))
def test_latin_text_has_the_words_a_regular_expression_finds(text: str) -> None:
    lower = text.lower()
    # Ligatures, ß, dotted İ and ș are where normalising must do better than lower-casing.
    if unicodedata.normalize("NFKC", text) == text and lower == text.casefold() and "İ" not in text:
        assert words(text) == re.findall(r"\w+", one_writing(lower))


@given(st.text(max_size=40), st.integers(0, 40))
@pytest.mark.parametrize("invisible", ["\u200b", "\u00ad", "\u200d", "\ufeff", "\u202e", "\u2069"])
def test_invisible_characters_split_nothing(invisible: str, text: str, place: int) -> None:
    assert words(text[:place] + invisible + text[place:]) == words(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("\x00\x1f\ud800\udfff", ""),
        ("a\x00b\ud800c", "a b c"),
        ("don’t “quote” me—ever…", "don t quote me ever"),
        ("cafe\u0301 = CAFÉ", "café café"),
        ("Ｆｕｌｌ width ﬁt", "full width fit"),
        ("ΌΣΟΣ", "όσοσ"),
        ("snake_case x2", "snake_case x2"),
        ("เขียนไทย 2024", "เ ขี ย น ไ ท ย 2024"),
        ("中文abc中", "中 文 abc 中"),
        ("한국어 문서", "한국어 문서"),
        ("हिन्दी में", "हिन्दी में"),
        ("مُحَمَّد رسول", "مُحَمَّد رسول"),
        ("كتــابٌ", "كتابٌ"),
        ("کتابی یک على", "كتابي يك علي"),
        ("۱۴۰۵ ٢٠٢٦ १२ ৭ 𝟙 ２²", "1405 2026 12 7 1 22"),
        ("Știință și ȚARĂ, ştiinţă şi ţară", "ştiinţă şi ţară ştiinţă şi ţară"),
        ("м\u02bcята Oʻzbek, м'ята O’zbek", "м ята o zbek м ята o zbek"),
        ("അവൻ അവന്\u200d", "അവന് അവന്"),
        ("সৎ সত্\u200d", "সত্ সত্"),
        ("שלום עולם", "שלום עולם"),
    ],
)
def test_words_of_many_scripts(text: str, expected: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFKC", expected)


@pytest.mark.parametrize(
    ("normaliser", "text", "expected"),
    [
        (Normaliser(fold_case=False), "A Rose", "A Rose"),
        (Normaliser(fold_case=False), "ى\u0654 ئ", "ئ ئ"),
        (Normaliser(drop_punctuation=False), "isn't it?", "isn ' t it ?"),
        (Normaliser(drop_punctuation=False), "м\u02bcята", "м ʼ ята"),
        (Normaliser(fold_numbers=True), "۱۲٫۵ und ١٢", "0 und 0"),
        (Normaliser(fold_accents=True), "Ångström, naïve; café", "angstrom naive cafe"),
        (Normaliser(fold_accents=True), "مُحَمَّد", "محمد"),
        (Normaliser(fold_accents=True), "كتــابٌ ﹷ", "كتاب"),
        (Normaliser(fold_accents=True), "हिन्दी", "हिन्दी"),
        (Normaliser(fold_accents=True), "각", "각"),
        (Normaliser(fold_numbers=True), "Page 3 of 12, 1.5 %", "page 0 of 0 0"),
        (Normaliser(fold_numbers=True), "may 2024, you may", "0 you may"),
        (Normaliser(fold_numbers=True), "March 3, 2021", "0"),
        (Normaliser(fold_numbers=True), "March 3rd, 2021 at 5:30 pm", "0 at 0"),
        (Normaliser(fold_numbers=True), "2nd place, 7 A.M. start, 3 PMs", "0 place 0 start 0 pms"),
        (Normaliser(fold_numbers=True), "1½ or ¼, ２０\u200b２４", "0 or 0 0"),
        (Normaliser(fold_numbers=True), "Fr. 1'234.50, 1’000’000 Leute", "fr 0 0 leute"),
        (Normaliser(fold_numbers=True), "١٬٢٣٤٫٥ و ٣/٥/٢٠٢١", "0 و 0"),
        (Normaliser(drop_reposts=True), "RT \u2068@name\u2069: so true", "so true"),
        (Normaliser(drop_urls=True), "see https://example.com/a?b=c#d now", "see now"),
        (Normaliser(drop_urls=True), "看HTTPS://t.cn/aB3?c今天，www.a.cn。明天", "看 今 天 明 天"),
        (Normaliser(drop_urls=True), "https://de.wikipedia.org/wiki/Zürich ist groß", "ist gross"),
        (Normaliser(drop_reposts=True), "RT @a: MT @b so true via @c_d", "so true"),
        (Normaliser(drop_reposts=True), "RT: so true", "so true"),
        (Normaliser(drop_reposts=True), "RT @张三: 好 via @josé，rt @a_b今天", "好 今 天"),
        (Normaliser(drop_reposts=True), "art via train", "art via train"),
        (Normaliser(segment=lambda run: re.findall("..?", run)), "東京都庁", "東京 都庁"),
    ],
)
def test_settings_make_texts_equal(normaliser: Normaliser, text: str, expected: str) -> None:
    assert normaliser(text) == expected


SIGNS = Normaliser(keep_signs=True)


@pytest.mark.parametrize(
    "texts",
    [
        ["5%", "5‰", "5°", "5′", "5″", "5"],
        ["in C", "in C#", "in C++", "in C♭"],
        ["1. ♘f2", "1. ♗f2", "1. f2"],
        ["ma˥", "ma˩", "ma"],
        ["A♠ K♥ 2♦", "A♥ K♠ 2♦", "A♣ K♥ 2♦", "A K 2"],
        ["Papilio machaon ♂, Berlin", "Papilio machaon ♀, Berlin"],
        ["You rolled ⚀ and ⚅", "You rolled ⚅ and ⚀"],
        ["⠓⠑⠇⠇⠕ ⠺⠕⠗⠇⠙ " * 5, "⠺⠕⠗⠇⠙ ⠓⠑⠇⠇⠕ " * 5, "⠓⠑⠇⠇⠕ " * 5],
        ["r = -.45", "r = −.54", "r = .45", "r = 45"],
        ["(p<.05)", "(p > .05)", "(p .05)", "(p 05)"],
        ["-$.50", "$.50"],
        ["p *", "p\n*", "p\n**", "p\n*****"],
        ["p\n0.2*", "p\n0.2**", "p\n0.2***"],
        ["a && b", "a || b", "a b"],
        ["a == b", "a != b", "a <= b", "a >= b", "a = b"],
        ["if !x", "if x"],
        ["p\n· –", "p\n– ·", "p"],
        *(["p", *(f"p\n{sign}\nq" for sign in "?!#–%&|§†^~")],),
    ],
)
def test_signs_that_carry_meaning_are_told_apart(texts: list[str]) -> None:
    assert len({SIGNS(text) for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("100% sure", "100 % sure"),
        ("20 °C", "20℃"),
        ("F♯ and C＃", "F# and C#"),
        ("4♡, 5♢", "4♥ 5♦"),
        ("See fig.5 … .\n. ...5", "See fig 5 5"),
        ("5′ 3″", "5′ 3′′"),
        ("Yes — or “no”… What? Wow!", "Yes or 'no' ... What?! Wow"),
        ("Usage# of it, see #5 & more", "Usage of it, see 5 more"),
        ("== Usage ==\nx = 1\n=====\n-----", "Usage\nx 1"),
        ("• a\n* b\n- c | d", "a\nb\nc / d"),
        (" *\n * a\n *\n * b", "a\nb"),
        ("#\n# a\n#\n#\n# b", "a\n\n#\nb"),
        ("/*\n * a\n *\n */\nb", "a\nb"),
        ("This* is **bold** ¶", "This is bold"),
        ("p\n–", "p\n—"),
        ("Ja!\n**********\nNein!", "Ja\nNein"),
    ],
)
def test_signs_of_prose_make_no_difference(one: str, other: str) -> None:
    assert SIGNS(one) == SIGNS(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Integrate x² + x³ + x⁴ now", "Integrate x³ + x⁴ + x⁵ now"),
        ("Values of 10¹, 10² and 10³ m", "Values of 10⁴, 10⁵ and 10⁶ m"),
        ("Ions: M¹⁺ X²⁻ Z³⁺", "Ions: M²⁺ X³⁻ Z⁴⁺"),
    ],
)
def test_exponents_are_no_notes(one: str, other: str) -> None:
    marks = Normaliser(keep_signs=True, drop_marks=True)
    assert marks(one) != marks(other)
    assert marks("So it said¹ then,² of vitamin C,³ or C⁴") == "so it said then of vitamin c or c"


@pytest.mark.parametrize(
    "line",
    [
        *("{}日はうどんです。", "{}月每天九点开门。", "{}일은 국수입니다.", "{} พฤษภาคม มีข้าวแกง"),
        *("{} мая подаём щи.", "{} مايو نقدم الحساء.", "{} मई को दाल मिलेगी।", "{} (月) うどん"),
        *("{} May: soup.", "{} Μαΐου: σούπα."),
    ],
)
def test_dates_that_begin_lines_are_no_verse_numbers(line: str) -> None:
    """The same follows all of them. The weeks of one menu differ in nothing else."""
    marks = Normaliser(keep_signs=True, drop_marks=True)
    one, other = ("\n".join(map(line.format, days)) for days in ((1, 2, 3, 4), (8, 9, 10, 11)))
    assert marks(one) != marks(other)
    verses = ("{}初めに、神が", "{}地は混沌で", "{}神は言われた", "{}神は光を見た")
    assert "1" not in marks("\n".join(map(str.format, verses, range(1, 5))))


def test_pages_that_differ_in_dates_and_counters_can_be_made_equal() -> None:
    a = "Posted 3 May 2021 at 10:15. Seen 1,204 times. Next: December 1, 2021."
    b = "Posted 28 Sept. 2023 at 7:02. Seen 9 times. Next: Jan 31, 2024."
    numbers = Normaliser(fold_numbers=True)
    assert numbers(a) == numbers(b)
    assert normalise(a) != normalise(b)


@given(TRICKY)
def test_forms_of_unicode_are_equal_under_every_setting(text: str) -> None:
    for normaliser in (Normaliser(), Normaliser(fold_numbers=True, drop_reposts=True)):
        for form in ("NFC", "NFD", "NFKC"):
            assert normaliser(unicodedata.normalize(form, text)) == normaliser(text)


@given(TRICKY)
def test_every_setting_takes_every_text(text: str) -> None:
    for normaliser in (
        Normaliser(fold_case=False),
        Normaliser(drop_punctuation=False),
        Normaliser(fold_accents=True),
        Normaliser(fold_numbers=True, drop_urls=True, drop_reposts=True),
        Normaliser(segment=make_segmenter("icu")),
    ):
        assert "  " not in normaliser(text)


def test_a_long_text_is_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Füße und Hände, 東京 " * 50
    whole = normalise(text)
    monkeypatch.setattr("crawler.dedup.text.normaliser._PIECE", 64)
    assert normalise(text) == whole
    assert len(normalise("ü" * 1000).replace(" ", "")) == 1000  # nowhere to cut


def test_a_page_of_combining_marks_is_not_sorted_for_hours() -> None:
    assert len(normalise("a" + "\u0316\u0301" * 200_000)) <= 31


@given(st.lists(st.sampled_from([b" ", b"  ", b"a", b"\xc3\xa9"])).map(b"".join))
def test_single_spaced_parts_the_same_words(encoded: bytes) -> None:
    assert single_spaced(encoded) == b" ".join(encoded.split())


def test_strings_of_other_classes():
    """What lxml's XPath and Beautiful Soup find are strings of classes of their own."""
    page = "<p>To be"
    for text in etree.HTML(page).xpath("string()"), BeautifulSoup(page, "lxml").p.string:
        assert type(text) is not str
        assert words(text) == ["to", "be"]
