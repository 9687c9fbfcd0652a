"""What must be found on pages of all kinds, however they are written.

Each page has navigation and a footer, of which nothing may come along; the content is what matters.
"""

import lxml.html
import pytest

from benchmarks.main_text import records
from benchmarks.main_text.facts import measure
from crawler.chrome import strip_chrome

NAV = """<header><nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li>
<li><a href="/about">About us</a></li><li><a href="/contact">Contact</a></li></ul></nav></header>"""
FOOTER = """<footer><ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy</a>
</li></ul><p>© 2026 The Leaf Ltd</p></footer>"""
LEAVES = (
    "Tea is an aromatic beverage prepared by pouring hot water over cured leaves, and it is "
    "drunk everywhere in the world, hot or cold, with milk or without."
)
WATER = (
    "After plain water, it is the most widely consumed drink in the world, in many styles, and "
    "some of them, such as Darjeeling, have a cooling, slightly bitter flavour."
)


def text_of(body: str) -> str:
    return strip_chrome(
        f"<!doctype html><html><head><title>The Leaf</title></head><body>{NAV}{body}{FOOTER}"
    ).text


def check(body: str, *wanted: str) -> str:
    found = text_of(body)
    assert [text for text in wanted if text not in found] == []
    assert "Contact" not in found
    assert "Imprint" not in found
    return found


@pytest.mark.parametrize(
    "name",
    [
        "sidebar-content", "has-banner", "footer-fixed", "menu-open page", "ad-free",
        "comment-body", "related", "share", "nav", "cookie", "widget", "modal-content",
        "newsletter", "hidden-xs",
    ],
)  # fmt: skip
def test_misleading_class_names(name: str) -> None:
    """A class name alone cuts nothing."""
    check(f'<div class="{name}" id="{name}"><h1>Tea</h1><p>{LEAVES}</p><p>{WATER}</p></div>',
          LEAVES, WATER)  # fmt: skip


def test_tags_of_a_site() -> None:
    """Where all parts of a page are elements of its own, their names tell which is which."""
    banner = "This website uses cookies so that it works as you expect, and to count its readers."
    public = "The Leaf is a public body under the Harbours Act of 1911, and open to everybody."
    text = "".join(f"<p>{part}</p>" for part in (LEAVES, WATER, LEAVES + WATER, WATER + LEAVES))
    found = check(
        f"<app-root><app-page><div><rich-text><h1>Tea</h1>{text}</rich-text></div></app-page>"
        f"<app-site-footer><div><p>{public}</p></div></app-site-footer>"
        f"<app-cookie-banner><div><p>{banner}</p></div></app-cookie-banner></app-root>",
        LEAVES,
        WATER,
    )
    assert [text for text in (banner, public) if text in found] == []


@pytest.mark.parametrize("tag", ["aside", "noscript", "center", "dialog open", "figure", "details"])
def test_elements_that_mostly_hold_something_else(tag: str) -> None:
    """Running text is content in any element, if the page has no other."""
    check(f"<{tag}><h1>Tea</h1><p>{LEAVES}</p><p>{WATER}</p></{tag.split()[0]}>", LEAVES, WATER)


def test_tables() -> None:
    """A table in an article is part of it, cell by cell."""
    teas = ["Assam", "Darjeeling", "Ceylon", "Keemun", "Lapsang"]
    rows = "".join(f"<tr><td>{tea}<td>{i * 3} minutes<td>{90 + i} °C" for i, tea in enumerate(teas))
    check(f"<main><h1>Tea</h1><p>{LEAVES}</p><table><tr><th>Tea<th>Time<th>Heat{rows}</table>"
          f"<p>{WATER}</p></main>", LEAVES, WATER, *teas, "12 minutes", "94 °C")  # fmt: skip


def test_definition_lists() -> None:
    """Terms and what they mean are content."""
    terms = {"Oolong": LEAVES, "Matcha": WATER}
    listed = "".join(f"<dt>{term}</dt><dd>{meaning}</dd>" for term, meaning in terms.items())
    check(f"<h1>Glossary</h1><dl>{listed}</dl>", *terms, *terms.values())


def test_code_with_its_lines() -> None:
    """Lines and indentation of code stay as they are, also where each is marked up."""
    code = "def brew(leaves):\n    for leaf in leaves:\n        yield leaf + 1\n\n    return None"
    marked = "\n".join(f"<span class=l>{line}</span>" for line in code.split("\n"))
    for inner in (code, f"<code>{code}</code>", f"<code>{marked}</code>"):
        check(f"<main><h1>Brewing</h1><p>{LEAVES}</p><pre>{inner}</pre><p>{WATER}</p></main>",
              LEAVES, code, WATER)  # fmt: skip


def test_alternative_texts_stay_out() -> None:
    """What an image shows is said by its caption, not by its alternative text."""
    found = check(
        f'<main><h1>Tea</h1><p>{LEAVES}</p><figure><img src=a alt="unseen one" title="unseen two">'
        f'<figcaption>A cup of tea</figcaption></figure><p>{WATER}<img alt="unseen three"></p>',
        LEAVES, WATER,
    )  # fmt: skip
    assert "unseen" not in found


def test_all_posts_of_a_forum() -> None:
    """The last answer is kept as the first is, short ones too."""
    posts = [f"Post number {i}: {LEAVES if i % 2 else WATER} I have done so {i} times."
             for i in range(1, 15)]  # fmt: skip
    thread = "".join(
        f'<div class="post"><div class="user"><a href="/u{i}">user{i}</a></div>'
        f'<div class="message">{post}</div><a href="#r{i}">Reply</a></div>'
        for i, post in enumerate(posts)
    )
    check(f"<h1>How do you brew?</h1><div class=thread>{thread}</div>", *posts)


def test_product_descriptions() -> None:
    """A product's description and its properties are what its page is about."""
    check(
        '<div class="product"><h1>Darjeeling First Flush</h1><img src=a><span class=price>€ 12.90'
        f'</span><button>Add to cart</button><div class="description">{LEAVES}</div>'
        f"<ul class=specs><li>Origin: Darjeeling, in the hills of West Bengal</li>"
        f"<li>Harvest: spring, before the rains</li></ul><p>{WATER}</p></div>",
        LEAVES, WATER,
    )  # fmt: skip


def test_facts_that_tell_products_apart() -> None:
    """Values beside a short description stay, however they are marked up: else pages are lost."""
    assert measure(200)["all"]["facts_kept"] > 0.95


def test_facts_beside_a_note_that_all_pages_have() -> None:
    """Pages that differ in a few facts are no copies of each other: else all but one are lost."""
    note = "Study with us: our open days are in May, and all of you are welcome to come and see."
    check(
        "<main><h1>Ann Lee</h1><div class=role>Reader in Botany</div><ul class=contact>"
        f"<li>Room 4.12</li><li>ann.lee@leaf.example</li></ul><p>{note}</p></main>",
        "Ann Lee", "Reader in Botany", "Room 4.12", "ann.lee@leaf.example",
    )  # fmt: skip
    assert records.measure(60)["all"]["dropped"] < 0.1


def test_listings() -> None:
    """A listing's items are its content."""
    items = [f"Tea of the year {1990 + i}, a leaf of garden {i}, light and cool" for i in range(20)]
    listed = "".join(
        f'<li class="item"><h3><a href="/{i}">{item}</a></h3><p>From {i} euros, in tins.</p></li>'
        for i, item in enumerate(items)
    )
    check(f"<main><h1>All teas</h1><ul class=list>{listed}</ul></main>", *items)


def test_pages_without_paragraphs() -> None:
    """Text in divisions, parted by line breaks, or bare in the body is text."""
    for body in (
        f"<div>{LEAVES}</div><div>{WATER}</div>",
        f"<div>{LEAVES}<br><br>{WATER}</div>",
        f"{LEAVES}<br>{WATER}",
        f"<table><tr><td><font>{LEAVES}<br>{WATER}</font></table>",
    ):
        check(body, LEAVES, WATER)


@pytest.mark.parametrize(
    "sentence",
    [
        "الشاي مشروب عطري يُحضَّر بصب الماء الساخن على الأوراق المجففة، ويُشرب في كل مكان في العالم. ",
        "תה הוא משקה ארומטי המוכן על ידי יציקת מים חמים על עלים מיובשים, ושותים אותו בכל העולם. ",
        "چای نوشیدنی معطری است که با ریختن آب داغ روی برگ‌های خشک تهیه می‌شود، و همه آن را می‌نوشند. ",
    ],
)
def test_right_to_left(sentence: str) -> None:
    """The text comes in the order in which it is read, its letters as they are."""
    check(f'<main dir="rtl"><h1>{sentence[:4]}</h1><p>{sentence * 2}</p><p>{sentence * 3}</p>',
          (sentence * 2).strip(), (sentence * 3).strip())  # fmt: skip


def test_unclosed_and_misnested_tags() -> None:
    """Markup that browsers put right costs no text."""
    for body in (
        f"<div><p>{LEAVES}<p>{WATER}",
        f"<p>{LEAVES}<b><i></b></p></i><td><p>{WATER}</span></section></div>",
        f"<main><h1>Tea</h2><p>{LEAVES}</main></p><div><p>{WATER}",
        f"<table><p>{LEAVES}</p><tr><p>{WATER}</p></table>",
        f"<a href=x><div><p>{LEAVES}</p></a><p>{WATER}</p></div>",
    ):
        found = text_of(body)
        assert LEAVES in found
        assert WATER in found


@pytest.mark.parametrize(
    "start",
    [
        "<template>", "<div hidden>", '<div aria-hidden="true">', '<div style="display:none">',
        '<section style="color: red; DISPLAY : NONE">',
    ],
)  # fmt: skip
def test_hidden_texts(start: str) -> None:
    """What a reader does not see is left out where the page has a text that is seen."""
    end = f"</{start[1:].split()[0].rstrip('>')}>"
    found = check(
        f"<main><h1>Tea</h1><p>{LEAVES}</p><p>{WATER}</p></main>{start}<p>Buy more now.</p>{end}",
        LEAVES, WATER,
    )  # fmt: skip
    assert "Buy more" not in found


@pytest.mark.parametrize(
    "start", ["<p hidden>", '<p aria-hidden="true">', '<p style="display:none">', "<div hidden><p>"]
)
def test_hidden_among_what_is_seen(start: str) -> None:
    """So is a line that stands in the middle of that text, but not a good part of it.

    Scripts show such parts, as panels of tabs with the facts of a product.
    """
    line = "Thank you, the page was put on your list."
    text = f"<main><h1>Tea</h1><p>{LEAVES}</p>{{}}<p>{WATER}</p></main>"
    end = "</div>" * start.startswith("<div")
    assert line not in check(text.format(f"{start}{line}</p>{end}"), LEAVES, WATER)
    panel = f"{line} It has leaves of three gardens, picked in May and dried by hand."
    assert panel in check(text.format(f"{start}{panel}</p>{end}"), LEAVES, WATER)


def test_a_line_alone_in_its_element_has_no_siblings() -> None:
    """It is not main text for the paragraphs around its element."""
    line = "Please log in to go on reading."
    modal = f'<div class="modal" role="dialog"><p>{line}</p></div>'
    text = f"<main><p>{LEAVES}</p><p>{WATER}</p><p>{LEAVES}</p>{modal}</main>"
    assert line not in check(text, LEAVES, WATER)


@pytest.mark.parametrize("tree", [False, True])
def test_a_shadow_tree_is_seen(tree: bool) -> None:
    """Web components that a server has drawn stand in templates that browsers show."""
    html = (
        '<body><app-menu><template shadowrootmode="open"><nav><a href="/">Home</a></nav></template>'
        f'</app-menu><app-page><template shadowrootmode="open"><main><p>{LEAVES}</p><p>{WATER}</p>'
        "<template><p>Buy more now.</p></template></main></template></app-page>"
    )
    found = strip_chrome(lxml.html.fromstring(html) if tree else html).text
    assert LEAVES in found
    assert WATER in found
    assert "Buy more" not in found


@pytest.mark.parametrize(
    "part", ["<tr><td>{{a}}<td>", "<TD>", "<div><b>", "<template><td></template>"]
)
def test_a_template_ends_whatever_is_open_in_it(part: str) -> None:
    """As in browsers: HTML leaves out the ends of rows and cells."""
    shown = "<my-tea><template shadowrootmode=open><p>Shown at once.</p></template></my-tea>"
    script = "<script>let a = '<template>'</script><!-- <template> --><title>The template</title>"
    check(
        f"<main>{shown}<template id=row>{part}</template><p>{LEAVES}</p><p>{WATER}</p></main>",
        LEAVES,
        WATER,
    )
    for begin, end in (f"{script}<template>", "</template>"), ("<Template>", "</tempLATE>"):
        check(f"<main><p>{LEAVES}</p>{begin}{part}{end}<p>{WATER}</p></main>", LEAVES, WATER)
