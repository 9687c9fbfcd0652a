"""What stands beside a main text goes, however little the page has of its own."""

import pytest

from crawler.chrome import strip_chrome

OWN = "The ferry crosses the river at nine and comes back at noon."
MENU = "<header><nav><ul><li><a href=/>Home</a><li><a href=/news>News</a></ul></nav></header>"
PAGE = f"<main><article><h1>The ferry</h1><p>{OWN}</p></article></main>"
ASKED = (
    "<h2>Your choice</h2><p>We and our partners store and read information on your device, such as "
    "cookies, and process personal data, such as unique identifiers, for advertising, measurement "
    "of content and research of audiences.</p><p>With your permission we may use precise location "
    "and identify devices by scanning. You may accept, or refuse, or see more detailed information "
    "and change your mind at any time by returning to this site.</p>"
)
REMARK = "I think the ferry deserves rather more thought than it gets here, number"


def text_of(body: str, title: str = "Press") -> str:
    return strip_chrome(f"<html><head><title>{title}</title></head><body>{body}</body></html>").text


@pytest.mark.parametrize(
    "box",
    [
        "<div id=CybotCookiebotDialog>",
        "<div id=onetrust-consent-sdk><div class='otFlat bottom'>",
        "<div class='cmplz-cookiebanner optin'>",
        "<aside id=moove_gdpr_cookie_info_bar>",
        "<div class=xq12 role=dialog aria-modal=true>",
        "<dialog>",
        "<div id=qc-cmp2-container><div class=qc-cmp2-summary-section>",
        "<section class=bottom-layer>",
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_consent_is_no_text(box: str, above: bool) -> None:
    """A dialog that asks for consent goes, though it has ten times the words of the page."""
    end = "".join(f"</{part.split()[0].strip('>')}>" for part in box.split("<")[:0:-1])
    asked = f"{box}{ASKED}{end}"
    found = text_of(asked + MENU + PAGE if above else MENU + PAGE + asked)
    assert OWN in found
    assert "unique identifiers" not in found


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize(
    "asked",
    [
        "<h2>This website uses cookies</h2><p>They count visits.</p><div><h3>Needed</h3><p>Without "
        "these cookies the site does not work, so they cannot be switched off.</p></div>",
        "<p>Wir verwenden Cookies und ähnliche Verfahren, um Besuche zu zählen und Werbung zu "
        "zeigen, die besser zu dem passt, was Sie gelesen haben.</p>",
    ],
)
def test_a_notice_about_cookies_needs_no_name(asked: str, above: bool) -> None:
    """Its words tell it, if it is above or below all other text of the page."""
    box, link = f"<div class=x1><div class=x2>{asked}</div></div>", "<a href=/c>Cookie policy</a>"
    page = f"<div><h1>The ferry</h1><p>{OWN}</p></div>"
    foot = f"<footer><p>Ferries Ltd {link}</p></footer>"
    found = text_of(MENU + (box + page if above else page + box) + foot)
    assert OWN in found
    assert "ookies" not in found


def test_what_a_text_says_about_cookies_is_text() -> None:
    """It has the text's heading, or is among its parts, or the page is about that."""
    said = "We use cookies, which are small files, to keep you logged in while you shop here."
    parts = f"<div><h2>Who we are</h2><p>{OWN}</p></div><div><h2>Log in</h2><p>{said}</p></div>"
    assert "small files" in text_of(f"{MENU}<div class=w>{parts}</div>")
    assert "small files" in text_of(MENU + parts, "Privacy policy")
    assert "small files" in text_of(f"{MENU}<div><h1>Shops</h1><p>{OWN}</p><p>{said}</p></div>")
    assert "small files" in text_of(f"{MENU}<div><p>{OWN}</p></div><main><p>{said}</p></main>")
    said = "<h2>Cookies</h2><p>Chocolate cookies are crisp, and oat cookies are soft inside.</p>"
    assert "oat cookies" in text_of(f"{MENU}<div><p>{OWN}</p></div><div>{said}</div>")


def test_a_page_about_consent_is_text() -> None:
    """Nothing is cut for its name where nothing else is left, or where the page's heading is."""
    body = f"<div class=cookie-policy><h1>Cookies</h1>{ASKED}</div>"
    for page in (MENU + body, f"{MENU}{body}<footer><p>We sell tea.</p></footer>"):
        assert "unique identifiers" in text_of(page, "Cookies")
    assert "unique identifiers" in text_of(f"<div role=dialog>{ASKED}</div>")


@pytest.mark.parametrize("page", ["<main>{}</main>", "{}"])
@pytest.mark.parametrize(
    "part",
    [
        "<section id=cookie-objects><h2>Objects</h2><p>{}</p></section>",
        "<dl><dt id=http.cookies.Cookie>{}</dt><dd>The class of all.</dd></dl>",
        "<div class=_functions_cookies><h2>Reference</h2><p>{}</p></div>",
    ],
)
def test_a_chapter_about_cookies_is_text(part: str, page: str) -> None:
    """A manual names chapters and terms after them, or its page by the class of the text."""
    said = "class Cookie: the server reads the cookies that a browser sends with each request"
    text = f"<div><h1>The server</h1><p>{OWN}</p></div>{part.format(said)}"
    assert said in text_of(MENU + page.format(text))
    assert said in text_of(MENU + f"<div>Appearance</div><main>{part.format(said)}</main>")


@pytest.mark.parametrize(
    "part",
    [
        "<section id=Request.cookies><div>{}</div></section>",
        "<table><tr id='session/cookies'><td>Session</td><td>{}</td></tr></table>",
        "<ol><li id='cookies(url:Url)'><p>{}</p></li></ol>",
        "<dl><dt id=Request.comment>{}</dt><dd>The request of all.</dd></dl>",
    ],
)
def test_ids_that_name_what_is_documented_say_nothing(part: str) -> None:
    """No part of a layout is called so, as a style would have to write it otherwise."""
    said = "Returns what the browser sent with its request, by name, in the order it came."
    assert said in text_of(f"{MENU}<div><h1>The server</h1><p>{OWN}</p>{part.format(said)}</div>")


def test_a_chapter_called_discussion_is_text() -> None:
    """The time of a page's last change signs no comments."""
    end = "<div id=footer>Last updated 2024-05-31 00:35:55 UTC</div>"
    said = "".join(f"<p>The tide of day {day} is later, as the moon was.</p>" for day in "abcd")
    for chapters in (
        f"<h2>Discussion</h2>{said}",
        "<h2>Discussion</h2><p>The tide is later each day, as the moon is.</p><h2>Files</h2>",
    ):
        found = text_of(f"{MENU}<h1>Tides</h1><p>{OWN}</p>{chapters}{end}")
        assert "The tide" in found
        remark = f"<h3>Comments</h3><b>Ann</b><i>May 3, 2024 at 10:20</i><p>{REMARK} 1.</p>"
        found = text_of(f"{MENU}<h1>Tides</h1><p>{OWN}</p>{chapters}{remark}")
        assert "The tide" in found
        assert "deserves" not in found


def test_comments_in_definition_lists_go() -> None:
    """As the themes of old blogs have them: below a post, far longer than it."""
    remarks = "".join(
        f"<dt class=comment>Reader {i}</dt><dd class=comment><div class=format_text><p>{REMARK} {i}"
        ", for the tables of the harbour say otherwise and have for a century.</p></div></dd>"
        for i in range(6)
    )
    post = f"<div class=post><h1>On tides</h1><div class=entry-content><p>{OWN}</p></div></div>"
    comments = f"<div id=comments><p>6 comments</p><dl id=comment_list>{remarks}</dl></div>"
    found = text_of(f"{MENU}<div id=content>{post}{comments}</div>")
    assert OWN in found
    assert "deserves" not in found


@pytest.mark.parametrize(
    ("chapter", "before", "after"),
    [
        ("Chapter 3. Before Installing", "3.1. Overview", "3.3. Information You Will Need"),
        ("Chương 4. Lấy vật chứa", "4.6. Cài đặt tự động", "Chương 5. Khởi động"),
        ("Kapitola 4. Získání médií", "4.6. Automatická Instalace", "Kapitola 5. Zavedení"),
    ],
)
def test_the_navigation_of_a_book_goes_in_any_language(
    chapter: str, before: str, after: str
) -> None:
    """DocBook repeats the title above the text, and names the neighbours around it."""

    def bar(name: str, *rows: str) -> str:
        table = "".join(f"<tr><th colspan=3>{row}</th></tr>" for row in rows)
        links = f"<tr><td><a href=/>{before}</a></td></tr>"
        return f"<div class={name}><table>{links}{table}</table></div>"

    own = "".join(f"<p>{OWN} It takes {i} minutes.</p>" for i in range(3))
    title = "3.2. The ferry"
    body = f"<div class=sect1><h2 class=title>{title}</h2>{own}</div>"
    page = bar("navheader", title, chapter) + body + bar("navfooter", after)
    found = text_of(page, title)
    assert found.split("\n")[0] == title
    assert found.count(title) == 1
    assert found.count(OWN) == 3
    for text in (chapter, before, after):
        assert text not in found


def test_what_is_hidden_outside_of_the_main_element_goes() -> None:
    """Where more is seen within it: else a script may show what is hidden."""
    hidden = "".join(f"<p>Quite another essay is here, part {i}, of taxes.</p>" for i in range(3))
    shown = "".join(f"<p>{OWN} It takes {i} minutes.</p>" for i in range(5))
    page = f"{MENU}<main><article><h1>The ferry</h1>{{}}</article></main>"
    hiding = f"<div style='display:none'>{hidden}</div>"
    assert "another essay" not in text_of(page.format(shown) + hiding)
    assert "another essay" in text_of(page.format("") + hiding)


def test_tables_are_text_beside_a_licence() -> None:
    """What says who owns a page does not make its tables and definitions look like a menu."""
    rows = "".join(f"<tr><td>{name}</td><td>{name} = y</td></tr>" for name in "abcd")
    law = (
        "<hr><p>Copyright &copy; 2001 The ferry company.</p><p>Permission to use, copy, modify, "
        "distribute and sell this software and its documentation for any purpose is hereby granted "
        "without fee, provided that the above copyright notice appears in all copies and that both "
        "that copyright notice and this permission notice appear in supporting documentation.</p>"
    )
    body = (
        f"<h1>Assignable</h1><h3>Notation</h3><dl><dt>X</dt><dd>A type that is assigned</dd></dl>"
        f"<h3>Expressions</h3><table>{rows}</table>"
    )
    found = text_of(body + law, "Concept Assignable")
    for text in ("Assignable", "A type that is assigned", "a = y", "d = y"):
        assert text in found
    assert "hereby granted" not in found
    assert "hereby granted" in text_of(f"<h1>Terms</h1>{law}", "Licence")


def test_a_notice_before_the_contents_of_a_manual_is_no_text() -> None:
    """The first pages of two manuals with one notice are not alike, as texi2any makes them."""
    around = "<p>Next: <a href=a>Intro</a>, Up: <a href=/>dir</a></p>"
    law = (
        "<p>Copyright &copy; 2001, 2002 The ferry company.</p><blockquote><p>Permission is granted "
        "to copy, distribute and/or modify this document under the terms of the GNU Free "
        "Documentation License, Version 1.2 or any later version published by the Free Software "
        "Foundation; with no Invariant Sections, with no Front-Cover Texts and no Back-Cover Texts."
        "</p></blockquote>"
    )
    parts = ("Introduction", "Starting the engine", "Leaving the harbour", "Mooring", "Index")
    links = "".join(f"<li><a href='{n}.html'>{n} {part}</a></li>" for n, part in enumerate(parts))
    found = text_of(
        f"{around}<h1>Ferries</h1><p>This manual documents ferries.</p>{law}"
        f"<h2>Table of Contents</h2><div class=contents><ul>{links}</ul></div><hr>{around}",
        "Top (Ferries 1.2)",
    )
    for text in ("This manual documents ferries.", "2 Leaving the harbour", "4 Index"):
        assert text in found
    assert "Permission" not in found
    assert "Copyright" not in found


def test_a_footer_is_no_text_beside_a_line() -> None:
    """A page of one line in its main element is a page of one line."""
    about = "The museum was founded by pilots and fishermen who kept the tools of their trade. " * 9
    found = text_of(f"{MENU}{PAGE}<footer><p>{about}</p></footer>")
    assert found.split("\n") == ["The ferry", OWN]
    assert "founded" in text_of(f"{MENU}<footer><p>{about}</p></footer>")


@pytest.mark.parametrize(
    ("heading", "signed"),
    [
        ("Comments", "Posted by: Reader {0} | July {0}, 2021 at 9:1{0} am"),
        ("6 Kommentare", "Kommentiert von: Leser {0} | 0{0}. Juli 2021 um 09:1{0}"),
        ("4 responses to “On tides”", "Reader {0} says: July {0}, 2021 at 9:1{0} am"),
        ("One response to “On tides”", "Reader {0} says: July {0}, 2021 at 9:1{0} am"),
        ("Commentaires", "Rédigé par : Lecteur {0} | le 0{0}/07/2021 à 21h1{0}"),
    ],
)
@pytest.mark.parametrize("above", [True, False])
def test_signed_comments_go(heading: str, signed: str, above: bool) -> None:
    """Below a heading that says so, with a day and a time above or below each, in any element."""
    remarks = ""
    for i in range(1, 5):
        remark = f"<p>{REMARK} {i}, for the tables of the harbour say otherwise.</p>"
        name = f"<p class=posted>{signed.format(i)}</p>"
        remarks += f"<div id=c10{i}>{name + remark if above else remark + name}</div>"
    post = f"<div class=post><h1>On tides</h1><p>{OWN}</p><p>It left at 9:15 in 2021.</p></div>"
    body = f"{MENU}<div id=content>{post}<h2>{heading}</h2>{remarks}</div>"
    found = text_of(body, "On tides – Press")
    assert OWN in found
    assert "deserves" not in found
    posts = text_of(f"{MENU}<div id=content><h2>{heading}</h2>{remarks}</div>")
    assert "deserves" in posts


def test_a_row_of_links_is_no_text() -> None:
    """Whatever its words, if nothing but signs is between them, above a text or below it."""
    rows = [
        " ｜ ".join(f"<a href=/{i}>{name}</a>" for i, name in enumerate(names))
        for names in (("トップ", "メニュー", "リンク"), ("前の話", "次の話"))
    ]
    story = "川の橋を渡っていた犬が、水の中にもう一匹の犬を見つけました。<br>犬は吠えました。"
    table = f"<table><tr><td>{story}</td></tr></table>"
    found = text_of(f"<div align=center>{rows[0]}</div>{table}<div>{rows[1]}</div>", "犬")
    assert found == story.replace("<br>", "\n")
    assert "メニュー" in text_of(f"<p>{story} {rows[0]}")


def test_a_line_that_names_another_page_is_no_text() -> None:
    """Between paragraphs; a sentence that links does say something."""
    tea = "Tea is an aromatic drink that is poured from a pot at all times of the day."
    lines = (
        "<b>Read also:</b> <a href=/1>Harbour master resigns</a>",
        "See <a href=/2>the pilots</a>",
    )
    body = "".join(f"<p>{tea} {i}</p><p>{line}</p>" for i, line in enumerate(lines))
    found = text_of(f"<main><h1>Tea</h1>{body}<p>{tea}</p></main>", "Tea")
    assert "Harbour master" not in found
    assert found.count(tea) == 3


def test_the_next_article_is_none_of_the_page() -> None:
    """Which is named by its title; if that names none of them, or both, all are its text."""
    lines = "".join(f"<p>{OWN} So said the {{0}} of part {i}.</p>" for i in range(4))
    parts = "".join(
        f"<article><h1>{name}</h1>{lines.format(name.lower())}</article>"
        for name in ("Pilot", "Mayor")
    )
    assert "the mayor" not in text_of(f"<main>{parts}</main>", "Pilot - Press")
    for title in ("Press", "Pilot and Mayor"):
        assert "the mayor" in text_of(f"<main>{parts}</main>", title)


def test_what_a_blog_says_of_itself_is_no_text() -> None:
    """Above the title of its post, in a header, however long it is."""
    about = f"<p>{REMARK} one, and no picture may be printed without a word to its owner first.</p>"
    post = f"<div class=post><h3>Going on</h3><p>{OWN}</p></div>"
    found = text_of(f"{MENU}<div class=blog-header>{about * 3}</div>{post}", "Going on")
    assert "deserves" not in found
    assert OWN in found
    assert "deserves" in text_of(f"<div class=header><h1>Going on</h1>{about}</div>{post}", "Going")


def test_what_a_site_shows_to_nobody_goes() -> None:
    """However long it is; but not if there is nothing else."""
    hidden = "".join(f"<p>Quite another essay is here, part {i}, of taxes.</p>" for i in range(9))
    box = f"<div class='guide w-condition-invisible'><div class=w-richtext>{hidden}</div></div>"
    shown = f"<div class=section><h1>The ferry</h1><p>{OWN}</p></div>"
    assert "another essay" not in text_of(f"{MENU}{shown}{box}")
    assert "another essay" in text_of(f"{MENU}{box}")


@pytest.mark.parametrize("mark", ["memitem:a6c inherit pub_x", "inherit_header", "inherited-list"])
def test_what_a_class_inherits_is_another_pages_text(mark: str) -> None:
    """Two classes are no copies for what both have from a third, as Doxygen lists it on each."""
    rows = "".join(f"<tr class='{mark}'><td>void<td>sail{i} (int knots)" for i in range(40))
    page = f"{MENU}<h1>Ferry</h1><p>{OWN}</p><table>{rows}</table>"
    assert "knots" not in text_of(page)
    assert OWN in text_of(page)
    assert "knots" in text_of(f"{MENU}<table>{rows}</table>")
    assert "knots" in text_of(page.replace(mark, "text-inherit"))


INHERITING = [
    "<section><ul><li><h3>Methods inherited from class&nbsp;org.harbour.Boat&lt;T&gt;</h3>{}</ul>",
    "<table><tr><th>Nested classes/interfaces inherited from class a.b.Boat<tr><td>{}</table>",
    "<div><h5>Properties inherited from ABoat (34)</h5><div><h6>Boat:knots</h6>{}</div></div>",
    "<section><h3>クラスorg.harbour.Boatから継承されたメソッド</h3>{}</section>",
    "<section><h3>从类继承的方法 org.harbour.Boat</h3>{}</section>",
    "<h3>Fields inherited from interface Boat</h3>{}",
    "<h3>Blanket Implementations<a href=#b>§</a></h3><div><h4>impl Boat for Ferry</h4>{}</div>",
    "<div><p>Inherited from <code>a.Boat</code> (via <code>Ship</code>):</p>"
    "<table><tr><td>Method</td><td>{}</td></tr></table></div>",
]


@pytest.mark.parametrize("listed", INHERITING)
def test_what_a_heading_says_is_inherited_is_another_pages_text(listed: str) -> None:
    """As in manuals by Javadoc, gi-docgen, pydoctor and rustdoc, without such class names."""
    names = f"<code>{', '.join(f'sail{number}(knots)' for number in range(60))}</code>"
    page = f"{MENU}<main><h1>Ferry</h1><p>{OWN}</p>{listed.format(names)}<h3>Rowing</h3><p>{REMARK}"
    assert "knots" not in text_of(page)
    assert OWN in text_of(page)
    assert REMARK in text_of(page)
    assert "knots" in text_of(f"{MENU}<main><h1>Ferry</h1>{listed.format(names)}")


@pytest.mark.parametrize("heading", [
    "Traits inherited from parents", "Names inherited from", "Inherited from Father:",
    "Trait implementations",
])  # fmt: skip
def test_what_people_inherit_is_text(heading: str) -> None:
    """An article may have such a heading, too, as a chapter of the Rust Reference has."""
    assert REMARK in text_of(f"{MENU}<main><h1>Ferry</h1><p>{OWN}</p><h3>{heading}</h3><p>{REMARK}")
