"""Trees of questions about a block's numbers, which answer where one layer is in doubt."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .features import Floats, Ints, Wide

_AT_ONCE: Final = 1 << 18  # blocks times trees


class Forest(NamedTuple):
    """Regression trees whose answers add up to log-odds (Friedman 2001).

    Question `i` of a tree asks if a column exceeds a limit; its children are the numbers of the
    questions that follow if not and if so, or `~j` for the tree's answer `j`.  The first question
    of each tree is 0.
    """

    columns: NDArray[np.uint16]  # (trees, questions)
    limits: Floats  # (trees, questions)
    children: NDArray[np.int16]  # (trees, questions, 2)
    answers: Floats  # (trees, answers)


def votes(forest: Forest, features: Floats, rows: Ints) -> Wide:
    """Return the log-odds of some rows of `features`, float64, shape (rows,)."""
    tree = np.arange(len(forest.columns))
    found = np.empty(len(rows))
    step = max(_AT_ONCE // max(len(tree), 1), 1)
    for at in range(0, len(rows), step):
        some = rows[at : at + step, None]
        node = np.zeros((len(some), len(tree)), np.int16)
        while (asked := node >= 0).any():
            here = np.maximum(node, 0)
            more = features[some, forest.columns[tree, here]] > forest.limits[tree, here]
            node = np.where(asked, forest.children[tree, here, more.astype(np.intp)], node)
        # In order, as the compiled module adds them.
        found[at : at + step] = forest.answers[tree, ~node].cumsum(1, dtype=np.float64)[:, -1]
    return found
