"""Fit the weights of crawler.chrome on pages with gold text; sites are never split.

python benchmarks/chrome_fit.py --data FOLDER            # cross-validated figures
python benchmarks/chrome_fit.py --data FOLDER --write    # fit on all, write weights.npz

Articles moved into other sites' templates are fitted on, too: content is what is the same in both.
Pages of manuals (--manuals FOLDER) help to tell content from a documentation theme.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import chrome_swap
from benchmarks.chrome import pairs
from benchmarks.chrome_data import MANUAL, Page, load_manuals, load_pages, score, tokens
from benchmarks.chrome_swap import Swapped
from crawler.chrome import document, extract, model
from crawler.chrome.blocks import LIMIT, Flat
from crawler.chrome.features import describe

UNITS = 32
EPOCHS = 15
BATCH = 512
RATE = 1.5e-3
DECAY = 1 / 128
DROPOUT = 0.3  # of hidden units
MANUAL_WEIGHT = 0.3  # pages of one manual are much alike
SWAPPED_WEIGHT = 0.08  # and so are the same articles in other templates


class Sample(NamedTuple):
    page: Page
    flat: Flat
    features: np.ndarray
    labels: np.ndarray
    weights: np.ndarray


def labels(texts: list[str], gold: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each block's words that stand in the gold text, and the words.

    A word counts if any run of four words through it, across blocks too, is in the gold.
    """
    words = tokens(gold)
    runs = set(zip(*(words[i:] for i in range(4)), strict=False))
    blocks = [tokens(text) for text in texts]
    flat = [word for block in blocks for word in block]
    hit = np.zeros(len(flat) + 4, bool)
    for i, run in enumerate(zip(*(flat[i:] for i in range(4)), strict=False)):
        if run in runs:
            hit[i : i + 4] = True
    sizes = np.array([len(block) for block in blocks])
    stops = np.cumsum(sizes)
    sums = np.concatenate(([0], np.cumsum(hit)))
    return (sums[stops] - sums[stops - sizes]) / np.maximum(sizes, 1), sizes


def sample(page: Page) -> Sample | None:
    parsed = document.parse(page.html)
    texts = parsed.flat.texts[:LIMIT]
    if not texts:
        return None
    share, sizes = labels(texts, page.gold)
    gold = (share * sizes).sum() + 20
    weights = np.minimum(sizes + 1, gold) / gold
    features = describe(parsed.flat, document.title(parsed))
    return Sample(page, parsed.flat, features, share > 0.5, weights)


def resample(moved: list[Swapped], pages: list[Page]) -> list[Sample]:
    """Return samples of the articles that stand in another site's template."""
    of = {page.id: page for page in pages}
    others = [page for page in moved if page.how != "as it stands"]
    samples = (sample(replace(of[page.article], html=page.html)) for page in others)
    return [s._replace(weights=s.weights * SWAPPED_WEIGHT) for s in samples if s]


def text_of(flat: Flat, features: np.ndarray, fitted: model.Model) -> str:
    """Return the text that is kept with these weights."""
    texts = flat.texts[:LIMIT]
    likely = fitted.probabilities(features)
    return extract.join(texts, extract.choose(extract.settle(likely, flat), texts))


def fit(samples: list[Sample], seed: int = 0) -> model.Model:
    """Return weights that minimise the cross-entropy, by Adam; scaling is folded in."""
    x = np.concatenate([s.features for s in samples]).astype(np.float32)
    y = np.concatenate([s.labels for s in samples]).astype(np.float32)
    w = np.concatenate([s.weights for s in samples]).astype(np.float32)
    w /= w.mean()
    mean, scale = x.mean(0), np.maximum(x.std(0), 0.02)
    x = np.clip((x - mean) / scale, -8, 8)
    random = np.random.default_rng(seed)
    n, f = x.shape
    bound = np.sqrt(6 / (f + UNITS))
    parameters = [
        random.uniform(-bound, bound, (f, UNITS)).astype(np.float32),
        np.zeros(UNITS, np.float32),
        random.uniform(-0.3, 0.3, UNITS).astype(np.float32),
        np.zeros((), np.float32),
    ]
    first = [np.zeros_like(p) for p in parameters]
    second = [np.zeros_like(p) for p in parameters]
    step = 0
    steps = EPOCHS * -(-n // BATCH)
    for _ in range(EPOCHS):
        order = random.permutation(n)
        for at in range(0, n, BATCH):
            rows = order[at : at + BATCH]
            xb, yb, wb = x[rows], y[rows], w[rows]
            h = np.maximum(xb @ parameters[0] + parameters[1], 0)
            h *= (random.random(h.shape, np.float32) > DROPOUT) / np.float32(1 - DROPOUT)
            p = 1 / (1 + np.exp(-np.clip(h @ parameters[2] + parameters[3], -30, 30)))
            slope = wb * (p - yb) / len(rows)
            back = np.outer(slope, parameters[2]) * (h > 0) / np.float32(1 - DROPOUT)
            gradients = [
                xb.T @ back + DECAY * parameters[0],
                back.sum(0),
                h.T @ slope + DECAY * parameters[2],
                slope.sum(),
            ]
            rate = np.float32(RATE * (1 - step / steps))
            step += 1
            for i, g in enumerate(gradients):
                first[i] += 0.1 * (g - first[i])
                second[i] += 0.001 * (g * g - second[i])
                parameters[i] = parameters[i] - rate * (first[i] / (1 - 0.9**step)) / (
                    np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8
                )
    hidden = parameters[0] / scale[:, None]
    return model.Model(
        hidden.astype(np.float32),
        (parameters[1] - mean @ hidden).astype(np.float32),
        parameters[2].astype(np.float32),
        np.float32(parameters[3]),
    )


def fold(site: str, folds: int) -> int:
    return zlib.crc32(b"fold " + site.encode()) % folds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--manuals", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    pages = list(load_pages(options.data))
    samples = [s for s in map(sample, pages) if s]
    if options.manuals:
        manuals = filter(None, map(sample, load_manuals(options.manuals)))
        samples += [s._replace(weights=s.weights * MANUAL_WEIGHT) for s in manuals]
    # Templates and articles of one part only, lest a page be fitted on in another's template.
    parts = range(options.folds)
    here = [[page for page in pages if fold(page.site, options.folds) == i] for i in parts]
    swapped = [chrome_swap.swap(part, len(part)) for part in here]
    moved = [resample(*both) for both in zip(swapped, here, strict=True)]
    if options.write:
        fitted = fit(samples + [s for part in moved for s in part])
        np.savez_compressed(model.WEIGHTS, **fitted._asdict())
        return
    kinds: dict[str, list[tuple[float, float, float]]] = {}
    of_manuals: dict[str, str] = {}
    texts: dict[str, str] = {}  # of swapped pages
    for number in parts:
        train = [s for s in samples if fold(s.page.site, options.folds) != number]
        train += [s for i in parts if i != number for s in moved[i]]
        fitted = fit(train)
        for s in samples:
            if fold(s.page.site, options.folds) != number:
                continue
            text = text_of(s.flat, s.features, fitted)
            if s.page.kind == MANUAL:
                of_manuals[s.page.id] = text
            figures = score(s.page.gold, text)
            groups = [s.page.kind] if s.page.kind == MANUAL else ["all", s.page.kind, s.page.source]
            for kind in groups:
                kinds.setdefault(kind, []).append(figures)
        for page in swapped[number]:
            parsed = document.parse(page.html)
            features = describe(parsed.flat, document.title(parsed))
            texts[page.html] = text_of(parsed.flat, features, fitted)
    for kind, rows in sorted(kinds.items()):
        p, r, f1 = np.mean(rows, 0)
        low = np.mean([row[1] < 0.5 for row in rows])
        print(f"{kind:50} {len(rows):4}  P {p:.3f}  R {r:.3f}  F1 {f1:.3f}  R<.5 {low:.3f}")
    shares = chrome_swap.judge([page for part in swapped for page in part], texts.__getitem__)
    print("articles in other chrome:", ", ".join(f"{k}: {v:.3f}" for k, v in shares.items()))
    if of_manuals:
        print(f"manuals: F1 of pairs at J ≥ .8 {pairs(options.manuals, of_manuals):.4f}")


if __name__ == "__main__":
    main()
