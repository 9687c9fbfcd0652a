"""Trees of questions about a block's numbers, which answer where one layer is in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .blocks import Floats, Ints, Wide

if TYPE_CHECKING:
    from .model import Model

DOUBT: Final = 2.5  # of log-odds; trees asked beyond that, too, raise F1 by .001 at most
MOST: Final = 30.0  # of log-odds
_AT_ONCE: Final = 1 << 18  # blocks times trees


class Forest(NamedTuple):
    """Regression trees of one depth, whose answers add up to log-odds (Friedman 2001).

    Each question is whether a column exceeds a limit.  Question 0 comes first; after question `i`
    comes `2 i + 1` if not, and `2 i + 2` if so.  What would come after the last questions are the
    answers.  A tree that is less deep in places asks there for more than infinity.
    """

    columns: NDArray[np.uint16]  # (trees, questions)
    limits: Floats  # (trees, questions)
    answers: Floats  # (trees, questions + 1)


def votes(forest: Forest, features: Floats, rows: Ints) -> Wide:
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


def likelihoods(model: Model, units: Floats, features: Floats) -> Floats:
    """Return the probabilities of main text, given the products of rows with the hidden weights.

    Layer and trees err on different blocks, so where the layer is in doubt, the log-odds of both
    are averaged.
    """
    units = np.maximum(units + model.hidden_bias, 0)
    logits = units @ model.output + model.output_bias
    doubtful = np.flatnonzero(np.abs(logits) < DOUBT)
    logits[doubtful] = (logits[doubtful] + votes(model.forest, features, doubtful)) / 2
    likely: Floats = 1 / (1 + np.exp(-np.minimum(np.maximum(logits, -MOST), MOST)))
    return likely
