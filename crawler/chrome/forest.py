"""Trees of questions about a block's numbers, which answer where one layer is in doubt."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .features import Floats, Ints, Wide

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
