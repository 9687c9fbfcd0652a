"""Lines that some pages of a site share stay: rows, tables, lists of chapters."""

import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.chrome import SharedTemplate, SiteTemplate, strip_chrome
from tests.chrome.hostile import SOUP
from tests.chrome.template.pages_of_site import AUTHOR, BANNER, TOPICS, article, learn, signed


def picked(season: str, sentences: int) -> str:
    own = f"In {season} it was picked. " * sentences
    return article("oolong").replace("</main>", f"<p>{own}</p></main>")


@pytest.mark.parametrize(("sentences", "stays"), [(1, True), (4, True), (12, False), (40, False)])
def test_near_copies_keep_what_they_have_in_common(sentences: int, stays: bool) -> None:
    """A site of nothing but versions of a page does not lose its text; one of letters loses the
    common part, though it is longer than what each says."""
    template = SiteTemplate()
    seasons = ("spring", "summer", "autumn", "winter", "May", "June")
    learn(template, *(picked(season, sentences) for season in seasons))
    found = strip_chrome(picked("spring", sentences), template=template.known())
    assert ("oolong of sort 3" in found.text) == stays
    assert "In spring it was picked" in found.text


def kettle(number: int) -> str:
    draw = random.Random(number)
    text = "It boils the water for a pot of tea, in a short time, and sings when that is done. " * 9
    rows = "".join(
        f"<tr><td>The {part}</td><td>made of {draw.choice(('steel', 'glass', 'copper'))} by hand"
        "</td></tr>"
        for part in ("lid", "spout", "handle", "base", "whistle", "body", "knob", "rim", "valve")
    )
    return f"<main><h1>Kettle</h1><p>{text}</p><table>{rows * 3}</table></main>"


def test_rows_that_some_pages_have_in_common_stay() -> None:
    """Products that differ in their tables alone are not reduced to what all of them say."""
    template = SiteTemplate()
    for number in range(40):
        found = strip_chrome(kettle(number))
        template.observe(found.hashes(), number)
    found = strip_chrome(kettle(50), template=template.known())
    assert found.text.count("made of") == 27


def timetable(day: int) -> str:
    draw = random.Random(day)
    rows = "".join(
        f"<tr><td>{hour}:00</td><td>Lesson {draw.choice('ABCD')} on {draw.choice(TOPICS)}</td>"
        for hour in range(8, 18)
    )
    footer = "<footer><p>The school of tea by the old harbour</p></footer>"
    return f"<main><h1>Today</h1><table>{rows}</table></main>{footer}"


def test_what_is_put_together_of_known_lines_stays() -> None:
    """A timetable all lines of which others have is not reduced to its footer, and their copy."""
    template = SiteTemplate()
    learn(template, *map(timetable, range(50)))
    for day in range(50, 100):
        found = strip_chrome(timetable(day), template=template.known())
        assert found.text.count("Lesson") == 10


def weather(month: int) -> str:
    draw, town = random.Random(month), TOPICS[month % len(TOPICS)]
    rows = "".join(f"<tr><td>{day}<td>{draw.randrange(300) / 10}</tr>" for day in range(30))
    text = f"The harbour of {town} lies in the lee of two hills: frost is rare, {town} warm. " * 3
    days = "".join(f"<td><a href=/{day}>{day}</a></td>" for day in range(30))
    return (
        f"<main><h1>{town}, month {month}</h1><p>{text}</p><table>{rows}</table></main>"
        f"<aside class=sidebar><table class=calendar><tr>{days}</tr></table></aside>"
    )


def test_tables_that_differ_in_their_numbers_stay() -> None:
    """Values are a page's own text, though its site has such tables, and a calendar, everywhere."""
    template = SiteTemplate()
    learn(template, *map(weather, range(20)))
    alone = strip_chrome(weather(20))
    found = strip_chrome(weather(20), template=template.known())
    values = re.findall(r"^\d+\.\d$", alone.text, re.MULTILINE)
    assert len(values) >= 29
    assert re.findall(r"^\d+\.\d$", found.text, re.MULTILINE) == values


def rooms(month: int) -> str:
    draw, inn = random.Random(month), TOPICS[month % len(TOPICS)]
    cells = "".join(f"<td>{draw.choice(('free', 'booked'))}</td>" for _ in range(70))
    text = f"The inn of {inn} has four rooms with a view of the sea, and {inn} for breakfast. " * 3
    return f"<main><h1>{inn}</h1><p>{text}</p><table><tr>{cells}</table></main>"


def test_tables_of_few_words_stay() -> None:
    """Where each page has all pairs of "free" and "booked", their order is still its own text."""
    template = SiteTemplate()
    learn(template, *map(rooms, range(20)))
    found = strip_chrome(rooms(20), template=template.known())
    assert len(re.findall(r"^(?:free|booked)$", found.text, re.MULTILINE)) == 70


PARTS = ("water", "pots", "cups", "leaves")


def manual(topic: str, part: str = "") -> str:
    lists = {
        topic: "".join(f"<li><a href=/{topic}/{part}>{part} for {topic}</a>" for part in PARTS)
        for topic in TOPICS
    }
    menu = "".join(f"<li>{topic}<ul>{parts}</ul>" for topic, parts in lists.items())
    text = article(topic + part) if part else f"<ul>{lists[topic]}</ul>"
    intro = "This chapter has all that is to be known, from what to buy to how it is cleaned. " * 2
    return (
        f"<nav class=sidebar><ul>{menu}</ul></nav><main><h1>{topic}</h1><p>{intro}</p>{text}</main>"
    )


def test_what_a_chapter_lists_stays() -> None:
    """The menu of a manual has all lists of its chapters, which differ in nothing else."""
    template = SiteTemplate()
    learn(template, *(manual(topic, part) for topic in TOPICS for part in PARTS))
    found = strip_chrome(manual("oolong"), template=template.known())
    assert [f"{part} for oolong" in found.text for part in PARTS] == [True] * len(PARTS)
    assert "assam" not in found.text
    learn(template, *map(manual, TOPICS))  # which keep their lists
    edition = manual("oolong").replace("<h1>", "<h1>Second edition: ")
    found = strip_chrome(edition, template=template.known())
    assert [f"{part} for oolong" in found.text for part in PARTS] == [True] * len(PARTS)


def test_the_numbers_of_a_calendar_are_not_those_of_a_table() -> None:
    """Digits of what is cut are folded, but to no digit: the calendar in a menu has no zeros."""
    template = SiteTemplate()
    learn(template, *map(weather, range(20)))
    zeros = "<tr><td>Hail<td>0<td>0<td>0</tr>"
    html = weather(20).replace("<table><tr>", f"<table>{zeros}<tr>")
    found = strip_chrome(html, template=template.known())
    assert "Hail\n0\n0\n0\n" in found.text


@pytest.mark.parametrize(
    ("tag", "times"), [("footer", 1), ("div class=foot", 2), ("div class=teaser", 1)]
)
def test_what_stands_alone_below_a_text_stays_out(tag: str, times: int) -> None:
    """It is no pair with what is another text on each page, so no template ever has it."""
    template = SiteTemplate()
    menu = "".join(f"<li><a href=/{topic}>Shop for {topic}</a>" for topic in TOPICS)
    below = "The company was founded by three sisters, and all of its tea comes from one hill. "

    def page(topic: str) -> str:
        text = (
            f"<p>The {topic} of the valley is grown on hills, where rain and patience make it good."
            f"<p>Nobody knows who brought {topic} to the village, although many claim they do."
        )
        end = f"<{tag}><p>{below * times}</{tag.split()[0]}>"
        return f"<nav>{menu}</nav><main><h1>{topic}</h1>{text}</main>{end}"

    learn(template, *map(page, TOPICS))
    found = strip_chrome(page("rooibos"), template=template.known())
    assert "three sisters" not in found.whole
    assert "three sisters" not in found.text
    assert found.text.count("rooibos") == 3


@settings(deadline=None)
@given(html=SOUP, draw=st.randoms(use_true_random=False))
def test_nothing_else_is_lost_for_a_template(html: str, draw: Any) -> None:
    """What a page alone keeps is cut where it is the template's, and little anywhere else."""
    page = article("oolong") + html
    alone = strip_chrome(page)
    pairs = sorted(alone.hashes())
    found = strip_chrome(page, template={0, *draw.sample(pairs, len(pairs) // 3)})
    of_template = {block.text for block in found.blocks if block.reason == "template"}
    own = {block.text for block in alone.blocks if block.kept} - of_template
    lines = found.text.replace("-\n", "- ").split("\n")  # a word may go on after a hyphen
    lost = {text for text in own if "\n" not in text}.difference(lines)
    assert sum(map(len, lost)) <= 0.1 * sum(map(len, own))


def test_a_page_with_nothing_of_its_template_is_read_alone() -> None:
    """Its text is the one that it has anywhere else, in doubt as well."""
    for number in range(30):
        posts = "".join(f"<p>Posted by Bob {i}</p><p>Reply</p>" for i in range(number))
        page = article("oolong") + posts
        alone, found = strip_chrome(page), strip_chrome(page, template={0})
        assert (found.text, found.whole) == (alone.text, alone.whole)


def register(number: int) -> str:
    lines = "".join(
        f"<li>The {topic} of our {place}, by the pound</li>"
        for place in ("house", "garden", "cellar", "shop")
        for topic in TOPICS
    )
    footer = "<footer><p>The house of tea by the old harbour</p></footer>"
    return f"<main><h1>Tea of {'abcdefghij'[number]} kinds</h1><ul>{lines}</ul></main>{footer}"


def test_pages_that_share_nearly_all_their_lines_keep_them() -> None:
    """They are near-copies of each other, and stay so: nothing but a heading would be left."""
    template = SiteTemplate()
    learn(template, *map(register, range(8)))
    assert template.known()
    found = strip_chrome(register(9), template=template.known())
    assert found.text == found.whole
    assert found.text.count("by the pound") == 32


def test_versions_of_a_page_teach_once() -> None:
    """A live report that is asked for again and again keeps its older entries."""
    entries = [f"<p>At {hour} the {TOPICS[hour % 8]} was poured out.</p>" for hour in range(30)]
    template = SharedTemplate()
    for count in range(5, 30):
        html = f"<main><h1>Live</h1>{''.join(reversed(entries[:count]))}</main>"
        found = strip_chrome(html, template=template.known)
        template.observe(found, "https://example.com/live")
        assert found.text.count("poured") == count


def test_copies_do_not_teach_that_their_headline_is_the_name_of_a_site() -> None:
    """Papers print one article, each with its own name in the title and a word of its own below."""
    papers = ("Argus", "Beacon", "Courier", "Dispatch", "Echo", "Herald", "Mercury", "Observer")
    text = "The lamp at the point has been put out after a hundred and twelve years of service."
    template = SharedTemplate()
    for paper in papers:
        html = (
            f"<title>The lamp | The {paper}</title><main><h1>The lamp</h1>"
            f"<p>{text} It will be missed.</p><p>Printed by the {paper}.</p></main>"
        )
        found = strip_chrome(html, template=template.known)
        assert found.heading == "The lamp"
        template.observe(found, f"https://papers.example/{paper}")


def test_running_text_is_unlearnt_and_not_told_to_others() -> None:
    """The first pages of a host do not decide for good what of its running text is chrome."""
    template = SharedTemplate()
    for page in map(signed, TOPICS):
        template.observe(strip_chrome(page))
    assert AUTHOR not in strip_chrome(signed("yunnan"), template=template.known).text
    other = SharedTemplate()
    other.take(0, template.offer())
    assert BANNER not in strip_chrome(signed("yunnan"), template=other.known).text
    assert AUTHOR in strip_chrome(signed("yunnan"), template=other.known).text
    for page in map(article, ("lapsang", "rooibos", "mate")):
        template.observe(strip_chrome(page, template=template.known))
    assert AUTHOR in strip_chrome(signed("yunnan"), template=template.known).text


def test_chrome_matters_less_once_it_is_known() -> None:
    """Then blocks are judged by the rest of their page, which all copies of a text share."""
    menu = "".join(f"<li><a href=/{topic}>Shop for {topic}</a>" for topic in TOPICS)
    offers = "".join(
        f"<div class=teaser><h3>Our {part}</h3><p>The best of all that we have had, and {part}."
        for part in PARTS
    )
    more = "<ul><li>{0} from India<li>{0} from China</ul><p>See also <a href=/x>{0} pots</a>"
    alone, learnt = [], []
    for chrome in f"<nav>{menu}</nav>{{}}<footer>Tea</footer>", f"<div>{{}}</div>{offers}":
        template = SiteTemplate()

        def page(topic: str, chrome: str = chrome) -> str:
            return chrome.format(article(topic).replace("</main>", more.format(topic)))

        learn(template, *map(page, TOPICS))
        for found, known in (alone, frozenset()), (learnt, template.known()):
            blocks = strip_chrome(page("rooibos"), template=known).blocks
            found.append([block.likelihood for block in blocks if "rooibos" in block.text])
    assert len(alone[0]) == len(learnt[0]) == 5
    assert np.abs(np.subtract(*learnt)).sum() < 0.6 * np.abs(np.subtract(*alone)).sum()
