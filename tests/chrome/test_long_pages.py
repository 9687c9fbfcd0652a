"""Pages with more tags than are parsed keep their text on both sides of that bound."""

from __future__ import annotations

from crawler.chrome import parse, strip_chrome


def test_entries_before_the_rest_are_kept() -> None:
    """A change log of thousands of entries is their text, though most are in one block."""
    entries = "".join(
        f"<li><p><strong>[orm]</strong> Fixed issue <a href=/{n}>number {n}</a> where the flush of "
        f"<code>item_{n}</code> would fail after a rollback of its parent transaction.</p>"
        f"<p>References: <a href=/i{n}>#{n}</a></p></li>"
        for n in range(8000)
    )
    page = f"<nav><a href=/>Home</a> <a href=/docs>Docs</a></nav><h1>Changes</h1><ul>{entries}</ul>"
    document = parse(page)
    assert len(document.flat.texts) < 8000
    words = set(strip_chrome(document).text.split())
    assert [n for n in range(8000) if f"item_{n}" not in words] == []


def test_a_menu_before_the_rest_is_cut() -> None:
    """If nearly all that is parsed is a menu, it is no listing: the text is behind it."""
    menu = "".join(
        f'<li><a class="module" href="/modules/mod-{n}.html">Functions of the module {n}</a></li>'
        f"<li>Group {n}</li>"
        for n in range(4000)
    )
    text = "".join(
        f"<p>Tea of kind {n} is <b>brewed</b> for {n} minutes, and then poured into a cup.</p>"
        for n in range(3000)
    )
    found = strip_chrome(f"<title>Tea</title><nav><ul>{menu}</ul></nav><h1>Tea</h1>{text}").text
    assert "Tea of kind 2999 is" in found
    assert "Functions of the module 5" not in found


def test_the_labels_of_a_long_menu_are_cut() -> None:
    """With them, short pages of one manual would be copies of each other."""
    groups = "".join(
        f'<li title="wx{n}">Module{n}<ul>'
        + "".join(f'<li><a href="m{n}#{i}">function{n}_{i}/{i % 3}</a></li>' for i in range(8))
        + "</ul></li>"
        for n in range(200)
    )
    text = "<p>A native representation of a font, whose contents are private to the renderer.</p>"
    page = (
        f'<title>Font</title><body><div class="topbar"><h1>Font</h1></div>'
        f'<nav><ul>{groups}</ul></nav><div id="content"><h3>Description</h3>{text}</div>'
    )
    found = strip_chrome(page).text
    assert "private to the renderer" in found
    assert "Module5\n" not in found
