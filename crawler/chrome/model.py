"""How likely each block is main text: a small hidden layer, and where it is in doubt, trees."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from .blocks import Floats
from .forest import Forest
from .twins import likelihoods
from .vocabulary import AnyWords, look_up

# Larger matrix products make OpenBLAS wake all its threads, which then spin for longer than they
# help.
_PRODUCTS: Final = 1 << 18

WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Model(NamedTuple):
    """Weights as fitted by `benchmarks/chrome_fit.py`: a layer of hidden units, and trees."""

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
        return likelihoods(self, units, features)

    def save(self) -> None:
        """Write the weights where `load` reads them."""
        words = sorted(self.names.values)
        scores = np.array([self.names.values[word] for word in words], np.float32)
        arrays = self._asdict() | self.forest._asdict() | {"names": np.array(words)}
        del arrays["forest"]
        np.savez_compressed(WEIGHTS, scores=scores, **arrays)


@cache
def load() -> Model:
    """Read the weights that stand beside this module."""
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        arrays = dict(stored)
    words, scores = arrays.pop("names").tolist(), arrays.pop("scores").tolist()
    forest = Forest(*map(arrays.pop, Forest._fields))
    return Model(forest=forest, names=look_up(dict(zip(words, scores, strict=True))), **arrays)
