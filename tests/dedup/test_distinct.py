"""Only what is a copy is dropped: what a page has of its own decides."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, Verdict
from tests.support.indexes import opened
from tests.support.texts import article, changed, text

NOTE = article(100, 240)
STORY = article(1, 300)
RED, BLUE, ELSEWHERE = "http://site/red", "http://site/blue", "http://elsewhere/blue"


def page(own: int, note: list[str] = NOTE) -> str:
    """A text with a dozen words of its own before a note."""
    return text(article(own, 12) + note)


async def test_a_short_text_beside_a_note_is_no_copy_of_another(index_url: str) -> None:
    """Where the host's template is hardly known, its pages with other headings are kept."""
    async with opened(index_url) as index:
        for number, url in enumerate((RED, BLUE)):
            verdict = await index.check(url, page(number), heading=url, learnt=number)
            assert verdict.kind is Kind.UNIQUE
        same = await index.check("http://site/print", page(0), heading=RED.upper(), learnt=2)
        assert (same.kind, same.duplicate_of) == (Kind.EXACT, RED)
        like = await index.check("http://site/other", page(2), heading=BLUE, learnt=2)
        assert (like.kind, like.duplicate_of) == (Kind.NEAR, BLUE)


@pytest.mark.parametrize(
    ("words", "learnt", "url", "kind"),
    [
        (12, 20, ELSEWHERE, Kind.UNIQUE),
        (12, 20, BLUE, Kind.UNIQUE),
        (60, 20, BLUE, Kind.UNIQUE),
        (72, 20, BLUE, Kind.NEAR),
        (90, 20, ELSEWHERE, Kind.NEAR),
        (252, 20, BLUE, Kind.NEAR),
        (252, 0, ELSEWHERE, Kind.NEAR),
        (600, 0, BLUE, Kind.UNIQUE),
        (None, None, BLUE, Kind.NEAR),
    ],
)
async def test_a_heading_decides_where_little_is_a_pages_own(
    redis_url: str, words: int | None, learnt: int | None, url: str, kind: Kind
) -> None:
    """A long text under another headline is a copy all the same, unless it may be its site's."""
    async with opened(redis_url) as index:
        await index.check(RED, page(0), heading="Red", own_words=words, learnt=learnt)
        found = await index.check(url, page(1), heading="Blue", own_words=words, learnt=learnt)
        assert found.kind is kind
        same = await index.check(f"{url}?print", page(1), heading="", own_words=words)
        assert same.kind in (Kind.NEAR, Kind.EXACT)


@pytest.mark.parametrize(("words", "kind"), [(300, Kind.EXACT), (60, Kind.UNIQUE)])
async def test_a_heading_may_change_once_a_template_is_known(
    index_url: str, words: int, kind: Kind
) -> None:
    """Equal texts with many words that are known to be their own are copies all the same."""
    async with opened(index_url) as index:
        await index.check(RED, text(STORY), heading="Tea", learnt=0)
        found = await index.check(
            BLUE, text(STORY), heading="Tea: It is good", own_words=words, learnt=9
        )
        assert found.kind is kind
        like = text(changed(STORY, 1))
        other = await index.check(f"{BLUE}?print", like, heading="Good", own_words=words, learnt=1)
        assert other.kind is Kind.UNIQUE


async def test_all_words_are_own_by_default(redis_url: str) -> None:
    """As of items that bring only a title and a text."""
    async with opened(redis_url) as index:
        for name, words, kind in ("a", 40, Kind.UNIQUE), ("b", 60, Kind.EXACT):
            described = text(article(words, words))
            first = await index.check(f"{RED}/{name}", described, heading="Red")
            assert first.kind is Kind.UNIQUE
            found = await index.check(f"{ELSEWHERE}/{name}", described, heading="Blue")
            assert found.kind is kind


async def test_equal_texts_of_few_own_words_need_equal_headings(index_url: str) -> None:
    """As where nothing but a dialog, or a licence, was found on two pages."""
    async with opened(index_url) as index:

        async def check(url: str, heading: str) -> Verdict:
            return await index.check(
                url, heading, whole=text(NOTE), heading=heading, own_words=1, learnt=30
            )

        assert (await check(RED, "Red")).kind is Kind.SHORT
        assert (await check(ELSEWHERE, "Blue")).kind is Kind.SHORT
        assert (await check(BLUE, "Red")).duplicate_of == RED
        assert (await check(f"{BLUE}?print", "Blue")).duplicate_of == ELSEWHERE


async def test_copies_are_decided_anew_when_more_is_known_of_a_template(index_url: str) -> None:
    """What was dropped for its note is kept when that is cut, and unchanged from then on."""
    async with opened(index_url) as index:

        async def check(number: int, learnt: int) -> Verdict:
            own = article(number, 30)
            words = own if learnt else own + article(100, 500)
            return await index.check(
                f"http://site/{number}",
                text(words),
                whole=text(own + article(100, 500)),
                heading="Variants",
                own_words=len(words),
                learnt=learnt,
            )

        assert [(await check(number, 0)).kind for number in range(3)] == [
            Kind.UNIQUE, Kind.NEAR, Kind.NEAR,
        ]  # fmt: skip
        for kinds in ([Kind.UPDATED, Kind.UNCHANGED, Kind.UPDATED], [Kind.UNCHANGED] * 3):
            assert [(await check(number, 20)).kind for number in (1, 0, 2)] == kinds
        assert [(await check(number, 1)).kind for number in range(3)] == [Kind.UNCHANGED] * 3


async def test_a_copy_that_a_note_hid_is_found_when_the_note_is_known(index_url: str) -> None:
    """A kept page, too, is decided anew when less of its text is the site's: one is kept."""
    async with opened(index_url) as index:

        async def check(url: str, note: int, learnt: int) -> Verdict:
            whole = STORY + article(note, 200)
            words = STORY if learnt else whole
            return await index.check(
                url, text(words), whole=text(whole), heading="Story", own_words=300, learnt=learnt
            )

        assert (await check(RED, 1, 0)).kind is Kind.UNIQUE
        assert (await check(ELSEWHERE, 2, 0)).kind is Kind.UNIQUE
        assert (await check(RED, 1, 20)).kind is Kind.UNCHANGED
        late = await check(ELSEWHERE, 2, 20)
        assert (late.kind, late.duplicate_of) == (Kind.NEAR, RED)
        assert (await check(ELSEWHERE, 2, 20)).kind is Kind.UNCHANGED
        assert (await index.stats()).kept == 1


async def test_a_page_with_another_heading_is_updated(index_url: str) -> None:
    """Its text may be the same: whoever shows it shows the heading, too."""
    async with opened(index_url) as index:
        for heading, kind in (
            ("Old", Kind.UNIQUE),
            ("old", Kind.UNCHANGED),
            ("New", Kind.UPDATED),
            ("", Kind.UNCHANGED),
            ("New", Kind.UNCHANGED),
        ):
            found = await index.check(RED, text(STORY), heading=heading, learnt=30)
            assert found.kind is kind
        assert (await index.stats()).kept == 1


async def test_an_index_of_the_format_before_is_taken_over(index_url: str) -> None:
    """Its pages are as they were; what they have of their own is added when they come again."""
    config = DedupConfig(redis_url=index_url, shards=4)

    async def set_format(index: DuplicateIndex, number: int) -> None:
        client: Any = index.store._client
        for keys in {index.store.head, *index.store.shards}:
            await client.hset(keys.params, mapping={"format": str(number), "digest": "0"})

    async with DuplicateIndex.open(config) as index:
        await index.check(RED, text(STORY))
        before = index.store.parameters.values
        await set_format(index, 5)
    async with opened(index_url) as index:
        assert index.store.parameters.values == before
        assert (await index.check(RED, text(STORY), heading="Red", learnt=0)).kind is Kind.UNCHANGED
        like = await index.check(BLUE, text(changed(STORY, 1)), heading="Blue", learnt=0)
        assert like.kind is Kind.UNIQUE
    async with DuplicateIndex.open(config) as index:
        await set_format(index, 4)
    with pytest.raises(ParameterMismatch, match="has format 4, and this version"):
        async with DuplicateIndex.open(config):
            pass


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("Size::operator +", "Size::operator +=", Kind.UNIQUE),
        ("operator<<(Stream&)", "operator>>(Stream&)", Kind.UNIQUE),
        ("Button::Button", "Button::~Button", Kind.UNIQUE),
        ("Integer()->`/()", "Integer()->`%()", Kind.UNIQUE),
        ("Matrix()->`*()", "Matrix()->``*()", Kind.UNIQUE),
        ("Monad (>>=)", "Monad (<*>)", Kind.UNIQUE),
        ("Array#&", "Array#|", Kind.UNIQUE),
        ("Tour operator - Harbour", "Tour operator | Harbour", Kind.EXACT),
        ("Tour operator: Harbour", "Tour operator/Harbour", Kind.EXACT),
        ("The option `-x`", "The option -x", Kind.EXACT),
        ("C#, F#", "C#/F#", Kind.EXACT),
        ("Tea (green)", "Tea - green", Kind.EXACT),
        ("『雪国』【1】", "『雪国』【2】", Kind.UNIQUE),
        ("【注1】", "【注2】", Kind.UNIQUE),
        ("「→」キー", "「←」キー", Kind.UNIQUE),
        ("“;” en français", "“,” en français", Kind.UNIQUE),
        ("予報：☀", "予報：☂", Kind.UNIQUE),
        ("旅行 🇯🇵", "旅行 🇨🇳", Kind.UNIQUE),
        ("■ 予報 🔗", "予報", Kind.EXACT),
        ("Чай [править]", "Чай", Kind.EXACT),
        ("お茶（緑）！", "お茶「緑」", Kind.EXACT),
        ("The `operator+` function", "The `operator+=` function", Kind.UNIQUE),
        ("The `->` sign", "The `=>` sign", Kind.UNIQUE),
        ("The `@` sign", "The `#` sign", Kind.UNIQUE),
        ("『雪国』[1]", "『雪国』[2]", Kind.UNIQUE),
        ('キー"→"', 'キー"←"', Kind.UNIQUE),
        ("The `+` sign", "The + sign", Kind.EXACT),
        ("Use `tea`!", "Use tea!", Kind.EXACT),
        ("What is tea?[1]", "What is tea?", Kind.EXACT),
        ('"Tea"/"Cake"', "“Tea”/“Cake”", Kind.EXACT),
        ("☰ Tea™ ✏️", "Tea", Kind.EXACT),
        ("お茶│お店 ▾", "お茶｜お店", Kind.EXACT),
    ],
)
async def test_signs_tell_headings_apart(index_url: str, one: str, other: str, kind: Kind) -> None:
    """Pages of two operators may have the same few words; dashes and bars of prose do not count."""
    described = text(article(1, 20))
    async with opened(index_url) as index:
        await index.check(RED, described, heading=one, learnt=20)
        assert (await index.check(BLUE, described, heading=other, learnt=20)).kind is kind


async def test_operators_make_no_difference_if_punctuation_makes_none(redis_url: str) -> None:
    """They are punctuation, whatever it means."""
    described = text(article(1, 20))
    async with opened(redis_url, ignore={"case", "punctuation"}) as index:
        await index.check(RED, described, heading="operator +")
        assert (await index.check(BLUE, described, heading="operator -")).kind is Kind.EXACT
