"""Sites that are crawled by learnt rules of URLs: no text is lost, and every crawl ends."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup.urls.parts import split_url
from tests.dedup.urls.sites import Site, crawl, parts


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
