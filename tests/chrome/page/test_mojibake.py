"""Text that was encoded twice is itself again, and what only looks a little like it stays."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.chrome import links, parse, strip_chrome
from crawler.chrome.page.mojibake import mend_mojibake

TEXT = "Zoë’s café — “open late” — doesn’t take cards; naïve guests, à la carte, pay 5\u00a0€… "
WAYS = ["latin-1", "cp1252"]


def as_read(text: str, way: str) -> str:
    """What becomes of a text in UTF-8 whose bytes are read as characters."""
    data = text.encode()
    if way == "latin-1":
        return data.decode(way)
    return "".join(bytes((byte,)).decode(way, "ignore") or chr(byte) for byte in data)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_that_was_encoded_twice_has_the_same_text(way: str) -> None:
    """Copies by careless programs are exact ones, also of spaces and letters that end in one."""
    page = "<html><title>{0}</title><nav><a href=/>Home</a></nav><main><p>{0}<p>{0}</main>"
    right = strip_chrome(page.format(TEXT))
    wrong = page.format(as_read(TEXT, way))
    for html in wrong, wrong.encode():
        found = strip_chrome(html, content_type="text/html; charset=utf-8")
        assert (found.text, found.title) == (right.text, right.title)


@pytest.mark.parametrize("way", WAYS)
@given(st.text(st.characters(min_codepoint=0xA1, exclude_categories=["Cs"]), min_size=2))
def test_whatever_it_was(way: str, text: str) -> None:
    """Letters of all scripts and signs beyond them."""
    text += "“é”"
    assert mend_mojibake(f"<p>{as_read(text, way)}".encode()).decode() == f"<p>{text}"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "text",
    [
        "Il va à la mer, là où l'été est déjà à son début, et voilà",
        "Чай пьют горячим или холодным, с молоком и без него",
        "Café > Thé > Été et hôtels à côté",
        "I <3 café et thé, été",
    ],
)
def test_languages(way: str, text: str) -> None:
    """Also where the second half of "à" has become a space, as wherever blanks are made single."""
    for wrong in as_read(text, way), as_read(text, way).replace("\xa0", ""):
        found = mend_mojibake(f"<p>{wrong}</p>".encode()).decode()
        assert found == f"<p>{text}</p>"


@pytest.mark.parametrize(
    "text",
    [
        "«CAFÉ» «LIBERTÉ» «IRMÃ» «ÂNGELO»",
        "AMANHÃ IRMÃ… e MANHÃ, IRMÃ…",
        "É° Ã» Â« all of it as it was meant, é, à and ü",
        "Write é in UTF-8, read it as Latin-1, and it is Ã© – as on the pages of many a café",
        "Une fenêtre à l’étage, très âgée",
    ],
)
def test_what_is_right_stays(text: str) -> None:
    """Capitals before quotation marks, and pages on the subject."""
    page = f"<p>{text}".encode()
    assert mend_mojibake(page) is page


def test_links_stay() -> None:
    """Their addresses may work as they stand there."""
    href = "/caf\u00c3\u00a9"
    page = f"<p>{as_read(TEXT, 'latin-1')}<a href='{href}'>here</a>"
    assert [link.href for link in links(parse(page))] == [href]


def test_a_page_of_nothing_else_is_bounded() -> None:
    """Beyond twenty thousand of them the rest stays."""
    found = mend_mojibake(("<p>" + "â€“ " * 30_000).encode()).decode()
    assert (found.count("–"), found.count("â€“")) == (20_000, 10_000)


def test_a_page_of_tags_takes_no_memory_for_each() -> None:
    """Nothing is made of what stands between them, and there may be millions."""
    page = as_read(TEXT, "cp1252").encode() + b"<aa" * 500_000
    tracemalloc.start()
    try:
        mend_mojibake(page)
        assert tracemalloc.get_traced_memory()[1] < 3 * len(page)
    finally:
        tracemalloc.stop()
