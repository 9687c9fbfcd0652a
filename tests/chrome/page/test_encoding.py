"""Bytes become the text their author wrote, whatever was declared."""

import pytest

from crawler.chrome import links, parse, strip_chrome, title
from crawler.chrome.page.encoding import decode_body

TEXTS = {
    "windows-1251": "Чай — напиток, получаемый варкой листа чайного куста. ",
    "koi8-r": "Чай - напиток, получаемый варкой листа чайного куста. ",
    "gb18030": "茶是一种饮料，由茶树的叶子制成，全世界都有人喝。",
    "gbk": "茶是一种饮料，由茶树的叶子制成，全世界都有人喝。",
    "big5": "茶是一種飲料，由茶樹的葉子製成，全世界都有人喝。",
    "shift_jis": "お茶は、チャノキの葉を加工して作られる飲み物です。",
    "euc-jp": "お茶は、チャノキの葉を加工して作られる飲み物です。",
    "euc-kr": "차는 차나무의 잎을 가공하여 만든 음료이다. ",
    "iso-8859-2": "Herbata to napój z liści, źródło żółtej barwy; čaj, šípky. ",
    "iso-8859-1": "Thé à la menthe, café crème, Tee für Gäste. ",
    "utf-8": "Чай, 茶, お茶, 차, thé, شاي. ",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("way", ["header", "meta", "http-equiv"])
def test_declared(name: str, way: str) -> None:
    """An encoding declared in the HTTP header or in the page is used."""
    meta = {
        "header": "",
        "meta": f'<meta charset="{name}">',
        "http-equiv": f'<meta http-equiv=Content-Type content="text/html; charset={name}">',
    }[way]
    body = f"<html><head>{meta}</head><p>{TEXTS[name] * 4}</p>".encode(name)
    header = f"text/html; charset={name}" if way == "header" else "text/html"
    assert strip_chrome(body, content_type=header).text == (TEXTS[name] * 4).strip()


@pytest.mark.parametrize("name", ["windows-1251", "gb18030", "shift_jis", "euc-kr", "utf-8"])
def test_undeclared(name: str) -> None:
    """Nothing declared: the encoding is guessed from the bytes."""
    text = TEXTS[name] * 20
    assert strip_chrome(f"<p>{text}</p>".encode(name)).text == text.strip()


@pytest.mark.parametrize("name", ["gb18030", "big5", "shift_jis", "euc-kr"])
def test_undeclared_with_broken_characters(name: str) -> None:
    """Some of a text's characters may be cut, as by a program that counts bytes."""
    paragraph = f"<p>{TEXTS[name] * 3}</p>".encode(name)
    body = paragraph * 9 + paragraph.replace(b"</p>", b"\x8f</p>") * 3
    assert decode_body(body)[1].startswith(f"<p>{TEXTS[name] * 3}</p>" * 9)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cp1252", "Le thé est préparé en infusant des feuilles séchées à travers le monde. "),
        ("cp1252", "El té es una infusión de las hojas del árbol, según la tradición, mañana. "),
        ("cp1252", "Te är en dryck som görs på blad från tebusken, både varm och kall. "),
        ("cp1252", "Il tè si può bere più volte, perché è buona così. "),
        ("cp1250", "A tea a világ egyik legnépszerűbb itala, a víz után a legtöbbet fogyasztott. "),
        ("iso8859-2", "Čaj je nápoj z listů čajovníku, žluťoučký kůň, šťastně a příliš. "),
        ("iso8859-2", "Herbata to napój z liści krzewu, źródło, więcej, są i będą. "),
        ("cp1254", "Çay, sıcak suyun çay yapraklarının üzerine dökülmesiyle hazırlanır, ağaç. "),
        (
            "cp1252",
            "Á Íslandi er drukkið te úr laufum og jurtum, bæði heitt og kalt, í sól og frosti. ",
        ),
        ("cp1257", "Arbata – gėrimas iš arbatmedžio lapų, žinomas pasaulyje, šalta ir karšta. "),
        ("cp1257", "Tēja ir dzēriens no tējas krūma lapām, ko dzer visā pasaulē, arī šķēlēm. "),
        ("cp1257", "Tee on jook, mille hulka žürii arvas ka tšilli, šerri ja õunad. "),
        ("koi8-u", "Чай - напій, який готують із листя чайного куща, його п'ють усі. "),
        ("cp1253", "Το τσάι είναι ένα αρωματικό ρόφημα που παρασκευάζεται συνήθως. "),
        ("cp1255", "תה הוא משקה ארומטי המוכן על ידי מזיגת מים חמים על עלים. "),
        ("cp1256", "الشاي مشروب عطري يحضر بسكب الماء الساخن على الأوراق. "),
        ("cp874", "ชาเป็นเครื่องดื่มที่มีกลิ่นหอม "),
    ],
)
def test_undeclared_letters_of_one_byte(name: str, text: str) -> None:
    """Whether letters beyond ASCII stand alone or in a row tells Latin alphabets from others."""
    for times in (2, 50):
        assert decode_body(f"<p>{text * times}".encode(name))[1] == f"<p>{text * times}"


def test_undeclared_vietnamese() -> None:
    """Its encoding has tones as characters of their own, which are the same words."""
    text = (
        "Tra\u0300 la\u0300 thư\u0301c uô\u0301ng tư\u0300 la\u0301 che\u0300, ươ\u0301p hoa. " * 5
    )
    assert decode_body(text.encode("cp1258"))[1] == text


@pytest.mark.parametrize("declared", [None, "text/html; charset=utf-8", "text/html; charset=gbk"])
def test_japanese_of_seven_bits_that_nobody_declares(declared: str | None) -> None:
    """Its letters are bytes of ASCII between two marks; nothing else has these."""
    page = f"<p>{TEXTS['shift_jis']} A cup of tea.</p>"
    assert decode_body(page.encode("iso2022_jp"), declared) == ("iso2022_jp", page)
    drawn = "<p>\x1b$B is no letter of tea \x1b[0m</p>"
    assert decode_body(drawn.encode(), declared)[1] == drawn


@pytest.mark.parametrize("name", ["shift_jis", "utf-8", "iso-8859-1"])
def test_utf8_declared_as_japanese_of_seven_bits(name: str) -> None:
    """That is ASCII, and what is not cannot be it."""
    text = TEXTS[name] * 5
    assert decode_body(text.encode(), "text/html; charset=iso-2022-jp") == ("utf-8", text)


@pytest.mark.parametrize("way", ["header", "meta"])
@pytest.mark.parametrize("declared", ["rot13", "zlib", "idna", "undefined", "punycode"])
def test_what_is_no_encoding_is_not_declared(declared: str, way: str) -> None:
    """Codecs of Python that fail on a page are as unknown as any other wrong name."""
    text = TEXTS["koi8-r"] * 20
    head = f"<meta charset={declared}>" if way == "meta" else ""
    header = f"text/html; charset={declared}" if way == "header" else None
    body = f"{head}<p>{text}</p>".encode("koi8-r")
    assert strip_chrome(body, content_type=header).text == text.strip()


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252", "gbk", "big5", "no-such-name"])
def test_utf8_declared_as_something_else(declared: str) -> None:
    """Valid UTF-8 is UTF-8, whatever the server says."""
    text = TEXTS["utf-8"] * 5
    assert decode_body(text.encode(), f"text/html; charset={declared}") == ("utf-8", text)


def test_other_bytes_declared_as_utf8() -> None:
    """A declaration that the bytes refute is not believed."""
    text = TEXTS["windows-1251"] * 20
    body = f"<meta charset=utf-8><p>{text}</p>".encode("windows-1251")
    assert text.strip() in strip_chrome(body, content_type="text/html; charset=utf-8").text


def test_a_few_broken_bytes_do_not_change_the_encoding() -> None:
    """UTF-8 with a broken character stays UTF-8."""
    text = TEXTS["utf-8"] * 30
    name, found = decode_body(text.encode() + b"\xff\xfe tail", "text/html; charset=utf-8")
    assert name == "utf-8"
    assert found.startswith(text)
    assert found.endswith("tail")


@pytest.mark.parametrize("declared", [None, "text/html", "text/html; charset=iso-8859-1"])
@pytest.mark.parametrize("text", [TEXTS["utf-8"], TEXTS["iso-8859-1"], TEXTS["gbk"]])
def test_broken_utf8_that_nobody_declares(text: str, declared: str | None) -> None:
    """What was cut in the midst of a character, or has another page's in it, is UTF-8."""
    for broken in ((text + "\u00e9").encode()[:-1], b"caf\xe9 " + text.encode()):
        name, found = decode_body(broken, declared)
        assert name == "utf-8"
        assert text in found


def test_declarations_that_cannot_be_read_in_their_own_encoding() -> None:
    """A page whose head is ASCII is not in UTF-16, whatever stands there."""
    text = TEXTS["windows-1251"] * 5
    for declared in ("utf-16", "utf-16le", "utf-32", "ibm037"):
        body = f"<meta charset={declared}><p>{text}</p>".encode("windows-1251")
        assert strip_chrome(body).text == text.strip()


def test_logical_hebrew() -> None:
    """The name by which old pages tell that their letters stand in reading order."""
    text = "\u05ea\u05d4 \u05d4\u05d5\u05d0 \u05de\u05e9\u05e7\u05d4."
    body = f"<meta charset=ISO-8859-8-I><p>{text}</p>".encode("iso-8859-8")
    assert strip_chrome(body).text == text
    body = f"<p>{text}</p>".encode("iso-8859-8")
    assert strip_chrome(body, content_type="text/html; charset=iso-8859-8-i").text == text


def test_letters_that_windows_added() -> None:
    """Undeclared Japanese and Chinese is read as the encodings that people use by these names."""
    text = TEXTS["shift_jis"] * 9 + "\u2460\u3231\u9ad9"
    assert strip_chrome(f"<p>{text}</p>".encode("cp932")).text == text
    text = TEXTS["big5"] * 9 + "\u5605"
    assert strip_chrome(f"<p>{text}</p>".encode("big5hkscs")).text == text


@pytest.mark.parametrize("name", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_mark(name: str) -> None:
    """A byte order mark wins over a header that says otherwise, and is not text."""
    text = "Tea and thé and 茶, every day of the week."
    body = f"<p>{text}</p>".encode(name)
    assert strip_chrome(body, content_type="text/html; charset=iso-8859-1").text == text


def test_utf16_without_mark() -> None:
    """UTF-16 is recognised by its zero bytes."""
    text = "Tea is drunk every day of the week, and thé."
    for name in ("utf-16-le", "utf-16-be"):
        assert strip_chrome(f"<p>{text}</p>".encode(name)).text == text


def test_zeros_before_a_page_are_no_utf16() -> None:
    """In UTF-16 they stand in every second place; elsewhere they are left out."""
    text = TEXTS["utf-8"].strip()
    assert strip_chrome(b"\0" * 2000 + f"<p>{text}".encode()).text == text


def test_utf16_without_zeros() -> None:
    """Its letters may look like control characters; what the server says is believed."""
    text = TEXTS["gbk"] * 50
    body = text.encode("utf-16-le")
    assert decode_body(body, "text/html; charset=utf-16le") == ("utf-16-le", text)


def test_a_few_control_characters_are_no_sign() -> None:
    """Text with one in each line, as of a word processor, keeps its letters."""
    text = TEXTS["iso-8859-1"] * 3
    body = f"<p>{text}\x15</p>".encode("iso-8859-1") * 30
    assert decode_body(body) == ("cp1252", f"<p>{text}\x15</p>" * 30)


def test_colours_in_a_log_are_no_sign() -> None:
    """A page of such lines keeps its blocks and letters, however many escapes are in them."""
    lines = [f"\x1b[31mth\u00e9 {number}\x1b[0m" for number in range(100)]
    for name in ("utf-8", "iso-8859-1"):
        document = parse("<p>".join(lines).encode(name))
        assert len(document.flat.texts) == 100
        assert "th\u00e9" in document.flat.texts[99]


def test_text_is_not_decoded_again() -> None:
    """A page given as text keeps its characters, whatever its meta says."""
    html = "<meta charset=koi8-r><p>Чай и thé"
    assert strip_chrome(html, content_type="text/html; charset=big5").text == "Чай и thé"
    assert parse(html).encoding == "utf-8"


@pytest.mark.parametrize("name", ["windows-1251", "gbk", "big5", "shift_jis", "euc-kr"])
@pytest.mark.parametrize("wrong", ["utf-8", "no-such-name", "iso-8859-1", "us-ascii"])
def test_wrong_declarations(name: str, wrong: str) -> None:
    """A header and a meta that the bytes refute, or that name nothing known, are not believed."""
    text = TEXTS[name] * 20
    body = f"<meta charset={wrong}><p>{text}</p>".encode(name)
    assert text.strip() in strip_chrome(body, content_type=f"text/html; charset={wrong}").text


def test_a_servers_default_does_not_hide_what_the_page_says() -> None:
    """Latin-1 in the header, for a text that cannot be: the page's own declaration counts."""
    text = TEXTS["iso-8859-1"] * 5
    body = f"<meta charset=windows-1252><p>{text}</p>".encode("cp1252")
    for header in ("text/html; charset=iso-8859-1", None):
        assert strip_chrome(body, content_type=header).text == text.strip()
    body = f"<meta charset=koi8-r><p>{TEXTS['koi8-r']}</p>".encode("koi8-r")
    assert strip_chrome(body, content_type="x; charset=iso-8859-1").text == TEXTS["koi8-r"].strip()


def test_a_long_head_does_not_hide_the_text() -> None:
    """The encoding is guessed from where the page's letters are."""
    text = TEXTS["windows-1251"] * 5
    body = b"<script>" + b"var x;" * 10_000 + b"</script><p>" + text.encode("windows-1251")
    assert strip_chrome(body).text == text.strip()


@pytest.mark.parametrize("name", [name for name in TEXTS if name != "utf-8"])
def test_the_header_goes_before_the_meta(name: str) -> None:
    """Where header and page disagree, both possible, the header is right."""
    text = TEXTS[name] * 5
    body = f"<meta charset=cp437><p>{text}</p>".encode(name)
    header = f"text/html; charset={name}"
    assert strip_chrome(body, content_type=header).text == text.strip()
    assert strip_chrome(body).text != text.strip()


@pytest.mark.parametrize("name", ["windows-1251", "gbk", "big5", "shift_jis", "euc-kr"])
def test_meta_goes_before_the_guess(name: str) -> None:
    """What the page declares of itself counts where the header says nothing."""
    body = f"<meta charset={name}><p>{TEXTS[name][:6]}</p>".encode(name)
    for header in (None, "text/html", "text/html; charset=no-such-name"):
        assert strip_chrome(body, content_type=header).text == TEXTS[name][:6].strip()


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3", b"\xe8\x8c", b"\xf0\x9f\x8d", b"\x80"])
def test_broken_utf8(broken: bytes) -> None:
    """A cut or stray byte in declared UTF-8 costs one character and none of its neighbours."""
    before, after = TEXTS["utf-8"] * 30, " tail " + TEXTS["utf-8"] * 30
    body = b"<p>" + before.encode() + broken + after.encode()
    found = strip_chrome(body, content_type="text/html; charset=utf-8").text
    assert found.startswith(before)
    assert found.endswith(after.strip())
    assert found[len(before)] == "\ufffd"


@pytest.mark.parametrize(
    ("name", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"),
                       ("utf-16-be", b"\xfe\xff")]
)  # fmt: skip
def test_a_mark_goes_before_header_and_meta(name: str, mark: bytes) -> None:
    """A byte order mark is right, whatever header and meta say."""
    body = mark + f"<meta charset=gbk><p>{TEXTS['utf-8']}</p>".encode(name)
    assert strip_chrome(body, content_type="text/html; charset=big5").text == (
        TEXTS["utf-8"].strip()
    )


def test_title_and_links_are_decoded_too() -> None:
    """Not only the main text is in the page's encoding."""
    body = '<title>Чай</title><a href="/чай">x</a><p>Чай'.encode("windows-1251")
    document = parse(body, content_type="text/html; charset=windows-1251")
    assert document.encoding == "cp1251"
    assert title(document) == "Чай"
    assert [link.href for link in links(document)] == ["/чай"]


def test_a_wider_iso_2022_jp_is_read_as_declared() -> None:
    """Some letters stand in that one only."""
    body = "<meta charset=iso-2022-jp-1>日本語のページ丂".encode("iso2022_jp_1")
    assert decode_body(body) == ("iso2022_jp_1", "<meta charset=iso-2022-jp-1>日本語のページ丂")


@pytest.mark.parametrize("header", ["utf-8", "iso-8859-1", "shift_jis"])
def test_japanese_of_seven_bits_under_a_wrong_header(header: str) -> None:
    """What the page says of itself does not make its marks count less than if it said nothing."""
    page = f"<meta charset=iso-2022-jp><p>{TEXTS['shift_jis']}"
    found = decode_body(page.encode("iso2022_jp"), f"text/html; charset={header}")
    assert found == ("iso2022_jp", page)


def test_what_cannot_be_decoded_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A PDF that was taken for a page fills no log with lines that do not name it."""
    document = parse(b"%PDF-1.4\n" + bytes(range(256)) * 20)
    assert document.encoding
    assert caplog.records == []


@pytest.mark.parametrize(
    ("beginning", "text", "charset", "expected"),
    [
        ("<title>café</title>", "Привет, это чай. ", "cp1251", "cp1251"),
        ("<!-- © -->", "お茶は飲み物です。", "utf-8", "utf-8"),
    ],
)
def test_a_beginning_that_is_unlike_the_rest(
    beginning: str, text: str, charset: str, expected: str
) -> None:
    """All of a page tells what it is in, however far its text is from the first such letter."""
    first = beginning.encode("utf-8" if charset == "cp1251" else "latin-1")
    style = b"<style>" + b"p { margin: 0 }\n" * 4000 + b"</style>"
    page = first + style + (text * 200).encode(charset)
    assert decode_body(page, "text/html; charset=windows-1251")[0] == expected
