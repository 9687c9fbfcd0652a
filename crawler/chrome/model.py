"""How likely each block is main text: one small hidden layer over the block's numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from .features import Floats

WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Model(NamedTuple):
    """Weights as fitted by `benchmarks/chrome_fit.py`: features → hidden units → logit."""

    hidden: Floats  # (features, units)
    hidden_bias: Floats  # (units,)
    output: Floats  # (units,)
    output_bias: Floats  # ()

    def probabilities(self, features: Floats) -> Floats:
        """Return for each row of `features` the probability that its block is main text."""
        units = np.maximum(features @ self.hidden + self.hidden_bias, 0)
        logits = units @ self.output + self.output_bias
        probabilities: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
        return probabilities


@cache
def load() -> Model:
    """Read the weights that stand beside this module."""
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Model(*(stored[name] for name in Model._fields))
