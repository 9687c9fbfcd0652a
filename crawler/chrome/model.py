"""How likely each block is main text: one small hidden layer over the block's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from .features import Floats
from .vocabulary import Remembered, words_of

# Larger matrix products make OpenBLAS wake all its threads, which then spin for longer than they
# help.
_PRODUCTS: Final = 1 << 18

WEIGHTS: Final = Path(__file__).with_name("weights.npz")


class Model:
    """Weights as fitted by `benchmarks/chrome_fit.py`: features → hidden units → logit.

    ``hidden`` is float32 of shape (features, units), ``hidden_bias`` and ``output`` of shape
    (units,), ``output_bias`` a number. ``words`` are words of class names, and how much more often
    than not the text inside is main text, as log-odds; words that are not there say nothing.
    """

    def __init__(
        self,
        hidden: Floats,
        hidden_bias: Floats,
        output: Floats,
        output_bias: np.float32,
        words: Mapping[str, float],
    ) -> None:
        self.hidden = hidden
        self.hidden_bias = hidden_bias
        self.output = output
        self.output_bias = output_bias
        self.words = words
        self._scores = Remembered(self._score)

    def score(self, names: str) -> float:
        """Return what the words of a class say on average, log-odds."""
        return self._scores[names]

    def _score(self, names: str) -> float:
        find = self.words.get
        said = [find(word, 0.0) for word in words_of(names)]
        return sum(said) / len(said) if said else 0.0

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

    def save(self) -> None:
        """Write the weights where `load` reads them."""
        words = sorted(self.words)
        np.savez_compressed(
            WEIGHTS,
            hidden=self.hidden,
            hidden_bias=self.hidden_bias,
            output=self.output,
            output_bias=self.output_bias,
            words=np.array(words),
            scores=np.array([self.words[word] for word in words], np.float32),
        )


@cache
def load() -> Model:
    """Read the weights that stand beside this module."""
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        words = dict(zip(stored["words"].tolist(), stored["scores"].tolist(), strict=True))
        layer = stored["hidden"], stored["hidden_bias"]
        return Model(*layer, stored["output"], stored["output_bias"], words)
