"""What pages are called, and what tells them apart if that is no name."""

import pytest

from crawler.chrome import SharedTemplate, strip_chrome
from tests.chrome.test_short_pages import NOTE, WORDS, crawl, own


@pytest.mark.parametrize(
    ("html", "heading"),
    [
        ("<title>Tea - The House</title><header><h1>Tea, green</h1></header>", "Tea, green"),
        ("<title>Tea, green | The House</title><p>It is good.</p>", "Tea, green"),
        ("<title>Green: tea</title><nav><h1>Menu</h1></nav><h2>tea</h2>", "tea"),
        ("<h1 hidden>Session</h1><p>It is good.</p>", ""),
        ("<title>Tea - The Green Handbook</title><p>It is good.</p>", "Tea"),
        ("<title>The Green Handbook » Tea</title><p>It is good.</p>", "Tea"),
        ("<title>Tea - House</title><h1>House</h1><dl><dt>Tea<dd>It is good.</dl>", "Tea"),
        ("<title>Print: Tea</title><h1>House</h1><h2>Tea</h2><p>It is good.</p>", "Tea"),
        ("<title>Tea - House</title><h1>House</h1><p>It is good.</p>", "Tea - House"),
        ("<title>Shop</title><h2>Tea, green</h2><p>It is good.</p>", "Shop: Tea, green"),
        ("<title>Shop</title><p>It is good.</p>", "Shop: It is good."),
        ("<title>House: Tea List</title><p class=title>Tea List<p>Good.<h2>Use</h2>", "Tea List"),
        ("<title>House: List</title><p class=title>Tea List<p>Good.<h2>Use</h2>", "Tea List"),
        ("<title>House: A< T > Class</title><p class=title>A< T > Class<p>Good.", "A< T > Class"),
        ("<title>A< T > Class - House</title><h1>House</h1><h2>A< T > Class</h2>", "A< T > Class"),
        (
            "<title>Tea shop</title><div role=banner><h1>Tea</h1></div>"
            "<main><h1>Cup</h1><p>This is a cup, and it is good for tea.</p></main>",
            "Tea: Cup",
        ),
        ("<title>Tea (A - B) | House</title><p>It is good.</p>", "Tea (A - B)"),
        ("<title>茶（甲 - 乙）</title><p>It is good.</p>", "茶（甲 - 乙）: It is good."),
        ("<title>Tea :) - House (old)</title><p>It is good.</p>", "Tea :)"),
        ("<title>House > Tea</title><p>It is good.</p>", "Tea"),
        ("<title>House: Tea</title><p class=title>House<p>Good.<h2>Tea</h2>", "Tea"),
        ("<title>House</title><p class=title>House<p>Good.<h2>Tea</h2>", "House: Tea"),
        ("<h1>3.2 Tea (printable version)</h1><p>It is good.</p>", "Tea"),
        ("<h1>Tea (Druckversion)</h1><p>It is good.</p>", "Tea"),
        ("<h1>1.5 mm</h1><p>It is good.</p>", "1.5 mm"),
        ("<h1>3.2. はじめに</h1><p>It is good.</p>", "はじめに"),
        ("<h1>§ 3.12 Tea</h1><p>It is good.</p>", "Tea"),
    ],
)
def test_what_a_page_is_called(html: str, heading: str) -> None:
    """Its heading, or its title without the site's name."""
    assert strip_chrome(html).heading == heading


@pytest.mark.parametrize(
    "heading",
    [
        *("1.5 リットル", "1.5 毫米不锈钢板", "1.5 لتر زيت", "1.5 ליטר חלב", "1.5 킬로그램 쌀"),
        *("2.4 GHz Antenne", "2.4 ГГц антенна", "1.5 Litre Bottle", "1.4.2 Released"),
        *("18.30 Konzert", "24.12. Konzert", "24.12.25 Konzert", "9.00 Uhr Konzert"),
    ],
)
def test_an_amount_is_no_number_of_a_section(heading: str) -> None:
    """Nor is a time, a date or a version: often they alone tell two short pages apart."""
    assert strip_chrome(f"<h1>{heading}</h1><p>It is good.</p>").heading == heading


def test_the_name_of_the_site_is_no_heading() -> None:
    """Where it is in the first heading of all pages, the next one counts once that is known."""
    site = "<title>Museum</title><div><h1>Museum</h1><p>Open daily</p></div>"
    pages = [f"{site}<h1>{w}</h1><p>{own(w)}</p>" for w in WORDS]
    assert crawl(pages)[-1].heading == WORDS[-1]


def test_what_titles_share_is_the_name_of_the_site() -> None:
    """Wherever it stands in them, and however long it is; others are told that, too."""
    name = "The museum of the harbour"
    pages = [f"<title>{name} - {w}</title><p>{own(w)}</p>" for w in WORDS]
    here, there = SharedTemplate(), SharedTemplate()
    assert crawl(pages, here)[-1].heading == WORDS[-1]
    there.take(0, here.offer())
    print_view = f"<title>{name}: quay</title><p>{own('quay')}</p>"
    for template in (here, there):
        assert strip_chrome(print_view, template=template.known).heading == "quay"


@pytest.mark.parametrize("title", ["", "<title>Museum</title>"])
@pytest.mark.parametrize(
    "layout",
    [
        "<b>{0}</b><p>{1}</p><h2>See also</h2>{3}",
        "<dl><dt>Text</dt><dd>{1}</dd></dl><p>{2}</p>{3}",
        "<h4>Text</h4><p>{1}</p>{3}",
        "<p>{2}</p><p>{1}</p>{3}",
    ],
)
def test_what_all_pages_are_called_is_no_name(title: str, layout: str) -> None:
    """Neither a title nor a label that comes back: then the text's beginning tells them apart."""
    links = [f"<a href={i}>{WORDS[i - 1]}</a> <a href=/>{w}</a>" for i, w in enumerate(WORDS)]
    short = NOTE.partition("</p>")[0].partition("<p>")[2]
    pages = [
        title + layout.format(w, own(w), short, link) for w, link in zip(WORDS, links, strict=True)
    ]
    found = crawl(pages)[8:]
    assert len({main.heading for main in found}) == len(found)


def test_pages_without_a_name_have_one_before_much_is_known() -> None:
    """Otherwise nothing would tell them from each other, and from all that come later."""
    found = crawl([f"<title>Museum</title><b>{w}</b><p>{own(w)}</p>{NOTE}" for w in WORDS])
    assert all(w in main.heading for w, main in zip(WORDS, found, strict=True))


def test_a_title_of_a_part_of_a_site_is_no_name() -> None:
    """Where a tenth of the pages have it, other text below, the text's beginning names them."""
    parts = ("Knots", "Tides", "Boats")
    pages = [
        f"<title>{parts[i % 3]}</title><h1>{parts[i % 3]}</h1><p>{own(w)}</p>{NOTE}"
        for i, w in enumerate(WORDS * 2)
    ]
    found = crawl(pages)[-len(WORDS) :]
    assert len({main.heading for main in found}) == len(found)


def test_a_title_by_its_class_names_a_page_however_much_is_known() -> None:
    """As in Doxygen, whose headings are the same on all pages, and its titles on all lists."""
    layout = "<title>Museum: {2} List</title><div class=title>{0} {2} List</div><h2>See</h2>{1}"
    pages = [layout.format(w, f"<p>{own(w)}", ("Boat", "Knot")[i % 2]) for i, w in enumerate(WORDS)]
    found = crawl(pages)
    assert [main.heading.split()[0] for main in found] == WORDS


def test_a_list_has_its_title_before_the_name_of_its_first_entry() -> None:
    """Those of a month, a year and a tag may begin with one entry, which is a link there."""
    posts = [(w.title(), f"<h1>{w.title()}</h1><p>{own(w)}</p>") for w in WORDS]
    lists = [
        (f"Archives of {i}/{month}", f"<h1><a href=/{w}>{w.title()}</a></h1>")
        for i, w in enumerate(WORDS)
        for month in (1, 2)
    ]
    found = crawl([f"<title>{title} - House</title>{html}{NOTE}" for title, html in posts + lists])
    assert [main.heading for main in found[: len(WORDS)]] == [w.title() for w in WORDS]
    assert len({main.heading for main in found}) == len(found)


def test_a_site_without_a_template_is_known_as_such() -> None:
    """Its pages have nothing in common, so a text under another heading is a copy."""
    assert [main.learnt for main in crawl([f"<p>{own(w)}</p>" for w in WORDS])][-1] >= 8
