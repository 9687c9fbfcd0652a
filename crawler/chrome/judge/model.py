"""The probability of main text for each block: a small hidden layer and, in doubt, trees."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import Floats, Ints, Wide
from ..page.signs import AnyWords, look_up

DOUBT: Final = 2.5  # of log-odds; trees asked beyond that, too, raise F1 by .001 at most
MOST: Final = 30.0  # of log-odds
_AT_ONCE: Final = 1 << 18  # blocks times trees


class Forest(NamedTuple):
    """Regression trees of one depth, whose answers add up to log-odds (Friedman 2001).

    Each question is whether a column exceeds a limit. Question 0 comes first; question `i` is
    followed by `2 i + 1` for no, and `2 i + 2` for yes. After the last questions come the answers.
    A tree that is less deep in places compares with infinity there.
    """

    columns: NDArray[np.uint16]  # (trees, questions)
    limits: Floats  # (trees, questions)
    answers: Floats  # (trees, questions + 1)


def sum_votes(forest: Forest, features: Floats, rows: Ints) -> Wide:
    """Return the log-odds of some rows of `features`, float64, shape (rows,)."""
    trees, answers = forest.answers.shape
    tree = np.arange(trees)
    found = np.empty(len(rows))
    step = max(_AT_ONCE // trees, 1)
    for at in range(0, len(rows), step):
        some = rows[at : at + step, None]
        node = np.zeros((len(some), trees), np.intp)
        for _ in range(answers.bit_length() - 1):
            more = features[some, forest.columns[tree, node]] > forest.limits[tree, node]
            node = 2 * node + 1 + more
        answered = forest.answers[tree, node - answers + 1]
        # In order, as the compiled module adds them.
        found[at : at + step] = answered.cumsum(1, dtype=np.float64)[:, -1]
    return found


def score_units(model: Model, units: Floats, features: Floats) -> Floats:
    """Return the probabilities of main text, given the products of rows with the hidden weights.

    Layer and trees err on different blocks, so in doubt the log-odds of both are averaged.
    """
    units = np.maximum(units + model.hidden_bias, 0)
    logits = units @ model.output + model.output_bias
    doubtful = np.flatnonzero(np.abs(logits) < DOUBT)
    logits[doubtful] = (logits[doubtful] + sum_votes(model.forest, features, doubtful)) / 2
    likely: Floats = 1 / (1 + np.exp(-np.minimum(np.maximum(logits, -MOST), MOST)))
    return likely


# Larger matrix products make OpenBLAS wake all its threads, which then spin for longer than they
# help.
_PRODUCTS: Final = 1 << 18

WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Model(NamedTuple):
    """Weights as fitted by `benchmarks/main_text/fit.py`: a layer of hidden units, and trees."""

    hidden: Floats  # (features, units)
    hidden_bias: Floats  # (units,)
    output: Floats  # (units,)
    output_bias: Floats  # ()
    forest: Forest
    names: AnyWords  # of classes, and how much each speaks for main text, as log-odds

    def probabilities(self, features: Floats) -> Floats:
        """Return for each row of `features` the probability that its block is main text."""
        units = np.empty((len(features), len(self.output)), np.float32)
        rows = max(_PRODUCTS // self.hidden.size, 1)
        for at in range(0, len(features), rows):
            np.matmul(features[at : at + rows], self.hidden, out=units[at : at + rows])
        return score_units(self, units, features)

    def save_weights(self) -> None:
        """Write the weights where `load_model` reads them."""
        words = sorted(self.names.values)
        scores = np.array([self.names.values[word] for word in words], np.float32)
        arrays = self._asdict() | self.forest._asdict() | {"names": np.array(words)}
        del arrays["forest"]
        np.savez_compressed(WEIGHTS, scores=scores, **arrays)


@cache
def load_model() -> Model:
    """Read the weights beside this module."""
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        arrays = dict(stored)
    words, scores = arrays.pop("names").tolist(), arrays.pop("scores").tolist()
    forest = Forest(*map(arrays.pop, Forest._fields))
    return Model(forest=forest, names=look_up(dict(zip(words, scores, strict=True))), **arrays)


with suppress(ImportError):  # compiled, they do the same in less time
    from ._model import score_units
