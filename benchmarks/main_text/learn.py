"""The weights of crawler.chrome, from samples of pages: a layer, and trees beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks.main_text.names import Names
from crawler.chrome.judge import model
from crawler.chrome.judge.features import describe_blocks
from crawler.chrome.judge.model import Forest
from crawler.chrome.page.blocks import Flat
from crawler.chrome.page.signs import look_up

UNITS: Final = 40
EPOCHS: Final = 15
BATCH: Final = 2048  # blocks, of whole pages
RATE: Final = 2e-3
DECAY: Final = 1 / 128
DROPOUT: Final = 0.3  # of hidden units
NOTHING: Final = 1e-9  # a weight less than this is none

TREES: Final = 150
DEPTH: Final = 6
GROWTH: Final = {
    "objective": "binary",
    "max_depth": DEPTH,
    "num_leaves": 31,
    "learning_rate": 0.1,
    "min_data_in_leaf": 50,
    "lambda_l2": 5,
    "feature_fraction": 0.3,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "max_bin": 63,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}


class Sample(NamedTuple):
    site: str  # whose template it has
    flat: Flat
    title: str
    labels: np.ndarray
    weights: np.ndarray
    groups: np.ndarray  # of siblings, which share their likelihood


def describe_samples(samples: list[Sample], names: Names) -> np.ndarray:
    """Return the features of all blocks; classes as they would be known without the page's site."""
    sites = {s.site for s in samples}
    rows = {}
    for site in sites:
        scores = look_up(names.scores(sites - {site}))
        rows |= {
            i: describe_blocks(s.flat, s.title, scores)
            for i, s in enumerate(samples)
            if s.site == site
        }
    return np.concatenate([rows[i] for i in range(len(samples))])


def fit_model(samples: list[Sample], names: Names, seed: int = 0) -> model.Model:
    """Return the weights of a layer and of trees, each fitted by itself."""
    x = describe_samples(samples, names)
    y = np.concatenate([s.labels for s in samples]).astype(np.float32)
    w = np.concatenate([s.weights for s in samples]).astype(np.float32)
    w /= w.mean()
    forest = grow_trees(x, y, w, seed)
    scores = look_up(names.scores({s.site for s in samples}))
    return model.Model(*fit_layer(samples, x, y, w, seed), forest, scores)


def grow_trees(x: np.ndarray, y: np.ndarray, w: np.ndarray, seed: int) -> Forest:
    """Return trees that minimise the cross-entropy, by LightGBM."""
    import lightgbm  # nothing else here needs it

    data = lightgbm.Dataset(x, y, weight=w, params=GROWTH)
    grown = lightgbm.train(GROWTH | {"seed": seed}, data, TREES).dump_model()["tree_info"]
    questions = 2**DEPTH - 1
    columns = np.zeros((TREES, questions), np.uint16)
    limits = np.full((TREES, questions), np.inf, np.float32)
    answers = np.zeros((TREES, questions + 1), np.float32)

    def put(tree: int, node: dict[str, Any], at: int = 0) -> None:
        if at >= questions:
            answers[tree, at - questions] = node["leaf_value"]
        elif "leaf_value" in node:
            put(tree, node, 2 * at + 1)  # nothing is more than infinity
        else:
            columns[tree, at], limit = node["split_feature"], np.float32(node["threshold"])
            exact = limit <= node["threshold"]  # else the next number below asks the same
            limits[tree, at] = limit if exact else np.nextafter(limit, np.float32(-np.inf))
            put(tree, node["left_child"], 2 * at + 1)
            put(tree, node["right_child"], 2 * at + 2)

    for tree, root in enumerate(grown):
        put(tree, root["tree_structure"])
    return Forest(columns, limits, answers)


def fit_layer(
    samples: list[Sample], x: np.ndarray, y: np.ndarray, w: np.ndarray, seed: int
) -> tuple[np.ndarray, ...]:
    """Return weights that minimise the cross-entropy, by Adam; scaling is folded in.

    Siblings are judged together, as `settle` does; what blocks share that are alike comes after.
    """
    mean, scale = x.mean(0), np.maximum(x.std(0), 0.02)
    x = np.clip((x - mean) / scale, -8, 8)
    random = np.random.default_rng(seed)
    lengths = np.array([len(s.labels) for s in samples])
    starts = np.cumsum(lengths) - lengths
    f = x.shape[1]
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
    steps = EPOCHS * (lengths.sum() // BATCH + 1)
    for _ in range(EPOCHS):
        order = random.permutation(len(samples))
        batches = np.cumsum(lengths[order]) // BATCH
        for batch in np.split(order, np.flatnonzero(np.diff(batches)) + 1):
            rows = np.concatenate([starts[i] + np.arange(lengths[i]) for i in batch])
            pooled = _pooling([samples[i].groups for i in batch])
            xb, yb, wb = x[rows], y[rows], w[rows]
            h = np.maximum(xb @ parameters[0] + parameters[1], 0)
            h *= (random.random(h.shape, np.float32) > DROPOUT) / np.float32(1 - DROPOUT)
            p = 1 / (1 + np.exp(-np.clip(pooled(h @ parameters[2] + parameters[3]), -30, 30)))
            slope = pooled(wb * (p - yb)) / wb.sum()
            back = np.outer(slope, parameters[2]) * (h > 0) / np.float32(1 - DROPOUT)
            gradients = [
                xb.T @ back + DECAY * parameters[0],
                back.sum(0),
                h.T @ slope + DECAY * parameters[2],
                slope.sum(),
            ]
            rate = np.float32(RATE * max(1 - step / steps, 0))
            step += 1
            for i, g in enumerate(gradients):
                first[i] += 0.1 * (g - first[i])
                second[i] += 0.001 * (g * g - second[i])
                parameters[i] = parameters[i] - rate * (first[i] / (1 - 0.9**step)) / (
                    np.sqrt(second[i] / (1 - 0.999**step)) + 1e-8
                )
    hidden = parameters[0] / scale[:, None]
    bias, output = parameters[1] - mean @ hidden, parameters[2]
    # Decay leaves numbers so small that a processor takes a hundred times as long for them.
    hidden[np.abs(hidden) < NOTHING] = 0
    used = np.abs(output) > NOTHING
    return (
        hidden[:, used].astype(np.float32),
        bias[used].astype(np.float32),
        output[used].astype(np.float32),
        np.float32(parameters[3]),
    )


def _pooling(groups: list[np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that gives each of some pages' blocks the mean of its group."""
    before = np.cumsum([0] + [own.max() + 1 for own in groups])
    of = np.concatenate([own + first for own, first in zip(groups, before, strict=False)])
    counts = np.maximum(np.bincount(of), 1)
    return lambda values: (np.bincount(of, values) / counts)[of].astype(np.float32)
