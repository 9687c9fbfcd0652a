"""Where bytes and declarations disagree, or nobody declares, the text is what its author wrote."""

import random

import pytest

from crawler.chrome.page.encoding import decode_body, guess_encoding

UTF8 = "text/html; charset=utf-8"
LATIN1 = "text/html; charset=iso-8859-1"
TEXTS = {
    "windows-1251": "Чай — напиток, получаемый варкой листа чайного куста. ",
    "koi8-r": "Чай - напиток, получаемый варкой листа чайного куста. ",
    "iso-8859-5": "Чай - напиток, получаемый варкой листа чайного куста. ",
    "iso-8859-6": "الشاي مشروب عطري يحضر بسكب الماء الساخن على الأوراق. ",
    "iso-8859-7": "Το τσάι είναι ένα αρωματικό ρόφημα που παρασκευάζεται συνήθως. Άλλο. ",
    "windows-1255": "תה הוא משקה ארומטי המוכן על ידי מזיגת מים חמים על עלים. ",
    "windows-1256": "الشاي مشروب عطري يحضر بسكب الماء الساخن على الأوراق. ",
    "tis-620": "ชาเป็นเครื่องดื่มที่มีกลิ่นหอม ",
    "gbk": "茶是一种饮料，由茶树的叶子制成，全世界都有人喝。",
    "big5": "茶是一種飲料，由茶樹的葉子製成，全世界都有人喝。",
    "shift_jis": "お茶は、チャノキの葉を加工して作られる飲み物です。",
    "euc-jp": "お茶は、チャノキの葉を加工して作られる飲み物です。",
    "euc-kr": "차는 차나무의 잎을 가공하여 만든 음료이다. ",
    "iso-8859-2": "Herbata to napój z liści, źródło żółtej barwy; są ciepłe i słodkie. ",
    "windows-1250": "Čaj je nápoj z listů čajovníku, žluťoučký kůň, šťastně a příliš. ",
    "windows-1252": "Le thé est préparé en infusant des feuilles séchées à travers le monde. ",
    "windows-1254": "Çay, sıcak suyun çay yapraklarının üzerine dökülmesiyle hazırlanır, ağaç. ",
    "windows-1257": "Tēja ir dzēriens no tējas krūma lapām, ko dzer visā pasaulē, arī šķēlēm. ",
}
CASED = ["windows-1251", "koi8-r", "iso-8859-5", "iso-8859-7", "windows-1250", "windows-1257"]
EMOJI = b"\xed\xa0\xbd\xed\xb8\x80"  # as programs write it that know UTF-16 only


def page(text: str, head: str = "") -> str:
    return f"<html><head>{head}<title>Tea</title></head><p>{text}</p></html>"


@pytest.mark.parametrize("declared", [UTF8, LATIN1, None])
@pytest.mark.parametrize("text", ["Le thé à la menthe", "Чай", "喝茶", "A cup of tea"])
def test_an_emoji_in_surrogates_does_not_change_the_encoding(
    text: str, declared: str | None
) -> None:
    """Six broken bytes in a row are one fault, however few other letters the page has."""
    body = page(text).encode() + EMOJI
    assert decode_body(body, declared) == ("utf-8", page(text) + "\ufffd" * 6)


@pytest.mark.parametrize("text", ["Le thé à la menthe", "Чай и кофе", "喝 茶", "ดื่ม ชา"])
@pytest.mark.parametrize("way", ["header", "meta", "mark"])
def test_names_in_latin_1_do_not_change_declared_utf8(text: str, way: str) -> None:
    """Words that are UTF-8 are so by no chance; the others are broken."""
    text = page(text, "<meta charset=utf-8>" if way == "meta" else "")
    body = b"\xef\xbb\xbf" * (way == "mark") + text.encode()
    name, found = decode_body(
        body + b" Jos\xe9 M\xfcller Fran\xe7ois", UTF8 if way == "header" else None
    )
    assert name == "utf-8"
    assert found.startswith(text)


@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize("way", ["header", "meta", "mark"])
def test_what_is_declared_as_utf8_and_is_none(times: int, way: str) -> None:
    """Hardly a word of another encoding is UTF-8 by chance, in short pages too."""
    for name, sentence in TEXTS.items():
        text = page(sentence * times, "<meta charset=utf-8>" if way == "meta" else "")
        body = b"\xef\xbb\xbf" * (way == "mark") + text.encode(name)
        assert decode_body(body, UTF8 if way == "header" else None)[1] == text, name


def test_a_mark_of_utf8_before_another_encoding() -> None:
    """What the page declares of itself counts then, and what is UTF-8 stays it."""
    for name, sentence in TEXTS.items():
        text = page(sentence, f"<meta charset={name}>")
        assert decode_body(b"\xef\xbb\xbf" + text.encode(name))[1] == text, name
        assert decode_body(b"\xef\xbb\xbf" + text.encode()) == ("utf-8", text), name


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("header", [None, "text/html", UTF8, LATIN1, "x; charset={}"])
def test_utf16_without_mark_in_any_language(name: str, header: str | None) -> None:
    """Markup tells it, however few zeros letters have, and whatever the server says."""
    for whole in (page(""), *(page(text * 20) for text in TEXTS.values())):
        assert decode_body(whole.encode(name), header and header.format(name)) == (name, whole)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be"])
def test_declared_utf16_of_plain_text(name: str) -> None:
    """A few spaces or digits are enough where the server says so."""
    for sentence in TEXTS.values():
        text = sentence * 20 + " 1"
        assert decode_body(text.encode(name), f"text/plain; charset={name}") == (name, text)


@pytest.mark.parametrize("zeros", ["\0", "Tea\0", "1\0002\0003\0"])
@pytest.mark.parametrize("declared", [None, UTF8, "text/html; charset=utf-16le"])
def test_zeros_in_a_page_are_no_utf16(zeros: str, declared: str | None) -> None:
    """Side by side, bytes of ASCII are letters of another encoding."""
    text = page(f"{zeros} Чай, a cup of tea")
    assert decode_body(text.encode(), declared) == ("utf-8", text)


@pytest.mark.parametrize("times", [1, 20])
def test_a_page_knows_better_than_a_servers_default(times: int) -> None:
    """Latin-1 in the header does not hide a meta whose language the letters are."""
    for name, sentence in TEXTS.items():
        text = page(sentence * times, f"<meta charset={name}>")
        assert decode_body(text.encode(name), LATIN1)[1] == text, name


@pytest.mark.parametrize(
    "sentence", ["Le thé vert.", "Tee für Gäste.", "El té, mañana.", "Perché «sì»."]
)
def test_a_wrong_meta_does_not_hide_what_the_server_says(sentence: str) -> None:
    """Of two possible encodings the header's counts, if the letters are as likely in it."""
    for wrong in TEXTS.keys() - {"windows-1252"}:
        text = page(sentence, f"<meta charset={wrong}>")
        assert decode_body(text.encode("iso-8859-1"), LATIN1)[1] == text, wrong


@pytest.mark.parametrize("wrong", ["koi8-r", "gbk", "tis-620"])
def test_a_third_encoding_speaks_for_no_declaration(wrong: str) -> None:
    """These letters are guessed to be Central European, which neither of the two says."""
    text = page("Þetta er ágætt, já.", f"<meta charset={wrong}>")
    assert guess_encoding("Þetta er ágætt, já.".encode("cp1252")) not in ("cp1252", wrong)
    assert decode_body(text.encode("cp1252"), LATIN1) == ("cp1252", text)


@pytest.mark.parametrize("times", [1, 2, 50])
def test_undeclared(times: int) -> None:
    """Nothing declared: which language's letters these are tells the encoding."""
    for name, sentence in TEXTS.items():
        text = page(sentence * times)
        assert decode_body(text.encode(name))[1] == text, name


@pytest.mark.parametrize("times", [1, 2, 50])
def test_undeclared_capitals(times: int) -> None:
    """A page of nothing but capitals is no other encoding's page of small letters."""
    for name in CASED:
        text = page(TEXTS[name].upper() * times)
        assert decode_body(text.encode(name))[1] == text, name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("euc-jp", "お茶の時間です。"),
        ("euc-jp", "メニューを開く"),
        ("shift_jis", "お茶の時間です。"),
        ("euc-kr", "차를 마시는 시간"),
        ("euc-kr", "사용자 설정"),
        ("gbk", "中国的茶文化"),
        ("big5", "台灣的茶文化"),
    ],
)
def test_undeclared_headings(name: str, text: str) -> None:
    """A handful of letters of two bytes each is told from other alphabets'."""
    assert decode_body(page(text).encode(name))[1] == page(text)


def test_names_of_many_languages_are_western() -> None:
    """No one language has all of the letters in a menu of them."""
    text = page("Français, Español, Português, Íslenska, Føroyskt, Österreich, São Tomé, Curaçao")
    assert decode_body(text.encode("cp1252")) == ("cp1252", text)


@pytest.mark.parametrize(
    "declared", [None, UTF8, LATIN1, "x; charset=utf-16le", "x; charset=utf-16", "x; charset=gbk"]
)
@pytest.mark.parametrize("head", [b"", b"\xef\xbb\xbf", b"<\0", b"\0<", b"<meta charset=koi8-r>"])
def test_any_bytes_are_read(declared: str | None, head: bytes) -> None:
    """No bytes are an error."""
    bytes_ = random.Random(5)
    for size in [*range(8), 100, 1000, 1001]:
        for most in (3, 128, 256):
            body = head + bytes(bytes_.randrange(most) for _ in range(size))
            for tail in (b"", b"\xff", EMOJI[:4], b"\xc3\xa9 " * 9):
                name, text = decode_body(body + tail, declared)
                assert name
                assert isinstance(text, str)
