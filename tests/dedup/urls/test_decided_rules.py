"""Rules of URLs by people and by other crawls, session ids, and moved pages."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.urls.evidence import RuleEvidence
from crawler.dedup.urls.parts import UrlKind
from crawler.dedup.urls.site_rules import RuleChange, SiteRules
from crawler.dedup.urls.url_judge import Judgement
from crawler.dedup.urls.volatile import VOLATILE
from tests.dedup.urls.sites import FOLDERS, note_found_once, note_pages, parts


@pytest.mark.parametrize("told", [{}, {"?sort": {"state": "learnt", "values": 9}}])
def test_a_rule_that_a_person_removes_holds_no_longer(told: dict[str, Any]) -> None:
    """In a crawl that goes on, too, and if another crawl has learnt it since."""
    rules = SiteRules()
    rules.take_rules({"?sort": {"state": "added"}})
    note_pages(rules, {"/tea?sort=a": 1})
    assert rules.find_rules(parts("/tea?sort=b")) == ["?sort"]
    rules.take_rules(told)
    assert rules.find_rules(parts("/tea?sort=b")) is None


def test_the_latest_decision_of_a_person_holds() -> None:
    """A rule may be added and forbidden several times while a crawl is under way."""
    rules = SiteRules()
    note_pages(rules, {"/tea?sort=a": 1})
    for state in "forbidden", "added", "forbidden", "added", "forbidden":
        rules.take_rules({"?sort": {"state": state}})
        assert (rules.find_rules(parts("/tea?sort=b")) is not None) == (state == "added")
        assert ("?sort" in rules.matters) == (state == "forbidden")


def test_a_wrong_rule_of_a_person_is_told_once_and_holds() -> None:
    """Checks fetch what it spares; a text that it would have hidden does not revoke it."""
    rules = SiteRules()
    rules.take_rules({"?sort": {"state": "added"}})
    assert rules.note_page(parts("/tea?sort=a"), 1, is_new=True) == []
    assert rules.note_page(parts("/tea?sort=b"), 1, is_new=False, has_news=True) == []
    told = rules.note_page(parts("/tea?sort=c"), 2, is_new=True)
    assert told == [RuleChange("?sort", learnt=False, added=True)]
    assert rules.note_page(parts("/tea?sort=d"), 3, is_new=True) == []
    assert rules.note_page(parts("/cake?sort=a"), 4, is_new=True) == []
    assert rules.find_rules(parts("/tea?sort=e")) == ["?sort"]
    rules.take_rules({"?sort": {"state": "added"}, VOLATILE: {"state": "added"}})
    for number in range(3):
        note_found_once(rules, f"/tea/{number}x", 9, is_new=not number)
    note_found_once(rules, "/tea/8x", 10, is_new=True)
    assert VOLATILE in rules.rules


def test_a_page_that_moves_says_nothing_of_what_matters_to_its_site() -> None:
    """What a person has forbidden stays so."""
    rules = SiteRules()
    rules.take_rules({"?id": {"state": "forbidden"}})
    note_pages(rules, {"/a/tea": 1, "/b/tea": 2, **FOLDERS})
    assert rules.matters == {"prefix", "?id"}
    assert not rules.rules
    for name in rules.matters:
        rules.note_moving(parts("/b/tea"), 0, name)
    assert rules.matters == {"?id"}


def test_a_page_that_moves_says_nothing_of_its_choices() -> None:
    """A choice that a page offers seemed to matter to it, as it moves."""
    rules = SiteRules()
    rules.note_choice(parts("/3?sort=a"), parts("/3?sort=b"))
    pages = {f"/{n}?sort={value}": n for n in range(3) for value in "abc"}
    note_pages(rules, {**pages, "/3?sort=a": 3, "/3?sort=b": 9})
    assert not rules.rules
    note_pages(rules, {**{path: 100 + n for path, n in pages.items()}, "/3?sort=a": 103})
    assert rules.rules
    assert rules.find_rules(parts("/3?sort=c")) is None
    rules.note_moving(parts("/3?sort=a"), 0, "?sort")
    assert rules.find_rules(parts("/3?sort=c")) == ["?sort"]


def test_a_url_that_was_only_found_holds_up_no_other() -> None:
    """Neither after the rules have changed."""
    rules = SiteRules()
    rules.note_found(parts("/tea?sort=a"))
    rules.take_rules({"?sid": {"state": "added"}})
    assert rules.judge_url(parts("/tea?sort=b")) is Judgement.NEW
    rules.note_request(parts("/tea?sort=a"))
    assert rules.judge_url(parts("/tea?sort=b")) is Judgement.SUSPECT


def test_what_others_tell_is_confirmed_first() -> None:
    """One page has to show that a rule of an earlier crawl holds; a person's needs none."""
    rules = SiteRules()
    rules.take_rules(
        {
            "?sid": {"state": "learnt", "values": 9},
            "?sort": {"state": "added"},
            "?id": {"state": "forbidden"},
        }
    )
    rules.note_page(parts("/a?sid=1&id=1"), 1, is_new=True)
    assert rules.find_rules(parts("/a?sid=2&id=1")) is None
    assert rules.find_rules(parts("/a?sid=1&id=1&sort=up")) == ["?sort"]
    rules.note_page(parts("/a?sid=2&id=1"), 1, is_new=False)
    assert rules.find_rules(parts("/a?sid=3&id=1")) == ["?sid"]
    assert rules.find_rules(parts("/a?sid=3&id=2")) is None


@pytest.mark.parametrize("link", ["/{page}?rev={value}", "/{value}/{page}"])
@pytest.mark.parametrize("pages", [2, 3])
def test_a_hash_that_several_pages_have_is_no_session_id(link: str, pages: int) -> None:
    """It names a revision, in which any file may be another one: two texts show nothing."""
    rules, values = SiteRules(), [f"3f2a91c07b{n:06x}" for n in range(5)]
    for value, found_on in itertools.product(values, range(pages)):
        rules.note_found(parts(f"/commit?id={value}"), found_on + 1)
    for page, value in itertools.product("ab", values[:3]):
        path = link.format(page=page, value=value)
        rules.note_page(parts(path), ord(page), is_new=value == values[0])
    assert bool(rules.rules) == (pages < 3)
    unseen = parts(link.format(page="a", value=values[4]))
    assert bool(rules.find_rules(unseen)) == (pages < 3)
    for value in values[:3]:
        path = link.format(page="c", value=value)
        rules.note_page(parts(path), ord("c"), is_new=value == values[0])
    assert rules.rules
    assert bool(rules.find_rules(unseen)) == (pages < 3)


def test_a_hash_is_no_session_id_for_a_rule_that_a_person_took_back() -> None:
    """What was seen while it held is judged like any other evidence."""
    rules, values = SiteRules(), [f"3f2a91c07b{n:06x}" for n in range(3)]
    rules.take_rules({"?rev": {"state": "added"}})
    for value, found_on in itertools.product(values, range(3)):
        rules.note_found(parts(f"/commit?id={value}"), found_on + 1)
    for page, value in itertools.product("ab", values):
        rules.note_page(parts(f"/{page}?rev={value}"), ord(page), is_new=value == values[0])
    rules.take_rules({})
    assert not rules.rules


def test_forgetting_urls_forgets_session_ids_and_no_names() -> None:
    """Thousands of ids take a megabyte; what is open must not become a rule by it."""
    rules, name, session = SiteRules(), "3f2a91c07b000001", "3f2a91c07b000002"
    for page in range(1, 4):
        rules.note_found(parts(f"/a?rev={name}"), page)
    rules.note_found(parts(f"/a?rev={session}"), 1)
    rules.note_found(parts(f"/a?rev={session}"), 2)
    rules.forget_urls()
    rules.note_found(parts(f"/a?rev={session}"), 3)
    is_session = rules._sessions.is_session
    assert not is_session(name)
    assert is_session(session)


def test_a_rule_is_told_in_few_bytes() -> None:
    evidence = RuleEvidence()
    for number in range(1000):
        evidence.note_content(
            number, UrlKind(f"{number}", ""), f"value {number}" * 10, "v", alone=True
        )
    assert len(str(evidence.to_dict())) < 1000


async def test_rules_are_shared_through_the_index(index_url: str) -> None:
    """On one server and on a cluster: bounded, and what a person says no crawl changes."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=4)) as index:
        await index.note_url_rule("a", "?sid", {"state": "forbidden"}, by_person=True)
        await index.note_url_rule("a", "?sid", {"state": "learnt"})
        for number in range(100):
            await index.note_url_rule("b", f"?x{number}", {"state": "learnt", "pages": 3})
        await index.note_url_rule("b", "?x0", None)
        assert await index.url_rules("a") == {"?sid": {"state": "forbidden"}}
        found = await index.store.all_url_rules()
        assert set(found) == {"a", "b"}
        assert len(found["b"]) == 63
        assert (await index.verify()).faults == []
