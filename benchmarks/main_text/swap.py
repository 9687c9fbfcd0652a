"""Articles moved into other sites' templates: do copies still look alike, and others not?"""

from __future__ import annotations

import copy
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations, compress
from math import nan
from typing import Any, NamedTuple

import lxml.html
from lxml import etree

from benchmarks.main_text.data import Page, label_blocks, tokens
from crawler.chrome import SiteTemplate, block_hash, strip_chrome
from crawler.chrome.page import document

_UNSEEN = frozenset(("script", "style", "noscript", "template"))
_HELD = 0.9  # share of the gold words the main node holds
_PURE = 0.8  # share of its words that are gold
_LEFT = 0.05  # of an article's words: with more of its own article, a template is not chrome alone


class Swapped(NamedTuple):
    article: str
    template: str
    how: str
    html: str
    gold: str  # of the article
    left: float  # words that the template keeps of its own article, for each of the moved one's


def shingles(text: str, size: int = 5) -> set[tuple[str, ...]]:
    """Return the runs of words; of Chinese, Japanese and Korean, of characters."""
    words = tokens(text)
    return set(zip(*(words[i:] for i in range(size)), strict=False)) or {tuple(words)}


def jaccard(a: set[Any], b: set[Any]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0


def _parse(html: str) -> Any:
    parser = lxml.html.HTMLParser(encoding="utf-8")
    return lxml.html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)


def _words(element: Any) -> Counter[str]:
    skipped = " or ".join(f"ancestor::{tag}" for tag in _UNSEEN)
    return Counter(tokens(" ".join(element.xpath(f".//text()[not({skipped})]"))))


def main_node(root: Any, gold: str) -> Any:
    """Return the deepest element that holds the gold text and little else, or None."""
    wanted = Counter(tokens(gold))
    body = node = root.find("body")
    while node is not None:
        for child in node:
            if not isinstance(child.tag, str) or child.tag in _UNSEEN:
                continue
            if (_words(child) & wanted).total() >= _HELD * wanted.total():
                node = child
                break
        else:
            break
    if node is None or node is body or node.tag in ("p", "span", "td"):
        return None
    held = _words(node)
    common = (held & wanted).total()
    good = common >= _HELD * wanted.total() and common >= _PURE * held.total()
    return node if good else None


def _fill(template: tuple[Page, str], *, node: Any = None, gold: str = "") -> str:
    root = _parse(template[0].html)
    slot = root.xpath(template[1])[0]
    for child in list(slot):
        slot.remove(child)
    slot.text = None
    if node is not None:
        slot.append(copy.deepcopy(node))
    for line in filter(str.strip, gold.split("\n")):
        etree.SubElement(slot, "p").text = "".join(char for char in line if char >= " ")
    html: str = lxml.html.tostring(root, encoding="unicode")
    return f"<!doctype html>\n{html}"


def swap_articles(
    pages: Iterable[Page], count: int, seed: int = 7, *, others: Iterable[int] = (11,)
) -> list[Swapped]:
    """Return articles as they stand, moved as they are, and moved as plain paragraphs.

    Each template holds `others` besides, as paragraphs: articles that are so many further on.
    """
    articles = [page for page in pages if page.kind == "article"]
    random.Random(seed).shuffle(articles)
    usable = []
    for page in articles:
        root = _parse(page.html)
        node = main_node(root, page.gold) if len(tokens(page.gold)) >= 120 else None
        if node is not None:
            path = root.getroottree().getpath(node)
            if len(_parse(page.html).xpath(path)) == 1:
                usable.append((page, path, node))
        if len(usable) == count:
            break
    left = {page.id: _left(page, path) for page, path, _ in usable}
    swapped = []
    for i, (page, _, node) in enumerate(usable):

        def other(step: int, i: int = i) -> tuple[Page, str]:
            return usable[(i + step) % len(usable)][:2]

        words = len(tokens(page.gold))
        swapped.append(Swapped(page.id, page.id, "as it stands", page.html, page.gold, 0.0))
        for step, how in ((1, "moved"), (7, "paragraphs"), *((step, "other") for step in others)):
            template = other(step)
            html = _fill(template, node=node) if how == "moved" else _fill(template, gold=page.gold)
            share = left[template[0].id] / words
            swapped.append(Swapped(page.id, template[0].id, how, html, page.gold, share))
    return swapped


def _left(page: Page, path: str) -> float:
    """Return how many words of its article stay in a page as a template, outside its main node."""
    texts = document.parse(_fill((page, path))).flat.texts
    shares, sizes = label_blocks(texts, page.gold)
    return float((shares * sizes).sum())


def learn_templates(swapped: list[Swapped]) -> Callable[[str], str]:
    """Return `strip_chrome` that has learnt each template from the four pages made with it."""
    templates: dict[str, SiteTemplate] = defaultdict(SiteTemplate)
    for page in swapped:
        found = strip_chrome(page.html)
        templates[page.template].observe(found.hashes(), block_hash(found.text))
    known = {page.html: templates[page.template].known() for page in swapped}
    return lambda html: strip_chrome(html, template=known[html]).text


def judge_swapped(swapped: list[Swapped], tool: Callable[[str], str]) -> dict[str, float]:
    """Return shares of pairs: copies with J ≥ 0.8 and ≥ 0.9, others in one template J < 0.2.

    The former of all pairs, and of those in chrome alone: many a template still has parts of its
    own article, and nobody can tell which of two articles a page is for.  Of these also where the
    blocks of both pages could be chosen so that J ≥ 0.8: a gold text can differ from its page's.
    """
    of_article: dict[str, list[tuple[Swapped, set[Any]]]] = defaultdict(list)
    of_template: dict[str, list[tuple[str, set[Any]]]] = defaultdict(list)
    for page in swapped:
        found = shingles(tool(page.html))
        if page.how != "other":
            of_article[page.article].append((page, found))
        of_template[page.template].append((page.article, found))
    copies = {
        (one, two): jaccard(a, b)
        for same in of_article.values()
        for (one, a), (two, b) in combinations(same, 2)
    }
    pure = [both for both in copies if max(page.left for page in both) < _LEFT]
    possible = [both for both in pure if jaccard(*map(_chosen_best, both)) >= 0.8]
    others = [
        jaccard(a, b)
        for pages in of_template.values()
        for (first, a), (second, b) in combinations(pages, 2)
        if first != second
    ]
    return {
        f"copies{where} ≥ .{tenths}": _share(copies[both] >= tenths / 10 for both in some)
        for where, some in (("", copies), (" in chrome alone", pure), (" where possible", possible))
        for tenths in (8, 9)
    } | {"others < .2": _share(j < 0.2 for j in others)}


def _share(found: Iterable[bool]) -> float:
    """Return the share of what is true, which of nothing is none."""
    counts = Counter(found)
    return counts[True] / counts.total() if counts else nan


@cache
def _chosen_best(page: Swapped) -> set[Any]:
    """Return the shingles of those blocks of a page that are mostly gold."""
    texts = document.parse(page.html).flat.texts
    shares, _ = label_blocks(texts, page.gold)
    return shingles("\n".join(compress(texts, shares > 0.5)))
