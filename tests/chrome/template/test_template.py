"""What comes back on other pages of a site is learnt as its chrome, in bounded memory."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.chrome import SharedTemplate, SiteTemplate, block_hash, strip_chrome
from crawler.chrome.template.pairs import KEPT
from crawler.chrome.template.template import MAX_PAIRS, PairCounts, Recent
from tests.chrome.template.pages_of_site import AUTHOR, BANNER, TOPICS, article, learn, signed

FIRST_NOTE = "This part of the house is closed for some days while the roof is mended. " * 8


FIRST_NOTE = FIRST_NOTE.strip()


def test_what_comes_back_is_chrome() -> None:
    """A block on several different pages is learnt, and then cut."""
    template = SiteTemplate()
    learn(template, *(article(topic) for topic in ("oolong", "assam", "sencha", "matcha")))
    found = strip_chrome(article("pu-erh"), template=template.known())
    assert BANNER not in found.text
    assert "Every week" not in found.text
    assert "pu-erh of sort 3" in found.text


def test_one_article_on_many_urls_is_not_chrome() -> None:
    """A site whose pages are all copies teaches nothing."""
    template = SiteTemplate()
    learn(template, *[article("oolong")] * 50)
    assert template.known() == frozenset()


def test_a_paginated_or_reprinted_article_stays() -> None:
    """The running text of an article that comes back in other pages is never learnt."""
    template = SiteTemplate()
    learn(template, *(article("oolong", part) for part in range(20)))
    found = strip_chrome(article("oolong", 21), template=template.known())
    assert "oolong of sort 3" in found.text


def test_rare_blocks_of_a_large_site_are_not_chrome() -> None:
    """What stands on few of very many pages is not the site's template."""
    template = SiteTemplate(least_share=0.1)
    for page in range(100):
        template.observe({1: False, 2 if page < 5 else page + 10: False}, page)
    assert template.known() == {1}


def test_a_heading_of_many_pages_stays() -> None:
    """What comes back alone, between other texts on each page, is no chrome."""
    template = SiteTemplate()
    bodies = [
        f"<h1>Tool {name}</h1><p>The {name} is a tool, and a good one.</p><h2>Parameters</h2>"
        f"<p>It takes {name} words, each of them an {name} of its own, in any order.</p>"
        for name in ("axe", "bow", "cup", "dye", "elk", "fir")
    ]
    learn(template, *bodies)
    assert "Parameters" in strip_chrome(bodies[0], template=template.known()).text


def test_digits_do_not_count() -> None:
    """A counter that runs is one block."""
    assert block_hash("Seen 1,204 times") == block_hash("Seen 9,317 times")
    assert block_hash("Seen 1 time") != block_hash("Sold 1 time")


@given(st.lists(st.tuples(st.lists(st.integers(0, 99)), st.integers(0, 30))))
def test_memory_is_bounded(pages: list[tuple[list[int], int]]) -> None:
    """However much is observed, no more than the bounds is remembered."""
    template = SiteTemplate(max_pairs=8)
    for blocks, content in pages:
        template.observe(dict.fromkeys(blocks, False), content)
    assert len(template.known()) <= 8
    assert len(template._counts) <= 8


def test_a_large_host_takes_little_memory() -> None:
    """Of the pairs of thousands of pages, each of its own name, few that come back are kept."""
    draw = np.random.default_rng(1)
    template = SharedTemplate()
    again = draw.integers(1 << 32, size=2 * MAX_PAIRS)
    tracemalloc.start()
    try:
        for page in range(2500):
            pairs = {7: False} | dict.fromkeys(draw.choice(again, 50).tolist(), page % 2 > 0)
            pairs |= dict.fromkeys(draw.integers(1 << 32, size=50).tolist(), False)
            number, lines = 1 << 60 | page, draw.integers(1 << 16, size=64).tolist()
            template._own.observe(pairs, number, number, (number,) * 3, number, lines)
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert used < 200_000
    assert len(template._own._counts) > 0.8 * MAX_PAIRS
    assert {pair for pair in template._own.known() if pair < KEPT} == {7}


@given(
    st.lists(st.dictionaries(st.integers(0, 9), st.tuples(st.booleans(), st.booleans()))),
    st.integers(1, 40),
)
def test_pairs_are_counted(lessons: list[dict[int, tuple[bool, bool]]], size: int) -> None:
    """As in a plain table, from which those go first that came back least recently."""
    found, plain, last = PairCounts(size), dict[int, int](), dict[int, int]()
    for number, lesson in enumerate(lessons):
        keys = {pair | KEPT * kept: came for pair, (kept, came) in lesson.items()}
        found.count(np.array([*keys], np.uint64), np.array([*keys.values()], bool))
        for key, came in keys.items():
            if key in plain:
                plain[key] = plain.pop(key) + 1
            elif came:
                plain[key] = 1 if key ^ KEPT in plain else 2
            last[key] = number
        counted = dict(zip(found.pairs.tolist()[:-1], found.times.tolist(), strict=False))
        assert counted.items() <= plain.items()
        gone = plain.keys() - counted.keys()
        assert len(found) <= size
        assert len(plain) > size or not gone
        assert all(last[old] <= last[new] for old in gone for new in counted)
        plain = {key: times for key, times in plain.items() if key in counted}


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=8, unique=True)))
def test_what_was_seen_lately_is_known(pages: list[list[int]]) -> None:
    """Of the last numbers none is taken for new, and one at a time is as all at once."""
    recent, single, seen = Recent(16), Recent(16), list[int]()
    for numbers in pages:
        known = recent.add(np.array(numbers, np.uint64)).tolist()
        lately = seen[-16:]
        assert all(was for number, was in zip(numbers, known, strict=True) if number in lately)
        if len(numbers) == 1:
            assert [single.add_one(numbers[0])] == known
        else:
            single.add(np.array(numbers, np.uint64))
        seen = [number for number in seen if number not in numbers] + numbers


def test_what_was_not_seen_is_hardly_ever_known() -> None:
    """Some two in a hundred are taken for seen, however many there were, and the first of none."""
    recent = Recent(1024)
    numbers = np.random.default_rng(1).integers(0, 2**33, (100, 200), np.uint64)
    known = np.array([recent.add(row) for row in numbers])
    assert known[0].sum() == 0
    assert known.mean() < 0.03


def test_nobody_can_have_the_text_of_others_cut() -> None:
    """Paragraphs that other pages of the host have in their menus still belong to an article."""
    paragraphs = [
        f"<p>{f'Paragraph {i} of an article about tea, ' * 9}as it was.</p>" for i in "abc"
    ]
    template = SiteTemplate()
    for page in range(9):
        menu = "".join(f"<li><a href=/>{paragraph}</a>" for paragraph in paragraphs)
        own = f"Words of page {page}, which has many more. " * 30
        found = strip_chrome(f"<nav hidden><ul>{menu}</ul></nav><main><p>{own}</p></main>")
        template.observe(found.hashes(), page)
    assert template.known()
    article = f"<main><h1>Tea</h1>{''.join(paragraphs)}</main>"
    assert strip_chrome(article, template=template.known()).text == strip_chrome(article).text


def test_running_text_of_nearly_all_pages_is_chrome() -> None:
    """What is said of the author below each article goes, though one page alone keeps it."""
    template = SiteTemplate()
    learn(template, *map(signed, TOPICS[:4]))
    alone = strip_chrome(signed("pu-erh"))
    found = strip_chrome(signed("pu-erh"), template=template.known())
    assert AUTHOR in alone.text
    assert AUTHOR not in found.text
    assert "pu-erh of sort 3" in found.text
    assert found.whole == alone.text


@pytest.mark.parametrize("above", [True, False])
def test_a_line_at_the_edge_of_all_pages_is_chrome(above: bool) -> None:
    """It stands beside another text on each, and at the beginning or the end of all."""

    def bare(topic: str) -> str:
        text = article(topic).partition("<main>")[2]
        line = "<div>The house of tea by the old harbour, at your service since 1904.</div>"
        return f"{line}{text}" if above else f"{text}{line}"

    template = SiteTemplate()
    learn(template, *map(bare, TOPICS[:4]))
    found = strip_chrome(bare("pu-erh"), template=template.known())
    assert "harbour" in found.whole
    assert "harbour" not in found.text
    assert "pu-erh of sort 3" in found.text


def test_what_is_hidden_makes_no_page_another() -> None:
    """A note that all pages have stays where nothing else is to be seen."""
    note = f"<main><h2>Maintenance</h2><p>{FIRST_NOTE}</p></main>"

    def bare(number: int) -> str:
        hidden = f"<h1>Session v{number}</h1><p>Token {number}x</p><p>Node {number}y</p>"
        return f"{note}<div style='display:none'>{hidden}</div>"

    template = SiteTemplate()
    learn(template, *map(bare, range(20)))
    found = strip_chrome(bare(77), template=template.known())
    assert FIRST_NOTE in found.text


def test_running_text_of_fewer_pages_stays() -> None:
    """Running text that five of eight pages repeat is not taken from a ninth."""
    template = SiteTemplate()
    learn(template, *map(signed, TOPICS[:5]), *map(article, TOPICS[5:]))
    assert AUTHOR in strip_chrome(signed("darjeeling"), template=template.known()).text


@pytest.mark.parametrize("inherited", [
    "<section class='member is-inherited'>{}</section>", "<h3>Methods inherited from Boat</h3>{}",
])  # fmt: skip
def test_what_classes_inherit_stays_on_the_page_of_its_class(inherited: str) -> None:
    """It is cut from their pages, so the page that says it of its own class alone has it."""
    rows = [f"<p>Sails {way}, if the wind allows for it today.</p>" for way in TOPICS]
    template = SiteTemplate()
    learn(template, *(article(topic) + inherited.format("".join(rows)) for topic in TOPICS))
    page = article("boat").replace("</main>", f"{''.join(rows)}</main>")
    found = strip_chrome(page, template=template.known())
    assert all(f"Sails {way}" in found.text for way in TOPICS)


@given(st.permutations([True, True, True, False]))
def test_running_text_counts_where_it_was_cut_too(kept: list[bool]) -> None:
    """What a page alone keeps on three of four pages, and cuts on the other, stands on all."""
    template = SiteTemplate()
    for page, sure in enumerate(kept):
        template.observe({5: sure, 100 + page: True}, page)
    assert 5 | KEPT in template.known()


@pytest.mark.parametrize("known", [3, 4])
def test_a_site_that_begins_with_versions_of_a_story(known: int) -> None:
    """Three versions do not make its short paragraphs the template of a fourth; four do."""
    story = "".join(f"<p>On day {day} the hills of Uji are green again.</p>" for day in "abcdefghi")
    versions = [
        f"<main><h1>Harvest</h1>{story}"
        + "".join(
            f"<p>Of {topic} there will be {amount} boxes.</p>" for amount in ["ten", "many", "no"]
        )
        + "</main>"
        for topic in TOPICS
    ]
    template = SiteTemplate()
    learn(template, *versions[:known])
    found = strip_chrome(versions[known], template=template.known())
    assert "On day e" in found.whole
    assert ("On day e" in found.text) == (known == 3)
