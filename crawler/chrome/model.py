"""How likely each block is main text: one small hidden layer over the block's numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from .features import Floats

# Larger matrix products make OpenBLAS wake all its threads, which then spin for longer than they
# help.
_PRODUCTS: Final = 1 << 18

WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Model(NamedTuple):
    """Weights as fitted by `benchmarks/chrome_fit.py`: features → hidden units → logit."""

    hidden: Floats  # (features, units)
    hidden_bias: Floats  # (units,)
    output: Floats  # (units,)
    output_bias: Floats  # ()

    def probabilities(self, features: Floats) -> Floats:
        """Return for each row of `features` the probability that its block is main text."""
        units = np.empty((len(features), len(self.output)), np.float32)
        rows = max(_PRODUCTS // self.hidden.size, 1)
        for at in range(0, len(features), rows):
            np.matmul(features[at : at + rows], self.hidden, out=units[at : at + rows])
        units += self.hidden_bias
        np.maximum(units, 0, out=units)
        logits = np.einsum("ij,j->i", units, self.output) + self.output_bias
        likely: Floats = 1 / (1 + np.exp(-np.minimum(np.maximum(logits, -30), 30)))
        return likely


@cache
def load() -> Model:
    """Read the weights that stand beside this module."""
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Model(*(stored[name] for name in Model._fields))
