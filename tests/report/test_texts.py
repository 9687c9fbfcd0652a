"""Differences are marked where they are, and nothing on the way is lost or hidden."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.report.texts import Row, is_link, side_by_side, spell_out
from tests.support.texts import article, changed, text

IGNORE = frozenset({"case", "punctuation"})


def marked(rows: list[Row] | None) -> list[tuple[list[str], ...]]:
    assert rows is not None
    return [
        (
            [one.text for one in row.left if one.changed],
            [one.text for one in row.right if one.changed],
        )
        for row in rows
    ]


def test_marks_what_differs() -> None:
    """Exactly the changed words are marked, each on its side, and rows tell what they skip."""
    words = article(1)
    rows = side_by_side(text(words), text(changed(words, 1)), ignore=IGNORE).rows
    assert rows is not None
    start = next(i for i, word in enumerate(changed(words, 1)) if word.startswith("other"))
    assert marked(rows) == [([words[start]], ["other0"])]
    far = [*words[:300], "new", *words[300:599], "end"]
    rows = side_by_side(text(words), text(far), ignore=IGNORE).rows
    assert rows is not None
    assert marked(rows) == [([], ["new"]), ([words[599]], ["end"])]
    assert [row.skipped for row in rows] == [290, 279]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Tea, hot!", "tea hot", []),
        ("", "all new", [([], ["all new"])]),
        ("all gone", "", [(["all gone"], [])]),
        ("日本語の文", "日本人の文", [(["語"], ["人"])]),
        ("קפה חם", "קפה קר", [(["חם"], ["קר"])]),
        ("वह दिन था", "वह दीन था", [(["दिन"], ["दीन"])]),
        ("แม่น้ำ", "แม้น้ำ", [(["ม่"], ["ม้"])]),
        ("می\u200cخواهم عَلَم", "میخواهم علم", [(["عَلَم"], ["علم"])]),
        ("یک کتاب خوب", "يك كتاب بد", [(["خوب"], ["بد"])]),
        ("м\u02bcята ۱۲ în și", "м'ята 12 în şi x", [([], ["x"])]),
        ("cafe\u0301 Do\u00adnau x", "café Donau y", [(["x"], ["y"])]),
        ("a\x00b \u202ec", "a\x00b \u202ed", [(["c"], ["d"])]),
    ],
)
def test_kinds_of_text(a: str, b: str, expected: list[tuple[list[str], list[str]]]) -> None:
    """Case and punctuation count as the index counts them; scripts without spaces by letter."""
    assert marked(side_by_side(a, b, ignore=IGNORE).rows) == expected


def test_a_word_of_thousands_of_characters_is_shown_without_its_middle() -> None:
    """Whether it differs or stands beside what does; where words stand is told as before."""
    long, other = "a" * 5000, "b" * 3000
    rows = side_by_side(f"one {long} two", f"one {long} {other}", ignore=IGNORE).rows
    assert marked(rows) == [(["two"], ["b" * 49 + "…" + "b" * 50])]
    assert rows is not None
    assert rows[0].left[0].text == "one " + "a" * 49 + "…" + "a" * 50 + " "


def test_case_and_punctuation_where_they_count() -> None:
    """Where the index tells them apart, so does the view."""
    assert marked(side_by_side("Tea!", "tea?", ignore=frozenset()).rows) == [(["Tea!"], ["tea?"])]


def test_long_texts_are_compared_up_to_where_both_are_known() -> None:
    """What only stands behind the other's end, because words came before it, is no difference."""
    words = article(1, 7000)
    longer = [*words[:99], "some", "words", "more", *words[99:]]
    for a, b, expected in (
        (words, longer, ([], ["some words more"])),
        (longer, words, (["some words more"], [])),
    ):
        assert marked(side_by_side(text(a), text(b), ignore=IGNORE).rows) == [expected]
        begun = text(a)[:2000], text(b)[:2000]
        assert marked(side_by_side(*begun, ignore=IGNORE, whole=(False, False)).rows) == [expected]
    begun = text(words)[:2000], text(longer)[:2000]
    assert len(marked(side_by_side(*begun, ignore=IGNORE).rows)) == 2
    other = [*words[:4900], *article(2, 2100)]
    (row,) = marked(side_by_side(text(words), text(other), ignore=IGNORE).rows)
    assert [len(side[0].split()) for side in row] == [100, 100]
    assert marked(side_by_side("", "a b", ignore=IGNORE, whole=(False, True)).rows) == []


def test_texts_that_share_nothing() -> None:
    """Very different texts are not compared word by word, and that takes bounded time."""
    found = side_by_side(text(article(1, 9000)), text(article(2, 9000)), ignore=IGNORE)
    assert found == (None, False)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from("abcdef"), max_size=60), st.lists(st.sampled_from("abcdef")))
def test_rows_hold_both_texts(a: list[str], b: list[str]) -> None:
    """Whatever the texts, what is not marked is equal, in order, on both sides."""
    for row in side_by_side(text(a), text(b), ignore=IGNORE).rows or ():
        left, right = (
            re.findall(r"\w", "".join(one.text for one in side if not one.changed))
            for side in (row.left, row.right)
        )
        assert left == right
        for side, words in ((row.left, a), (row.right, b)):
            assert "".join(one.text for one in side) in text(words)


def test_visible() -> None:
    """What turns or hides text is spelt out; what belongs to a script stays."""
    assert spell_out("\x1b[31m \u202e \u2066 \ufeff") == "\\x1b[31m \\u202e \\u2066 \\ufeff"
    assert spell_out("line\n\ttab می‌خواهم é 👩‍👧") == "line\n\ttab می‌خواهم é 👩‍👧"


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "http://a/\u202eb",
        "http://a/ b", 'http://a/"onclick=x', "//a/", "", "http://" + "a" * 3000, "ftp://a/",
        "https:/\\evil", " javascript:x", "http://a/\nb",
    ],
)  # fmt: skip
def test_no_link(url: str) -> None:
    """Only plain web addresses become links."""
    assert not is_link(url)
