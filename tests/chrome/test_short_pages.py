"""Pages of a few words each, beside what their site has on all of them."""

import random

import pytest

from crawler.chrome import MainText, SharedTemplate, strip_chrome

WORDS = [
    *("anchor", "ballast", "capstan", "davit", "fender", "galley", "hawser", "jib", "keel"),
    *("leeward", "mizzen", "oakum", "painter", "quay", "rudder", "shroud", "tiller", "yard"),
]
NOTE = "".join(
    f"<p>{text}</p>"
    for text in (
        "The museum was founded by the families of pilots and fishermen who wanted to keep the "
        "tools of their trade together. It is open from Tuesday to Sunday, and closed in January.",
        "The collection holds four thousand objects, among them the oldest tide gauge of the coast "
        "and a boat that was in service for sixty years. Guided walks begin at the gate at ten.",
        "What is said on this page is given for general purposes only, and does not replace the "
        "advice of a qualified person. Pictures may be used with the name of the museum beside.",
    )
)


def own(word: str) -> str:
    draw = random.Random(word)
    return f"A {word} of {' and '.join(draw.sample(WORDS, 3))}, as pilots say."


def crawl(pages: list[str], template: SharedTemplate | None = None) -> list[MainText]:
    template = template or SharedTemplate()
    found = []
    for number, page in enumerate(pages):
        found.append(strip_chrome(page, template=template.known))
        template.observe(found[-1], f"https://museum.example/{number}")
    return found


@pytest.mark.parametrize(
    "layout",
    [
        "<main><h1>{0}</h1><p>{1}</p><aside>{2}</aside></main>",
        "<main><h1>{0}</h1><p>{1}</p>{2}</main>",
        "<main><h1>{0}</h1><p>{1}</p></main><div>{2}</div>",
        "<div class=row><div class=col-4>{2}</div><div class=col-8><h1>{0}</h1><p>{1}</div></div>",
        "<table><tr><td>{2}</td><td><b>{0}</b><br>{1}</td></tr></table>",
        "<div class=xq12>{2}</div><main><article><h1>{0}</h1><p>{1}</p></article></main>",
    ],
)
@pytest.mark.parametrize("titled", [True, False])
def test_a_page_of_a_few_words_is_its_words(layout: str, titled: bool) -> None:
    """A note of a hundred words that pages of other names have is none of their text."""
    pages = [
        f"<title>{f'{word} - ' * titled}Museum</title>{layout.format(word, own(word), NOTE)}"
        for word in WORDS
    ]
    found = crawl(pages)
    for word, main in list(zip(WORDS, found, strict=True))[4:]:
        assert own(word) in main.text
        assert "founded" not in main.text
        assert "qualified person" not in main.text
        assert main.own_words == len(main.text.split())
        assert main.shared_words == 0
        assert main.learnt >= 4
    assert found[0].learnt == 0
    assert "qualified person" in found[-1].whole or own(WORDS[-1]) in found[-1].whole


def test_it_is_learnt_where_all_kept_texts_are_equal() -> None:
    """A dialog that is taken for the text of each page makes no copies of their articles."""
    layout = "<div class=xq12>{2}</div><div>{0}</div><div class=menu>{1}</div>"
    pages = [f"<title>{w} - Museum</title>{layout.format(w, own(w), NOTE)}" for w in WORDS]
    assert strip_chrome(pages[0]).text == strip_chrome(pages[1]).text
    found = crawl(pages)[4:]
    assert len({main.text for main in found}) == len(found)
    # Equality of these makes exact copies, also of pages under one heading.
    assert len({main.whole for main in found}) == len(found)


def test_a_page_whose_text_others_have_too_keeps_its_lines() -> None:
    """The note is that of a part of a site, and all that one of its pages alone would keep."""
    layout = "<div class=container><ul><li>{0}</li></ul><div>{1}</div></div>"
    pages = [layout.format(f"{w}: no {i}.5", NOTE) for i, w in enumerate(WORDS)]
    others = [f"<title>{w}</title><h1>{w}</h1>" + f"<p>{own(w)} {own(w)}</p>" * 9 for w in WORDS]
    mixed = [page for both in zip(pages, others, strict=True) for page in both]
    assert "no 3.5" not in strip_chrome(pages[3]).text
    for number, main in list(enumerate(crawl(mixed)[::2]))[8:]:
        assert f"{WORDS[number]}: no {number}.5" in main.text
        assert "qualified person" in main.text


@pytest.mark.parametrize("sign", ["{}", "{}.", "§ {}", "{}.{}"])
def test_the_numbers_of_a_menu_are_no_words_of_a_page(sign: str) -> None:
    """They stand beside links, as in a table of contents; those of a table of facts are."""
    chapters = [(sign.format(n, 7), f"About {word} knots") for n, word in enumerate(WORDS, 1)]
    cells = "<tr><td>{}</td><td>{}</td></tr>"
    menu = "".join(cells.format(n, f"<a href=/{n}>{name}</a>") for n, name in chapters)
    facts = "".join(cells.format(n, name) for n, name in chapters)
    found, others = (strip_chrome(f"<main><table>{rows}</table></main>") for rows in (menu, facts))
    assert found.text == others.text
    assert (found.own_words, others.own_words) == (0, len(others.text.split()))


def test_others_are_told() -> None:
    """Another worker, or the next day's crawl, knows the note before its first page."""
    pages = [f"<title>{w}</title><h1>{w}</h1><p>{own(w)}</p>{NOTE}" for w in WORDS]
    here, there = SharedTemplate(), SharedTemplate()
    crawl(pages[:12], here)
    there.take(0, here.offer())
    (main,) = crawl(pages[12:13], there)
    assert main.text == f"{WORDS[12]}\n{own(WORDS[12])}"
    assert main.learnt >= 8


def test_versions_of_a_page_do_not_teach_that() -> None:
    """What all say that are called the same may be versions of one page, which stay alike."""
    pages = [
        f"<title>Tea {i}</title><h1>Tea</h1>{NOTE}<p>{own(w)}</p>" for i, w in enumerate(WORDS)
    ]
    for main in crawl(pages):
        assert "qualified person" in main.text


def test_a_list_of_links_that_a_few_pages_keep_is_a_menu() -> None:
    """It is that of a part of the site, and far longer than what its pages say."""
    parts = {
        part: "".join(f"<tr><td><a href=/{part}/{w}>{part} {w}</a></td></tr>" for w in WORDS)
        for part in ("rope", "sail", "deck", "hull", "crew", "port")
    }
    pages = [
        f"<title>{part} {w}</title><h1>{part} {w}</h1><table class=box>{table}</table><p>{own(w)}"
        for w in WORDS[:8]
        for part, table in parts.items()
    ]
    for main in crawl(pages)[30:]:
        assert main.text.count("\n") < 4
        assert "as pilots say" in main.text


def test_pages_that_are_all_called_the_same_are_told_apart_by_their_text() -> None:
    """A site that puts its name alone over each page has other pages, not versions of one."""
    layout = "<title>Museum</title><h1>Museum</h1><p>{0}</p><div class=col-4>{1}</div>"
    found = crawl([layout.format(own(w), NOTE) for w in WORDS])
    for word, main in list(zip(WORDS, found, strict=True))[8:]:
        assert own(word) in main.text
        assert "qualified person" not in main.text
    assert len({main.heading for main in found[8:]}) == len(WORDS) - 8


@pytest.mark.parametrize("every", [1, 2])
def test_a_note_between_what_is_another_on_each_page(every: int) -> None:
    """It is known by itself if it is long, and none of a page's own words where half have it."""
    note = f"<p>{' '.join(NOTE.replace('</p>', '').split('<p>')).strip()}</p>"
    pages = [
        f"<title>{w} - Museum</title><b>{w}</b><p>{own(w)}</p>{'' if i % every else note}"
        f"<a href={i}>{WORDS[i - 1]}</a> <a href={i + 2}>{WORDS[i - 2]}</a>"
        for i, w in enumerate(WORDS)
    ]
    for word, main in list(zip(WORDS, crawl(pages), strict=True))[8::2]:
        assert own(word) in main.text
        assert ("qualified person" in main.text) == (every == 2)
        assert main.own_words < len(own(word).split()) + 4
        assert main.heading == word


def test_what_was_told_is_known_all_the_while() -> None:
    """Also while a worker has seen a few pages itself, from which it would learn less."""
    layout = "<title>Museum</title><h1>Museum</h1><table>{0}</table>{1}"
    pages = [
        layout.format("".join(f"<tr><th>{k}<td>{own(k + w)}" for k in WORDS[:3]), NOTE)
        for w in WORDS
    ]
    here, there = SharedTemplate(), SharedTemplate()
    crawl(pages, here)
    there.take(0, here.offer())
    for main in crawl(pages, there):
        assert "qualified person" not in main.text
        assert main.learnt >= 8


def test_a_template_learnt_from_a_few_pages_is_told_as_such() -> None:
    """Its menu is known, but not that what its pages have in common besides is the site's."""
    menu = "".join(f"<li><a href=/{w}>{w}</a></li>" for w in WORDS)
    pages = [f"<ul>{menu}</ul><h1>{w}</h1><p>{own(w)}</p>{NOTE}" for w in WORDS]
    here, there = SharedTemplate(), SharedTemplate()
    crawl(pages[:7], here)
    told = here.offer()
    for template in (here, there):
        template.take(0, told)
    assert len(there.known) >= len(WORDS)
    assert there.learnt == 0
    assert here.learnt == 6


@pytest.mark.parametrize("words", [40, 120, 400])
def test_a_single_long_block_is_no_reason_to_cut_what_is_below_the_heading(words: int) -> None:
    """As a list of inherited constants, which the pages of a few classes have."""
    constants = ", ".join(f"CODE_{number}" for number in range(words))
    for word in WORDS[:3]:
        page = f"""<title>{word} (Harbour)</title><main><h1>Class {word}</h1><div><dl><dt>Uses:</dt>
        <dd><a href=/a>harbour.Rope</a></dd></dl><div>public class {word} extends Rope</div></div>
        <section><h3>Fields inherited from Codes</h3><code>{constants}</code></section></main>"""
        text = strip_chrome(page).text
        assert f"Class {word}" in text
        assert f"class {word} extends" in text
        assert "CODE_7," in text


@pytest.mark.parametrize(
    "layout",
    [
        "<header><a href=/>Home</a><nav><ul><li><a href=/a>Boats</a><li><a href=/b>Tools</a></ul>"
        "</nav></header><main><div class=profile><div>{0}</div><div class=bio>{2}</div></div>"
        "<div class=box><p>{3}</p></div></main>",
        "<table><tr><td class=thead>{1}.5.2026, 10:{1}</td></tr><tr><td>Registered: 20{1}</td><td>"
        "<div><b>{0}</b></div><hr><div>{2}</div><div>__________________<br>{3}</div></td></tr></table>",
    ],
)
def test_pages_that_all_have_one_title(layout: str) -> None:
    """Their own lines count, also unlikely ones below a date, and not the note beside them."""
    note = " ".join(NOTE.replace("</p>", "").split("<p>"))
    lines = [(word, n, f"{n} {word} street") for n, word in enumerate(WORDS, 10)]
    pages = [f"<title>Museum</title>{layout.format(*line, note)}" for line in lines]
    for (word, _, own_line), main in list(zip(lines, crawl(pages), strict=True))[4:]:
        assert word in main.text
        assert own_line in main.text
        assert own_line in main.whole
        assert "qualified person" not in main.text


@pytest.mark.parametrize("body", ["app", "app aside-menu-fixed"])
def test_labels_and_buttons_are_text_where_a_page_says_so(body: str) -> None:
    """Beside a box with the same sentences on all pages, though <body> is named after that box."""
    walk = "Guided walks begin at the gate at ten, and those who want to come along may"
    message = f"<small>Ann 1:52 PM</small><div>Guided walks begin</div><small>{walk}</small>"
    box = f"<aside class=aside-menu>{f'<div class=message>{message}</div>' * 5}</aside>"
    page = f"<title>Admin</title><body class='{body}'><main><div class=card>{{}}</div></main>{box}"
    articles = [
        f"<p>{own(word)} {own(word * 2)} {own(word * 3)}</p><p>{own(word * 4)} {own(word * 5)}"
        for word in WORDS
    ]
    labels = list(zip(WORDS, WORDS[3:], WORDS[5:], strict=False))
    form = "<div>{}</div><div><button>Show {}</button><hr><button>Set {}</button></div>"
    forms = [form.format(*three) for three in labels]
    found = crawl([page.format(text) for text in articles + forms])[len(articles) :]
    for (first, second, third), main in zip(labels, found, strict=True):
        assert main.text.startswith(f"{first}\nShow {second}\nSet {third}\n")
        assert main.heading == first
        assert main.own_words == 5


def test_what_a_type_has_from_traits_is_not_its_text_below_a_known_heading() -> None:
    """As rustdoc heads it on each page, and lists all methods of an iterator."""
    sail = "Sails for so many knots, until the wind drops or somebody takes down the {}. Read more"
    page = """<title>{0} in harbour</title><main><h1>Struct {0}</h1><p>{1}</p>
    <h2>Auto Implementations</h2><p>None.</p>
    <h2>Trait Implementations<a href=#t>§</a></h2><div>{2}</div></main>"""
    pages = []
    for word in WORDS:
        ropes = random.Random(word).sample(WORDS, 12)
        methods = (f"<p>{rope.title()}. {sail.format(rope)} {own(rope)}</p>" for rope in ropes)
        pages.append(page.format(word, own(word), "".join(methods)))
    for word, main in zip(WORDS, crawl(pages), strict=True):
        assert own(word) in main.text
        assert "knots" not in main.text


def test_pages_of_one_name_whose_text_stands_below_a_note() -> None:
    """All begin with its blocks, so what comes next says that they are no versions of one."""
    page = "<title>Object</title><main><h1>Object</h1>{0}<p><b>{1}</b></p><p>{2}</p></main>"
    note = NOTE.replace(". ", ".</p><p>")
    pages = [page.format(note, word, own(word)) for word in WORDS]
    for word, main in list(zip(WORDS, crawl(pages), strict=True))[8:]:
        assert main.text == f"{word}\n{own(word)}"
        assert word in main.heading


def test_records_of_one_name_whose_facts_look_like_a_menu() -> None:
    """Beside a note they are cut, so all texts are equal until three lines tell the pages apart."""
    note = NOTE.replace(". ", ".</p><p>")
    page = (
        "<title>Object</title><table><tr><td>{0}</td><td><dl><dt>Inventory<dd>{1}<dt>Date"
        "<dd>{2}.5.1987<dt>Name<dd>{3}<dt>Material<dd>{4}<dt>Height<dd>12</dl></td></tr></table>"
    )
    lines = [(note, 100 + n, n, f"{word} box", f"{word} wood") for n, word in enumerate(WORDS, 10)]
    found = crawl([page.format(*line) for line in lines])
    for line, main in list(zip(lines, found, strict=True))[8:]:
        assert line[3] in main.text
        assert line[4] in main.text
        assert "qualified person" not in main.text


def test_a_gallery_keeps_all_of_its_captions() -> None:
    """Beside a note captions are unlikely, and no threshold cuts through them."""
    note = NOTE.replace(". ", ".</p><p>")
    figure = "<figure><img src=/{0}.jpg><figcaption>{0} and {1}</figcaption></figure>"
    draw = random.Random(1)
    found, lines = [], []
    for _ in range(12):
        lines.append([draw.sample(WORDS, 2) for _ in range(5)])
        figures = "".join(figure.format(*pair) for pair in lines[-1])
        found.append(f"<title>Museum</title><h1>Museum</h1>{figures}{note}<a href=/>Museum</a>")
    for pairs, main in list(zip(lines, crawl(found), strict=True))[4:]:
        assert main.text == "\n".join(" and ".join(pair) for pair in pairs)


def test_versions_of_a_page_that_differ_in_a_line_stay_alike() -> None:
    """A quotation below it, another at each visit, is no record of a database."""
    note = NOTE.replace(". ", ".</p><p>")
    pages = [f"<main><h1>Museum</h1>{note}<p>{own(word)}</p></main>" for word in WORDS]
    for main in crawl(pages):
        assert "oldest tide gauge" in main.text
        assert main.heading == "Museum"


@pytest.mark.parametrize("below", ["", "<div class=end><a href=/>Museum</a> <a href=/map>Map</a>"])
@pytest.mark.parametrize("wood", ["{}", "<a href=/wood>{}</a>"])
def test_lines_that_a_few_pages_have_are_none_of_a_menu(below: str, wood: str) -> None:
    """Each line of a page is also on pages of other names, between lists of links of all pages.

    Nor is one that says something of what it links.
    """
    links = "".join(f"<p><a href=/{w}>The {w} of old ships</a></p>" for w in WORDS)
    page = "<title>{0}</title><div class=xq12>{1}</div><h1>{0}</h1><p>Length: {2}.<p>Of {3}.{4}"
    woods = ("old oak", "iron")
    facts = [(w, size, of) for w in WORDS for size in "579" for of in woods]
    random.Random(3).shuffle(facts)
    found = crawl([page.format(w, links, n, wood.format(of), below) for w, n, of in facts])
    for (word, size, of), main in list(zip(facts, found, strict=True))[40:]:
        assert main.text.split("\n")[:3] == [word, f"Length: {size}.", f"Of {of}."]


def test_entries_of_a_list_say_something_of_their_links() -> None:
    """Three in a row are a list, though two fifths of each are none: who wrote it, and when."""
    draw = random.Random(3)
    posts = [f"The {w} and the {v} of old" for w, v in zip(WORDS, WORDS[5:], strict=False)]
    entry = "<li><a href=/p{0}>{1}</a> by Ann, in {0} words</li>"
    pages = []
    for word in WORDS * 3:
        recent = "".join(entry.format(n, posts[n]) for n in sorted(draw.sample(range(13), 6)))
        pages.append(
            f"<title>{word}</title><h1>{word}</h1><p>{own(word)} {own(word * 2)}</p>"
            f"<div class=xq2><ul>{recent}</ul></div>"
        )
    kept = [main.text.count("by Ann") for main in crawl(pages)[20:]]
    assert sum(kept) <= len(kept)  # of six each: not all pairs are known by then
