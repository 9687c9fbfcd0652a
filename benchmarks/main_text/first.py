"""A host's first pages, of which no template is known yet, beside its later ones."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from benchmarks.main_text.data import Page, score
from benchmarks.main_text.swap import jaccard, shingles
from crawler.chrome import SiteTemplate, block_hash, parse, strip_chrome

PLACES = ("1", "2-4", "later")  # in the order in which a host's pages are met


class Met(NamedTuple):
    """A page as a crawl met it: its place among its host's, its text alone and as it was known."""

    page: Any
    place: int  # in PLACES
    alone: str
    text: str


def read_in_orders(
    pages: list[Any], host: Callable[[Any], object], seeds: Iterable[int]
) -> list[list[Met]]:
    """Return for each seed the pages in a random order, each judged by what was learnt before."""
    documents = {page.html: parse(page.html) for page in pages}
    alone = {html: strip_chrome(document) for html, document in documents.items()}
    orders = []
    for seed in seeds:
        templates: dict[object, SiteTemplate] = defaultdict(SiteTemplate)
        met = []
        for page in random.Random(seed).sample(pages, len(pages)):
            template, found = templates[host(page)], alone[page.html]
            known = strip_chrome(documents[page.html], template=template.known())
            place = (template.contents >= 1) + (template.contents >= 4)
            met.append(Met(page, place, found.text, known.text))
            template.observe(found.hashes(), block_hash(found.text))
        orders.append(met)
    return orders


def copies_by_place(orders: list[list[Met]]) -> Iterator[tuple[str, float]]:
    """Yield shares of an article's pairs of copies with J ≥ 0.8, by the earlier one's place."""
    groups: dict[int, list[bool]] = defaultdict(list)
    for met in orders:
        of: dict[str, list[tuple[int, Any]]] = defaultdict(list)
        for page in met:
            if page.page.how != "other":
                of[page.page.article].append((page.place, shingles(page.text)))
        for same in of.values():
            for (a, x), (b, y) in combinations(same, 2):
                groups[min(a, b)].append(jaccard(x, y) >= 0.8)
    for place, found in sorted(groups.items()):
        yield PLACES[place], float(np.mean(found))


def share_steady(orders: list[list[Met]]) -> float:
    """Return the share of later pages whose text alone has J ≥ 0.8 with that by the template.

    So near copies on one host are like each other, met the one before the template was known and
    the other after.
    """
    later = (page for met in orders for page in met if page.place == len(PLACES) - 1)
    same = [jaccard(shingles(page.alone), shingles(page.text)) >= 0.8 for page in later]
    return float(np.mean(same))


def versions_by_place(
    near: set[frozenset[str]], orders: list[list[Met]]
) -> Iterator[tuple[str, float]]:
    """Yield F1 of finding the pairs of manuals' pages, by the place of the earlier one."""
    right, said = np.zeros(len(PLACES)), np.zeros(len(PLACES))
    for met in orders:
        families = defaultdict(list)
        for page in met:
            families[page.page.site].append((page.page.id, page.place, shingles(page.text)))
        for family in families.values():
            for (a, i, x), (b, j, y) in combinations(family, 2):
                place, found = min(i, j), jaccard(x, y) >= 0.8
                gold = frozenset((a, b)) in near
                right[place] += found and gold
                said[place] += int(found) + gold
    yield from zip(PLACES, (2 * right / said).tolist(), strict=True)


def score_small_sites(pages: list[Page]) -> list[tuple[float, float]]:
    """Return F1 of the pages of sites that have two and more here: alone, template learnt.

    With so few of a site, what stands on two is taken for its template.
    """
    sites = defaultdict(list)
    for page in pages:
        sites[page.site].append(page)
    rows = []
    for same in sites.values():
        template = SiteTemplate(least_pages=2)
        alone = [strip_chrome(page.html) for page in same]
        for found in alone:
            template.observe(found.hashes(), block_hash(found.text))
        for page, found in zip(same, alone, strict=True):
            known = strip_chrome(page.html, template=template.known())
            if len(same) > 1:
                rows.append((score(page.gold, found.text)[2], score(page.gold, known.text)[2]))
    return rows


def report(
    articles: list[list[Met]],
    manuals: list[list[Met]],
    near: set[frozenset[str]],
    rows: list[tuple[float, float]],
) -> None:
    """Print what a host's first pages are found as, beside its later ones."""
    print("by the place, among its host's pages, of the earlier page of a pair:")
    print("  copies in other chrome, J ≥ .8:", _figures(copies_by_place(articles)))
    if manuals:
        print("  manuals, F1 of pairs:", _figures(versions_by_place(near, manuals)))
    print(
        f"later pages, text alone and by the template, J ≥ .8: {share_steady(articles):.3f}", end=""
    )
    print(f", manuals {share_steady(manuals):.3f}" if manuals else "")
    alone, known = np.mean(rows, 0)
    print(f"{len(rows)} pages of sites with several, F1 alone {alone:.4f}, learnt {known:.4f}")


def _figures(found: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{place} {figure:.3f}" for place, figure in found)
