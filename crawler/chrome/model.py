"""How likely each block is main text: one small hidden layer over the block's numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from .features import Floats

# Larger products make OpenBLAS wake all its threads, which then spin for longer than they help.
_ROWS: Final = 20

WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Model(NamedTuple):
    """Weights as fitted by `benchmarks/chrome_fit.py`: features → hidden units → logit."""

    hidden: Floats  # (features, units)
    hidden_bias: Floats  # (units,)
    output: Floats  # (units,)
    output_bias: Floats  # ()

    def probabilities(self, features: Floats) -> Floats:
        """Return for each row of `features` the probability that its block is main text."""
        logits = np.empty(len(features), np.float32)
        for at in range(0, len(features), _ROWS):
            units = np.maximum(features[at : at + _ROWS] @ self.hidden + self.hidden_bias, 0)
            logits[at : at + _ROWS] = units @ self.output + self.output_bias
        return (1 / (1 + np.exp(-np.clip(logits, -30, 30)))).astype(np.float32)


@cache
def load() -> Model:
    """Read the weights that stand beside this module."""
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Model(*(stored[name] for name in Model._fields))
