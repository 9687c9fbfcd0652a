"""The weights of the correction can be fitted again."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.spelling.fit import (
    FILE,
    NAMES,
    Pair,
    Sample,
    describe_fit,
    find_meant,
    fit_weights,
    sample_doubts,
)
from crawler.dedup.spelling.choices import WEIGHTS
from crawler.dedup.spelling.dictionary import load_dictionary
from crawler.dedup.spelling.page_words import PageWords

CLEAN = """Early in the morning the keeper went down to the harbour to look for the boats that had
not come back from the sea. The wind had fallen during the night and the water was quiet, but nobody
in the village had seen a light. He asked the fishermen who were mending their nets on the beach,
and they told him that three boats had gone out together on the evening before."""
MISREAD = (
    CLEAN.replace("morning", "rnorning")
    .replace("harbour", "harbonr")
    .replace("fallen", "fallcn")
    .replace("quiet", "qniet")
    .replace("fishermen", "fishcrmen")
    .replace("evening", "eveniug")
)


def test_the_weights_are_those_of_the_model() -> None:
    """The file has one for each feature, in order, and nothing else."""
    assert tuple(json.loads(FILE.read_text("utf-8"))) == NAMES == tuple(WEIGHTS)


def test_known_weights_are_found_again() -> None:
    """Choices that were drawn with some weights give these weights."""
    drawn = np.random.default_rng(3)
    weights = drawn.uniform(-1, 1, len(NAMES))
    features = drawn.normal(size=(6000, 5, len(NAMES)))
    noise = drawn.gumbel(size=(6000, 5))
    right = np.argmax(features @ weights + noise, axis=1)
    found = fit_weights(Sample(features.reshape(-1, len(NAMES)), np.full(6000, 5), right))
    assert np.abs(np.array(list(found.values())) - weights).max() < 0.15


def test_what_was_meant_is_found_beside_what_was_read() -> None:
    """Word for word, and two words for those that were run together."""
    clean, noisy = (
        PageWords(text, load_dictionary())
        for text in ("we met on a great field of that war", "we rnet on agreat fleld of war")
    )
    found = find_meant(clean, noisy)
    assert {1: "met", 3: "a great", 4: "field"}.items() <= found.items()
    assert noisy.words_at()[6] == "war" == found[6]


def test_examples_are_doubtful_words_with_their_right_choice() -> None:
    """The right choice is the clean word, whatever the weights would choose."""
    seen = sample_doubts([Pair(CLEAN, MISREAD), Pair(CLEAN, CLEAN)], dict(WEIGHTS))
    assert seen.features.shape == (seen.counts.sum(), len(NAMES))
    assert (seen.right > 0).sum() == 6
    assert "right 1.000" in describe_fit(seen, dict(WEIGHTS))
