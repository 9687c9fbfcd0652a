"""Languages without spaces: by letter, by a segmenter, and what a segmenter is given."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from crawler.dedup import ConfigError, DedupConfig, DuplicateIndex, Kind, ParameterMismatch
from crawler.dedup.analysis.comparison import compare_texts
from crawler.dedup.errors import MissingExtra
from crawler.dedup.fingerprint import make_sketcher
from crawler.dedup.text.normaliser import Normaliser
from crawler.dedup.text.segmentation import make_segmenter

# Universal Declaration of Human Rights, articles 1 and 3.
DECLARATION = {
    "Chinese": (
        "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。",
        "人人有权享有生命、自由和人身安全。",
    ),
    "Japanese": (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
        "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
        "すべて人は、生命、自由及び身体の安全に対する権利を有する。",
    ),
    "Thai": (
        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม "
        "และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
        "บุคคลมีสิทธิในการดำเนินชีวิต ในเสรีธรรม และในความมั่นคงแห่งร่างกาย",
    ),
    "Khmer": (
        "មនុស្សទាំងអស់ កើតមកមានសេរីភាព និងសមភាព ក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។ មនុស្ស "
        "មានវិចារណញ្ញាណនិងសតិសម្បជញ្ញៈជាប់ពីកំណើត ហើយគប្បីប្រព្រឹត្ដចំពោះគ្នាទៅវិញទៅមក "
        "ក្នុងស្មារតីភាតរភាពជាបងប្អូន។",
        "មនុស្សម្នាក់ៗមានសិទ្ធិរស់រានមានជីវិត មានសេរីភាព និងមានសន្ដិសុខផ្ទាល់ខ្លួន។",
    ),
}


@pytest.mark.parametrize(
    ("language", "known"),
    [
        ("Chinese", {"自由", "尊严", "权利", "平等", "兄弟", "精神"}),
        ("Japanese", {"人間", "自由", "尊厳", "権利", "平等", "行動"}),
        ("Thai", {"มนุษย์", "อิสระ", "สิทธิ", "เหตุผล", "ปฏิบัติ"}),
        ("Khmer", {"មនុស្ស", "ទាំងអស់", "សេរីភាព", "សិទ្ធិ", "បងប្អូន"}),
    ],
)
def test_icu_finds_the_words(language: str, known: set[str]) -> None:
    """Words of the dictionary stand alone, and no letter is lost."""
    text, _ = DECLARATION[language]
    words = Normaliser(segment=make_segmenter("icu")).words(text)
    letters = Normaliser().words(text)
    assert known <= set(words)
    assert "".join(words) == "".join(letters)
    assert len(words) < 0.8 * len(letters)


@pytest.mark.parametrize("segment", [None, "icu"])
@pytest.mark.parametrize("language", DECLARATION)
async def test_a_copy_is_found(redis_url: str, language: str, segment: str | None) -> None:
    """By letter and by word, a copy with a date added is near, and another article is not."""
    one, other = DECLARATION[language]
    config = DedupConfig(redis_url=redis_url, segment=segment, shingle_size=3)
    async with DuplicateIndex.open(config) as index:
        assert (await index.check("http://a/1", one)).kind is Kind.UNIQUE
        assert (await index.check("http://b/1", one + " 1948-12-10")).kind is Kind.NEAR
        assert (await index.check("http://a/3", other)).kind is Kind.UNIQUE


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "เมื่อวันเสาร์ที่ผ่านมา ที่จังหวัดเชียงใหม่มีการเปิดนิทรรศการของเล่นไม้ซึ่งรวบรวมจากหมู่บ้านในภาคเหนือ"
            "ตลอดสี่สิบปีที่ผ่านมา ผู้เข้าชมสามารถชมของกว่าสามร้อยชิ้น ทั้งม้าไม้ ตุ๊กตา นกหวีด และเลื่อนแกะสลัก "
            "ผู้อำนวยการพิพิธภัณฑ์ นางสาวอรทัย ใจดี กล่าวว่าของเล่นชิ้นที่เก่าแก่ที่สุดทำขึ้นเมื่อปี พ.ศ. 2417",
            {"เชียงใหม่": "ขอนแก่น", "อรทัย ใจดี": "สมชาย รักไทย"},
        ),
        (
            "កាលពីថ្ងៃសៅរ៍ ពិព័រណ៍ប្រដាប់ក្មេងលេងធ្វើពីឈើបានបើកនៅខេត្តសៀមរាប ដែលបានប្រមូលពីភូមិនានា"
            "ក្នុងរយៈពេលសែសិបឆ្នាំចុងក្រោយ។ អ្នកទស្សនាអាចឃើញវត្ថុជាងបីរយ រួមមានសេះឈើ តុក្កតា និងកញ្ចែ។ "
            "នាយិកាសារមន្ទីរបាននិយាយថា ប្រដាប់ក្មេងលេងចាស់ជាងគេធ្វើនៅឆ្នាំ ១៨៧៤។ កុមារចូលមើលដោយឥតគិតថ្លៃ។",
            {"សៀមរាប": "កំពត", "១៨៧៤": "១៩២១"},
        ),
    ],
    ids=["Thai", "Khmer"],
)
def test_longer_runs_tell_other_facts(text: str, facts: dict[str, str]) -> None:
    """Words, or a dozen letters, part texts that five letters take for copies."""
    other = text
    for fact, instead in facts.items():
        other = other.replace(fact, instead)
    assert compare_texts(text, other, DedupConfig(seed=1)).verdict is Kind.NEAR
    for config in (DedupConfig(seed=1, segment="icu"), DedupConfig(seed=1, shingle_size=12)):
        assert compare_texts(text, other, config).verdict is Kind.UNIQUE


def test_a_zero_width_space_between_words_changes_nothing() -> None:
    """Some sites help browsers to break lines; their texts are the same."""
    segment = make_segmenter("icu")
    words = Normaliser(segment=segment)
    for text, _ in DECLARATION.values():
        assert words("\u200b".join(segment(text))) == words(text)


@pytest.mark.parametrize(
    ("text", "same", "known"),
    [
        (
            "葛城市の神社でコンピュータを使う。",
            "葛\U000e0100城市の神\ufe00社でｺﾝﾋﾟｭｰﾀを使う。",
            "神社",
        ),
        ("東京都庁で働く人", "\u2066東\u200e京都庁\u2069で働\u200fく人", "働く"),
        ("ฉันดื่มน้ำตาล", "ฉันดื่มน้\u0e4d\u0e32ตาล", "น้ำตาล"),
        ("ໜັງສືພິມຢູ່ນຳພວກໝໍ", "ຫນັງສືພິມຢູ່ນ\u0ecd\u0eb2ພວກຫມໍ", "ໝໍ"),
    ],
    ids=["variants", "directions", "Thai", "Lao"],
)
def test_one_text_in_two_writings_has_one_cut(text: str, same: str, known: str) -> None:
    """Letters in another form, or with what nobody sees, are cut as the dictionary has them."""
    for fold_numbers in (False, True):
        words = Normaliser(segment=make_segmenter("icu"), fold_numbers=fold_numbers).words
        assert words(same) == words(unicodedata.normalize("NFD", text)) == words(text)
        assert unicodedata.normalize("NFKC", known) in words(text)


def test_a_segmenter_is_given_runs_of_unspaced_letters_only() -> None:
    """Words that have spaces around them are not its business; no run is long."""
    given: list[str] = []

    def segment(run: str) -> list[str]:
        given.append(run)
        return [run[:3], run[3:]]

    found = Normaliser(segment=segment)("Tokyo (東京都庁) 2024, 한국어: " + "人" * 2500)
    assert given == ["東京都庁", "人" * 1000, "人" * 1000, "人" * 500]
    assert found.startswith("tokyo 東京都 庁 2024 한국어 人人人 人人")


def test_a_function_or_its_path_may_be_given() -> None:
    for segment in ("rjieba.cut", make_segmenter("rjieba.cut")):
        config = DedupConfig(segment=segment)
        words = make_sketcher(config, seed=1).shingler.normaliser.words("清华大学在北京")
        assert words == ["清华大学", "在", "北京"]


@pytest.mark.parametrize("path", ["rjieba.cat", "no.such.module", "icu4py.__name__", "a b"])
def test_what_is_no_function_is_refused(path: str) -> None:
    with pytest.raises(ConfigError, match=r"^DEDUP_SEGMENT expects"):
        make_sketcher(DedupConfig(segment=path), seed=1)


@pytest.mark.parametrize("segment", ["builtins.len", "math.sqrt", len])
def test_a_function_that_finds_no_words_is_refused(segment: object) -> None:
    """It is tried before any page is: the first in such a script may come after thousands."""
    with pytest.raises(ConfigError, match=r"^DEDUP_SEGMENT expects a function from a text"):
        make_sketcher(DedupConfig(segment=segment), seed=1)  # type: ignore[arg-type]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
    with pytest.raises(MissingExtra, match="pip install icu4py"):
        make_segmenter("icu")


async def test_the_segmenter_is_a_parameter_of_the_index(redis_url: str) -> None:
    """An index of letters is not opened with words, nor one segmenter's with another."""
    async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, segment="icu")):
        pass
    for segment, name in ((None, "–"), (str.split, ".str.split")):
        with pytest.raises(ParameterMismatch, match=f"segment: index icu, settings {name}"):
            async with DuplicateIndex.open(DedupConfig(redis_url=redis_url, segment=segment)):
                pass
