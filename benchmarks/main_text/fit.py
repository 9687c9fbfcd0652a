"""Fit the weights of crawler.chrome on pages with gold text; sites are never split.

python benchmarks/main_text/fit.py --data FOLDER            # cross-validated figures
python benchmarks/main_text/fit.py --data FOLDER --write    # fit on all, write weights.npz

Articles moved into other sites' templates are fitted on, too: content is what is the same in both.
Pages of manuals (--manuals FOLDER) help to tell content from a documentation theme, and pages that
anyone can fetch (--marked FOLDER, see main_text/marked.py) are of other sites.  The weights of the
package are fitted on all of them.
Needs LightGBM (pip install lightgbm), which grows the trees; the package reads them without it.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Set
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.chrome import near_pairs, score_pairs
from benchmarks.main_text import first, swap
from benchmarks.main_text.data import Page, label_blocks, load_manuals, load_pages, score
from benchmarks.main_text.first import Met
from benchmarks.main_text.learn import Sample, fit_model
from benchmarks.main_text.marked import load_marked
from benchmarks.main_text.names import Names
from benchmarks.main_text.swap import Swapped
from benchmarks.tools.folders import folder_with
from crawler.chrome import strip_chrome
from crawler.chrome.judge import model
from crawler.chrome.judge.selection import group_siblings
from crawler.chrome.page import document
from crawler.chrome.page.blocks import JUDGED

ORDERS = 3  # in which a site's pages are met, for learning its template
MORE = (11, 13, 17, 19, 23)  # other articles in each template, for a site of more pages
MANUAL_WEIGHT = 0.3  # pages of one manual are much alike
SWAPPED_WEIGHT = 0.15  # and so are the same articles in other templates
MARKED_WEIGHT = 0.5  # what others call main text differs a little, and most are articles


def make_sample(page: Page) -> Sample | None:
    parsed = document.parse(page.html)
    texts = parsed.flat.texts[:JUDGED]
    if not texts:
        return None
    share, sizes = label_blocks(texts, page.gold)
    gold = (share * sizes).sum() + 20
    weights = np.minimum(sizes + 1, gold) / gold
    groups = group_siblings(parsed.flat)[: len(texts)]
    return Sample(page.site, parsed.flat, document.title(parsed), share > 0.5, weights, groups)


def loosen_sample(one: Sample) -> Sample:
    """Return the sample with no weight on what is no main text, but stands between blocks that are.

    Who marks pages is of one mind with others on where main text is, not on each line of it: dates,
    boxes, facts, short lines that would not be told from those of a menu.  What the words of their
    classes say is counted all the same.
    """
    main = np.flatnonzero(one.labels)
    inner = np.zeros(len(one.labels), bool)
    inner[main.min(initial=len(inner)) : main.max(initial=-1) + 1] = True
    return one._replace(weights=np.where(inner & ~one.labels, 0, one.weights))


def sample_swapped(moved: list[Swapped], pages: list[Page], marked: Set[str]) -> list[Sample]:
    """Return samples of the articles that stand in another site's template.

    What is left there of the template's own main text counts for nothing: it is no chrome.
    """
    of = {page.id: page for page in pages}
    samples = []
    for page in moved:
        if page.how == "as it stands":
            continue
        template = of[page.template]
        if one := make_sample(replace(of[page.article], html=page.html, site=template.site)):
            shares, _ = label_blocks(one.flat.texts[:JUDGED], template.gold)
            weights = one.weights * ((shares <= 0.5) | one.labels) * SWAPPED_WEIGHT
            one = one._replace(weights=weights)
            samples.append(loosen_sample(one) if page.article in marked else one)
    return samples


def fold_of(site: str, folds: int) -> int:
    return zlib.crc32(b"fold " + site.encode()) % folds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=folder_with("gold.jsonl"), required=True)
    parser.add_argument("--manuals", type=folder_with("pages.jsonl"))
    parser.add_argument("--marked", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the fits")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    pages = list(load_pages(options.data))
    manuals = list(load_manuals(options.manuals)) if options.manuals else []
    marked = list(load_marked(options.marked)) if options.marked else []
    samples = list(filter(None, map(make_sample, pages)))
    for some, weight in (
        (map(loosen_sample, filter(None, map(make_sample, marked))), MARKED_WEIGHT),
        (filter(None, map(make_sample, manuals)), MANUAL_WEIGHT),
    ):
        samples += [one._replace(weights=one.weights * weight) for one in some]
    # Templates and articles of one part only, lest a page be fitted on in another's template.
    parts = range(options.folds)
    here = [[page for page in pages if fold_of(page.site, options.folds) == i] for i in parts]
    more = [[page for page in marked if fold_of(page.site, options.folds) == i] for i in parts]
    ids = {page.id for page in marked}
    moved = [
        sample_swapped(swap.swap_articles(part, len(part), others=MORE), part, ids)
        for part in ((*one, *two) for one, two in zip(here, more, strict=True))
    ]
    names = Names((s.site, s.flat, s.labels) for s in samples)
    if options.write:
        fit_model(samples + [s for part in moved for s in part], names).save_weights()
        return
    texts: dict[str, str] = {}  # by HTML
    learning: dict[str, str] = {}
    orders: list[list[Met]] = [[] for _ in range(ORDERS)]  # of pages of manuals
    met: list[list[Met]] = []
    articles: list[Swapped] = []
    several = []
    for number in parts:
        train = [s for s in samples if fold_of(s.site, options.folds) != number]
        train += [s for i in parts if i != number for s in moved[i]]
        fitted = fit_model(train, names, options.seed)
        model.load_model = lambda fitted=fitted: fitted  # strip_chrome takes its weights there
        unseen = [page for page in manuals if fold_of(page.site, options.folds) == number]
        swapped = swap.swap_articles(here[number], len(here[number]))
        articles += swapped
        for page in (*here[number], *more[number], *unseen, *swapped):
            texts[page.html] = strip_chrome(page.html).text
        learner = swap.learn_templates(swapped)
        learning |= {page.html: learner(page.html) for page in swapped}
        found = first.read_in_orders(unseen, lambda page: (page.site, page.source), range(ORDERS))
        for order, part in zip(orders, found, strict=True):
            order += part
        many = swap.swap_articles(here[number], len(here[number]), others=MORE)
        met += first.read_in_orders(many, lambda page: page.template, range(ORDERS))
        several += first.score_small_sites(here[number])
    for some in filter(None, (pages, marked, manuals)):
        print_scores(some, texts)
    for name, known in (("", texts), (", templates learnt", learning)):
        shares = swap.judge_swapped(articles, known.__getitem__)
        print(f"articles in other chrome{name}:", {k: round(v, 3) for k, v in shares.items()})
    near = near_pairs(options.manuals) if manuals else set()
    if manuals:
        found = [score_pairs(near, {page.id: texts[page.html] for page in manuals})]
        found += [score_pairs(near, {m.page.id: m.text for m in order}) for order in orders]
        print("manuals, F1 of pairs at J ≥ .8, then with templates learnt:", np.round(found, 4))
    first.report(met, orders if manuals else [], near, several)


def print_scores(pages: list[Page], texts: dict[str, str]) -> None:
    """Print how good the texts of the pages are: all, by kind, by source."""
    groups: dict[str, list[tuple[float, float, float]]] = {}
    for page in pages:
        figures = score(page.gold, texts[page.html])
        for group in dict.fromkeys(("all", page.kind, page.source)):
            groups.setdefault(group, []).append(figures)
    for group, rows in sorted(groups.items()):
        p, r, f1 = np.mean(rows, 0)
        low = np.mean([row[1] < 0.5 for row in rows])
        print(f"{group:50} {len(rows):4}  P {p:.3f}  R {r:.3f}  F1 {f1:.3f}  R<.5 {low:.3f}")


if __name__ == "__main__":
    main()
