"""What rules of URLs are learnt from, and what revokes them."""

from __future__ import annotations

import itertools

import pytest

from crawler.dedup.urls import known_urls
from crawler.dedup.urls.familiar import FamiliarValues
from crawler.dedup.urls.mattering import WHOLE_SITE, MatteringFeatures
from crawler.dedup.urls.parts import UrlKind, split_url
from crawler.dedup.urls.site_rules import RuleChange, SiteRules
from crawler.dedup.urls.url_judge import Judgement
from tests.dedup.urls.sites import FOLDERS, NAMES, note_found_once, note_pages, parts


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/a/b", "/a//b"),
        ("/a/", "/a/index.html"),
        ("/a/index.html", "/a/index.php"),
        ("/?q=1", "/?q=1&q=1"),
        ("/8f14e45fceea167a5a36dedd4bea2543", "/c9f0f895fb98ab9159f51fd0297e236d"),
        ("/a/sid/8f14e45f", "/a/sid/45c48cce"),
        ("/?word=%F7%E0%E9", "/?word=%EC%E5%E4"),  # in Windows-1251
    ],
)
def test_a_rule_on_one_part_hides_no_page_that_differs_in_another(path: str, other: str) -> None:
    rules = SiteRules()
    rules.take_rules({"?sid": {"state": "added"}})
    rules.note_page(parts(path), 1, is_new=True)
    assert rules.find_rules(parts(path)) == []
    assert rules.find_rules(parts(other)) is None


def test_only_the_latest_pages_of_a_site_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered of a crawl that goes on for months stays small."""
    monkeypatch.setattr(known_urls, "_MOST_URLS", 6)
    rules = SiteRules()
    rules.take_rules({"?sid": {"state": "added"}})
    for number in range(9):
        rules.note_page(parts(f"/{number}/{'abc'[number % 3]}?sid=1"), number, is_new=True)
    assert len(rules.list_pages()) == 6
    spared = [rules.find_rules(parts(f"/{n}/{'abc'[n % 3]}?sid=2")) for n in range(9)]
    assert spared == [*[None] * 3, *[["?sid"]] * 6]


def test_features_are_told_apart_by_all_that_is_in_them() -> None:
    """Two sessions in a path, an argument of two segments, and where a segment stands."""
    one, other = "1f" * 8, "2e" * 8
    for first, second in (
        (f"/{one}/a/{other}/b", f"/{other}/a/{other}/b"),
        (f"/{one}/b", f"/b/{one}"),
        ("/a;x=1/b;x=2", "/a;x=3/b;x=2"),
        ("/print/b", "/b/print"),
    ):
        assert parts(first) != parts(second)
    assert split_url("http://host/?" + "&".join(f"a{n}=1" for n in range(40))) is None


def test_a_counter_example_revokes_a_rule() -> None:
    """Of several rules that led astray those come back that are learnt anew."""
    rules = SiteRules()
    changes: list[RuleChange] = []
    for page, value in itertools.product(range(4), range(3)):
        one = parts(f"/{page}?sort={value}&sid={page}{value}")
        changes += rules.note_page(one, page, is_new=not value)
    assert {change.name for change in changes if change.learnt} == {"?sort", "?sid"}
    changed = parts("/0?sort=1&sid=77")
    assert {change.learnt for change in rules.note_page(changed, 101, is_new=True)} == {False}
    assert not rules.rules
    seen = {101}
    for page, value in itertools.product(range(4), range(3)):
        for sid in range(2):
            one = parts(f"/{page}?sort={value}&sid=9{page}{value}{sid}")
            content = 100 + 10 * page + value
            rules.note_page(one, content, is_new=content not in seen)
            seen.add(content)
    assert set(rules.rules) == {"?sid"}
    assert rules.matters == {"?sort"}


def test_what_makes_no_difference_to_lists_may_matter_to_items() -> None:
    """So the rule of lists does not put the blame on what else differs in two items."""
    rules = SiteRules()
    lists = {f"/list/{n}?mode={mode}": n for n in range(4) for mode in "ab"}
    note_pages(rules, lists)
    assert set(rules.rules) == {"?mode"}
    note_pages(rules, {"/item?mode=a&t=1": 10, "/item?mode=b&t=2": 11, **lists})
    assert "?t" not in rules.matters


def test_a_default_that_may_be_left_out_revokes_no_other_rule() -> None:
    """Another value is a counter-example to the rule of this argument, and to URLs of its kind."""
    rules = SiteRules()
    defaults = [
        f"/{n}?{page}sid={n}{k:015x}" for n in range(4) for k, page in enumerate(("", "p=0&"))
    ]
    note_pages(rules, {path: int(path[1]) for path in defaults})
    assert set(rules.rules) == {"?p", "?sid"}
    note_pages(rules, {"/0?p=1&sid=1f1f1f1f1f1f1f1f": 10})
    assert "?sid" in rules.rules
    assert rules.matters == {"?p"}
    assert rules.find_rules(parts("/0?p=1&sid=2e2e2e2e2e2e2e2e")) == ["?sid"]
    assert rules.find_rules(parts("/1?p=2&sid=2e2e2e2e2e2e2e2e")) is None


def test_what_is_left_out_is_no_copy_of_a_value_that_nobody_tried() -> None:
    """Both values of two URLs have to make no difference, not that of the later one alone."""
    rules = SiteRules()
    note_pages(rules, {f"/{n}?{page}": n for n in range(4) for page in ("p=0", "")})
    note_pages(rules, {"/9?p=1": 10})
    assert rules.find_rules(parts("/9?p=0")) is None
    assert rules.find_rules(parts("/9")) is None


def test_each_value_that_comes_back_is_tried() -> None:
    """Languages that a site does not have say nothing of those that it has."""
    rules = SiteRules()
    for page, lang in itertools.product(range(5), ("xx", "yy", "zz")):
        rules.note_page(parts(f"/{page}?lang={lang}"), page, is_new=lang == "xx")
    assert rules.judge_url(parts("/1?lang=zz&a=")) is not Judgement.SPARED
    assert rules.find_rules(parts("/1?lang=yy")) is not None
    assert rules.find_rules(parts("/1?lang=de")) is None


def test_two_values_are_enough_for_pages_of_their_kind() -> None:
    rules = SiteRules()
    note_pages(rules, {f"/{page}?lang={lang}": page for page in range(3) for lang in ("xx", "yy")})
    note_pages(rules, {"/9?lang=xx": 9})
    assert rules.find_rules(parts("/9?lang=yy")) == ["?lang"]
    assert rules.find_rules(parts("/9?lang=zz")) is None


def test_rules_prove_themselves_in_each_section() -> None:
    """Whoever owns a folder of a host can hide no page in another's."""
    rules = SiteRules()
    for page, number in itertools.product(range(9), range(9)):
        rules.note_page(parts(f"/~mallory/{page}?id={number}"), page, is_new=not number)
    assert rules.find_rules(parts("/~mallory/1?id=99")) is not None
    rules.note_page(parts("/~alice/notes?id=1"), 1000, is_new=True)
    assert rules.find_rules(parts("/~alice/notes?id=2")) is None
    rules.note_page(parts("/~alice/notes?id=2"), 1001, is_new=True)
    assert rules.matters == {"?id"}
    assert rules.find_rules(parts("/~alice/notes?id=3")) is None
    assert rules.find_rules(parts("/~mallory/2?id=99")) is not None


COPIES = {f"{way}/{n}": k for k, n in enumerate(NAMES) for way in ("", "/~alice", "/~mallory")}


MIRROR = {f"/~{who}/{n}": k for k, n in enumerate(NAMES) for who in ("alice", "mallory")}


INNER = {f"{way}/~alice/{n}": k for k, n in enumerate(NAMES) for way in ("/~mallory", "")}


NOTES = {f"/~mallory/{n}?id={i}": k for k, n in enumerate(NAMES) for i in range(9)}


@pytest.mark.parametrize(
    ("pages", "others", "own"),
    [
        # Pages of one's own in several folders, and one that is called like somebody's folder.
        (FOLDERS | {"/~mallory/~alice": 9}, "/~alice/tea", "/~mallory/b/jam"),
        (
            FOLDERS | {"/~mallory/~alice": 9, "/~mallory/new": 10, "/~alice/cv": 11},
            "/~alice/new/cv",
            "/~mallory/b/jam",
        ),
        (MIRROR | {"/~mallory/cv": 10}, "/~alice/cv", ""),  # some pages are copies of another's
        (COPIES | {"/~mallory/cv": 10}, "/~alice/cv", "/~mallory/jam?"),
        (INNER | {"/~mallory/~alice/cv": 10}, "/~alice/cv", ""),
        (
            NOTES
            | {f"/~{who}/notes?id={i}": 11 for i, who in enumerate(["mallory"] * 5 + ["alice"])},
            "/~alice/notes?id=2",
            "/~mallory/tea?id=99",
        ),
    ],
)
def test_copies_hide_no_page_of_another_folder(
    pages: dict[str, int], others: str, own: str
) -> None:
    """Whatever somebody's folders and pages are called, and whosever texts they have."""
    rules = SiteRules()
    note_pages(rules, pages)
    assert rules.find_rules(parts(others)) is None
    if own:
        assert rules.rules
        assert rules.find_rules(parts(own)) is not None


@pytest.mark.parametrize("path", ["/{0}/{1}x", "/a-{0}-{1}x", "/{1}x-{0}-a", "/a_{0}_{1}x"])
def test_a_part_that_is_no_longer_new_in_each_link_revokes_its_rule(path: str) -> None:
    """Which may be learnt anew."""
    rules = SiteRules()
    for page, number in itertools.product(range(6), range(3)):
        note_found_once(rules, path.format(page, f"{page}{number}"), page, is_new=not number)
    assert rules.find_rules(parts(path.format(3, 99))) == ["volatile"]
    note_found_once(rules, path.format(3, 98), 99, is_new=True)
    assert not rules.rules
    for page, number in itertools.product(range(6), range(3)):
        note_found_once(rules, path.format(page, f"5{page}{number}"), page, is_new=False)
    assert rules.find_rules(parts(path.format(2, 99))) == ["volatile"]


@pytest.mark.parametrize("folder", ["/~", "/users/"])
def test_pages_in_folders_of_users_are_not_volatile(folder: str) -> None:
    """Three users have the same pages, each with links to itself; the next one has others."""
    rules = SiteRules()
    for user in "eve", "mallory", "trudy":
        rules.note_page(parts(f"{folder}{user}/"), hash(user), is_new=True)
        for content, name in enumerate(("tea", "cake", "pie", "about")):
            page = parts(f"{folder}{user}/{name}")
            rules.note_request(page, hash(user))
            rules.note_page(
                page,
                content,
                is_new=user == "eve",
                found_on=hash(user),
                links=(rules.list_frames(page),),
            )
    assert rules.find_rules(parts(f"{folder}alice/about")) is None
    assert "volatile" not in rules.rules


def test_nobody_waits_for_a_list_that_leads_on() -> None:
    """Until seven pages have come, its URLs may be those of one page."""
    rules = SiteRules()
    for number in range(8):
        url = parts(f"/list/{number}z")
        is_free = rules.judge_url(url, number + 1) is Judgement.NEW
        assert is_free == (number < 2 or number == 7)
        rules.note_request(url, number + 1)
        rules.note_page(url, 1, is_new=not number, found_on=number + 1, links=((number,),))


def test_a_link_that_is_new_tells_pages_apart() -> None:
    """Numbered lists may have one text, but each leads on."""
    rules = SiteRules()
    rules.note_page(parts("/list?page=1"), 1, is_new=True)
    rules.note_page(parts("/list?page=2"), 1, is_new=False, has_news=True)
    assert rules.matters == {"?page"}


def test_a_page_that_came_often_before_others_is_no_list() -> None:
    """Its copies lead to pages that have not come yet, as those of a list do, until these have."""
    rules, numbers = SiteRules(), itertools.count(1)
    order = [*[0] * 9, *range(1, 5), *range(1, 5), *range(1, 5), 0, 1, 2]
    seen: set[int] = set()
    for page in order:
        url = parts(f"/p{page}/{next(numbers)}z")
        rules.note_request(url, next(numbers))
        links = [parts(f"/p{other}/{next(numbers)}z") for other in range(5)]
        for link in links:
            rules.note_found(link)
        is_new = page not in seen
        seen.add(page)
        frames = tuple(map(rules.list_frames, links))
        rules.note_page(url, page, is_new=is_new, found_on=next(numbers), links=frames)
    for page in range(5):
        assert rules.find_rules(parts(f"/p{page}/{next(numbers)}z")) == ["volatile"], page


def test_links_that_are_on_each_page_are_familiar() -> None:
    """Rare values are less so, whatever else is new in each link."""
    familiar = FamiliarValues()
    for number in range(100):
        common = familiar.note_found(parts(f"/item?id=1&from={number}"))
    assert familiar.note_found(parts("/item?id=2&from=x")) < common <= 15


def test_names_without_end_take_bounded_memory() -> None:
    """A hostile site may have a new argument in each link."""
    rules = SiteRules()
    for number in range(1000):
        rules.note_page(parts(f"/{number % 7}?x{number}=1"), number % 7, is_new=number < 7)
    assert not rules.rules
    assert len(rules._open) <= 256


def test_kinds_of_pages_without_end_take_bounded_memory() -> None:
    mattering = MatteringFeatures()
    kinds = {mattering.add("?id", UrlKind(str(number), "")) for number in range(5000)}
    assert len(kinds) <= 4096 + 1
    for number in range(500):
        mattering.add(f"?{number}", WHOLE_SITE)
    assert len(mattering.of_any) <= 256


@pytest.mark.parametrize(("page", "found"), [("/7", ["?id"]), ("/menu", None)])
def test_what_matters_to_numbered_pages_says_nothing_of_named_ones(
    page: str, found: list[str] | None
) -> None:
    """What matters to a named page may matter to others beside it that nobody has tried."""
    rules = SiteRules()
    note_pages(rules, {f"{page}?id=1": 100, f"{page}?id=2": 101})
    note_pages(rules, {f"/{name}?id={n}": k for k, name in enumerate(NAMES) for n in range(9)})
    note_pages(rules, {"/scone?id=0": 102})
    assert rules.find_rules(parts("/scone?id=1")) == found
    assert rules.find_rules(parts(f"{page}?id=3")) is None
