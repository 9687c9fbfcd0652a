"""Made-up sites, and a crawl of them by the rules of their URLs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from crawler.dedup.urls.parts import UrlParts, split_url
from crawler.dedup.urls.site_rules import SiteRules
from crawler.dedup.urls.url_judge import Judgement

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


def note_found_once(rules: SiteRules, path: str, content: int, *, is_new: bool) -> None:
    """Note a page whose URL was found on one page; it leads to another such URL of itself."""
    rules.note_found(parts(path))
    links = (rules.list_frames(parts(path)),)
    rules.note_page(parts(path), content, is_new=is_new, found_on=hash(path), links=links)


def note_pages(rules: SiteRules, pages: dict[str, int]) -> None:
    """Note pages by path, with their contents."""
    known: set[int] = set()
    for path, content in pages.items():
        rules.note_found(parts(path))
        rules.note_page(parts(path), content, is_new=content not in known)
        known.add(content)


NAMES = ("tea", "cake", "pie", "jam")
FOLDERS = {f"/~mallory/{a}/{n}": k for k, n in enumerate(NAMES) for a in "abcde"}
