"""URL rules that are learnt from pages never hide a text, and end what has no end."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.urls import known_urls
from crawler.dedup.urls.evidence import RuleEvidence
from crawler.dedup.urls.familiar import FamiliarValues
from crawler.dedup.urls.mattering import WHOLE_SITE, MatteringFeatures
from crawler.dedup.urls.parts import UrlKind, UrlParts, split_url
from crawler.dedup.urls.site_rules import RuleChange, SiteRules
from crawler.dedup.urls.url_judge import Judgement
from crawler.dedup.urls.volatile import VOLATILE

Site = Callable[[str], tuple[object, Iterable[str]]]


class Crawled(NamedTuple):
    fetched: int
    texts: set[object]
    rules: SiteRules


def parts(path: str) -> UrlParts:
    found = split_url("http://host" + path)
    assert found is not None
    return found


def crawl(site: Site, *starts: str, most: int = 2000, spares: bool = True) -> Crawled:
    """Fetch a site from these paths on, what may be a copy last, as a crawl does."""
    rules, known, contents = SiteRules(), set(starts), {}
    queue, later = deque(starts), deque[str]()
    found_on = dict.fromkeys(starts, 0)
    for path in starts:
        rules.note_found(parts(path))
    fetched = 0
    while (queue or later) and fetched < most:
        path = (queue or later).popleft()
        page = hash(path)
        if spares and rules.judge_url(parts(path)) is Judgement.SPARED:
            continue
        rules.note_request(parts(path), found_on[path])
        fetched += 1
        content, links = site(path)
        has_news, links_of = False, []
        for link in dict.fromkeys(links):
            first = rules.note_found(parts(link), page)
            if link not in known:
                known.add(link)
                found_on[link] = page
                (queue if first.of_name and first.of_page else later).append(link)
                has_news |= first.of_page
                links_of += [rules.list_frames(parts(link))] if first.of_url else []
        is_new = content not in contents
        number = contents.setdefault(content, len(contents))
        rules.note_page(
            parts(path),
            number,
            is_new=is_new,
            has_news=has_news,
            found_on=found_on[path],
            links=tuple(links_of),
        )
    return Crawled(fetched, set(contents), rules)


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


def note_found_once(rules: SiteRules, path: str, content: int, *, is_new: bool) -> None:
    """Note a page whose URL was found on one page; it leads to another such URL of itself."""
    rules.note_found(parts(path))
    links = (rules.list_frames(parts(path)),)
    rules.note_page(parts(path), content, is_new=is_new, found_on=hash(path), links=links)


def endless(link: str, pages: int = 6) -> Site:
    """A site whose links all differ: `link` has the path of the page, a page, and a number."""
    numbers = itertools.count(1)

    def site(path: str) -> tuple[object, list[str]]:
        name = parts(path).skeleton.removesuffix("/*")
        if link.startswith("/{page}/{n}x"):
            name = path.split("/")[1]
        folder = urlsplit(path).path.rstrip("/")
        links = (link.format(path=folder, page=n, n=next(numbers)) for n in range(pages))
        return name or "0", links

    return site


def test_links_to_parts_of_a_page_are_read_once() -> None:
    """Of many a manual they are most links of each page."""
    assert split_url("http://host/tea#milk") is split_url("http://host/tea")
    assert split_url("http://host/tea?a=1#milk") is split_url("http://host/tea?a=1#/b?c")


@pytest.mark.parametrize(
    "link",
    [
        "/{page}?sid={n:08x}",
        "/{page}?sid={n}",
        "/{page};jsessionid={n:08x}",
        "/(S({n:024x}))/{page}",
        "/{page}/1f{n:014x}",
        "/{page}/sid/{n}/",
        "{path}/{page}",
        "/{page}?a={n}&b={n}&c={n}",
    ],
)
def test_sites_without_end_end(link: str) -> None:
    """Sessions in the query, in the path, and relative links that nest."""
    found = crawl(endless(link), "/")
    assert len(found.texts) == 6
    assert found.fetched <= 20


def mixed(path: str) -> tuple[object, list[str]]:
    """Pages by number and language, with sessions and campaigns in their links."""
    given = dict(parse_qsl(urlsplit(path).query))
    draws = random.Random(path)
    links = [
        f"/view?id={n}&lang={lang}&utm={draws.choice('abcdefgh')}&s={draws.getrandbits(60):x}"
        for n in range(10)
        for lang in ("de", "en", "fr")
    ]
    return (given.get("id", "0"), given.get("lang", "en")), links


def test_arguments_that_matter_are_told_from_those_that_do_not() -> None:
    """Although no two URLs differ in one of them alone."""
    found = crawl(mixed, "/")
    assert set(found.rules.rules) == {"?s", "?utm"}
    assert found.rules.matters >= {"?id", "?lang"}
    assert len(found.texts) == 30
    assert found.fetched <= 60


def carried(path: str) -> tuple[object, list[str]]:
    """Lists and entries, whose links carry the number of the list that one has come from."""
    split = urlsplit(path)
    given = {name: int(value) for name, value in parse_qsl(split.query)}
    page = given.get("page", 1)
    lists = [f"/list?page={page}", f"/list?page={min(page + 1, 10)}"]
    if split.path == "/item":
        return ("item", given["id"]), [f"/item?id={3 * given['id'] % 40}&page={page}", *lists]
    return ("list", page), [
        *(f"/item?id={(4 * page + n) % 40}&page={page}" for n in range(8)),
        *lists,
    ]


def tabs(path: str) -> tuple[object, list[str]]:
    """Articles, to which a tab makes no difference, and products, to which it does."""
    name, _, tab = path.strip("/").partition("?tab=")
    kinds = [
        f"/{kind}{n}?tab={letter}"
        for kind in ("article", "product")
        for n in range(20)
        for letter in "abc"
    ]
    return (name, tab if name[:1] == "p" else ""), kinds if not name else []


@pytest.mark.parametrize(("site", "texts", "most"), [(carried, 50, 90), (tabs, 81, 115)])
def test_what_matters_to_some_pages_makes_no_difference_to_others(
    site: Site, texts: int, most: int
) -> None:
    """Each kind of URL has to show it for itself."""
    found = crawl(site, "/" if site is tabs else "/list")
    assert len(found.texts) == texts
    assert found.fetched <= most


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


@given(st.integers(0, 2**32))
def test_no_text_is_lost(seed: int) -> None:
    """Whatever arguments and folders matter, alone or together, and whatever pages link to.

    With sessions in all links too: the texts are those that there are without.
    """
    draws = random.Random(seed)
    names = [f"a{n}" for n in range(draws.randint(1, 4))]
    values = {
        name: [str(n) for n in range(draws.randint(1, 5))] + [None] * draws.randint(0, 1)
        for name in names
    }
    relevant = draws.sample(names, draws.randint(0, len(names)))
    folders = ["", "/x", "/y/z"][: draws.randint(1, 3)]
    folder_matters = draws.random() < 0.5
    pages, links = draws.randint(1, 8), draws.randint(1, 6)
    fresh = draws.random() < 0.5

    def link(draw: random.Random) -> str:
        chosen = [(name, draw.choice(values[name])) for name in names]
        query = [f"{name}={value}" for name, value in chosen if value is not None]
        return f"{draw.choice(folders)}/{draw.randrange(pages)}?{'&'.join(query)}"

    def site(path: str) -> tuple[object, list[str]]:
        split = urlsplit(path)
        args = dict(parse_qsl(split.query))
        folder, _, page = split.path.rpartition("/")
        content = page, *(args.get(name) for name in relevant), folder * folder_matters
        # What a page links to does not depend on what does not matter.
        draw = random.Random(repr((seed, content)))
        return content, [link(draw) for _ in range(links)]

    def with_sessions(path: str) -> tuple[object, list[str]]:
        content, found = site(path)
        return content, [f"{one}&sid={draws.getrandbits(64):x}" for one in found]

    start = link(random.Random(seed))
    most = 400
    whole = crawl(site, start, most=most, spares=False)
    if whole.fetched == most:
        return
    found = crawl(with_sessions if fresh else site, start, most=most)
    if found.fetched < most:
        assert found.texts == whole.texts
    assert fresh or found.fetched <= whole.fetched


def test_arguments_that_matter_cost_nothing() -> None:
    """Numbered pages with one text and new links are fetched once each, and so are those."""

    def listing(path: str) -> tuple[object, list[str]]:
        if path.startswith("/item"):
            return path, ["/list"]
        page = int(dict(parse_qsl(urlsplit(path).query)).get("page", 1))
        items = [f"/item?id={10 * page + n}" for n in range(10)]
        return "list", [f"/list?page={page + 1}" if page < 20 else "/list", *items]

    assert crawl(listing, "/list").fetched == 20 + 200


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


def note_pages(rules: SiteRules, pages: dict[str, int]) -> None:
    """Note pages by path, with their contents."""
    known: set[int] = set()
    for path, content in pages.items():
        rules.note_found(parts(path))
        rules.note_page(parts(path), content, is_new=content not in known)
        known.add(content)


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


NAMES = ("tea", "cake", "pie", "jam")
FOLDERS = {f"/~mallory/{a}/{n}": k for k, n in enumerate(NAMES) for a in "abcde"}
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


@pytest.mark.parametrize("inner", ["cake", "tea/green"])
@pytest.mark.parametrize("has_indexes", [False, True])
def test_folders_with_copies_are_no_copies_of_each_other(inner: str, has_indexes: bool) -> None:
    """Of two versions of a manual, two folders of which have a page of their own called intro."""
    folders = ("tea", "cake", "tea/green")
    names = [f"{folder}/{folder[-3:]}-{n}" for folder in folders for n in "abcdefghijkl"]
    names += ["tea/intro", f"{inner}/intro"] + [f"{folder}/" for folder in folders] * has_indexes
    urls = [f"/en/{version}/{name}" for version in "xy" for name in names]
    urls += ["/en/", "/en/x/", "/en/y/"] * has_indexes
    for seed in range(6):
        random.Random(seed).shuffle(urls)
        crawled = crawl(lambda path: (path[6:] or path, urls), "/")
        assert not {*names} - crawled.texts


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


def shop(
    differs: Callable[[str, str], bool], *, by_name: bool = False, again: bool = False
) -> Site:
    """Ten products, of which each of ten lists leads to a variant of each, or to all of one."""

    def site(path: str) -> tuple[object, list[str]]:
        _, kind, name, *variant = f"{path}//".split("/")
        if kind != "product":
            if not kind:
                return path, [f"/list/{n}" for n in range(10)]
            pairs = ((name, n) if by_name else (n, name) for n in range(10))
            return path, [f"/product/{product}/v{variant}" for product, variant in pairs]
        content = path if differs(name, variant[0]) else name
        return content, [f"/product/{name}/v{n}" for n in range(10)] * again

    return site


@pytest.mark.parametrize("link", ["/{page}/{n}x", "/{page}/{n}x?utm={n}"])
def test_a_part_that_is_new_in_each_link_makes_no_difference(link: str) -> None:
    """Three pages have to show it, of each name of a page."""
    crawled = crawl(endless(link), "/")
    assert crawled.rules.rules.keys() == {"volatile"}
    assert len(crawled.texts) == 6
    assert crawled.fetched <= 30


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


@pytest.mark.parametrize(
    "site",
    [
        shop(lambda name, variant: name in "34"),
        shop(lambda name, variant: variant == "v9"),
        shop(lambda name, variant: variant == "v9", by_name=True),
        shop(lambda name, variant: variant == "v9", again=True),
    ],
    ids=["other names", "without links", "all on one page", "found again"],
)
def test_links_of_ordinary_pages_are_not_volatile(site: Site) -> None:
    """Of which one text has other URLs, too, one of which is another text: none is lost."""
    assert crawl(site, "/").texts == crawl(site, "/", spares=False).texts


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


def test_lists_that_lead_on_are_followed() -> None:
    """Each of four lists has one text on all pages, and each page is found on the one before."""

    def site(path: str) -> tuple[object, list[str]]:
        _, kind, number = f"{path}/".split("/")[:3]
        if not kind:
            return "", [f"/{name}/1" for name in "abcd"]
        if kind == "item":
            return path, []
        n = int(number)
        return kind, [*([f"/{kind}/{n + 1}"] if n < 20 else []), f"/item/{kind}{n}"]

    assert len(crawl(site, "/").texts) == 1 + 4 + 80


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
