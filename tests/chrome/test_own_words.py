"""Which words of a page count as its own, before its site is known."""

import pytest

from crawler.chrome import strip_chrome


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("港の博物館は漁師の家族によって設立された。", 10),
        ("博物馆由渔民家庭创立，周二至周日开放。", 9),
        ("พิพิธภัณฑ์ก่อตั้งโดยครอบครัวชาวประมง", 18),
        ("박물관은 어부의 가족이 세웠습니다", 4),
        ("The museum was founded", 4),
    ],
)
def test_words_are_counted_as_a_person_would(text: str, words: int) -> None:
    """Also where no blanks are between them."""
    main = strip_chrome(f"<main><p>{text}</p><p>{text}</p></main>")
    assert words - 1 <= main.own_words / 2 <= words + 2
    linked = strip_chrome(f"<main><p>{text}</p><p><a href=/a>{text}</a></p></main>")
    assert linked.own_words <= main.own_words / 2


@pytest.mark.parametrize("link", ["<a href=/{0}>{0}</a>", "<a href=/{0}>{0}</a><td>(C++11)"])
def test_a_menu_with_captions_is_nobodys_own(link: str) -> None:
    """Two pages with a dozen words below one menu are no copies, whatever its captions are."""
    menu = "".join(
        f"<tr><td>{caption} library</td></tr>"
        + "".join(f"<tr><td>{link.format(f'{caption}_of_kind_{n}')}</td></tr>" for n in range(6))
        for caption in ("Strings", "Containers", "Iterators", "Numerics", "Utilities")
    )
    rest = (
        "<h3>Usage</h3><p>As the declaration of the type, and as a cast to it, like all others.</p>"
    )
    main = strip_chrome(f"<h1>bool</h1><div><table>{menu}</table>{rest}</div>")
    assert "Containers library" in main.text
    assert 15 <= main.own_words <= 19


def test_facts_beside_links_are_a_pages_own() -> None:
    """Sentences with links, and short lines of which most are none."""
    facts = "".join(f"<li>{n} metres long<li>built in {1900 + n}" for n in range(12))
    main = strip_chrome(
        f"<main><h1>Boats</h1><p>All of the <a href=/boats>boats</a> are listed here.<ul>{facts}"
        "<li><a href=/more>More of them</a></ul></main>"
    )
    assert main.own_words >= 80
