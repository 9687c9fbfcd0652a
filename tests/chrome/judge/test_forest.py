"""Trees give the answers that their questions lead to, compiled or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from crawler.chrome.judge import model
from crawler.chrome.judge.model import Forest
from crawler.chrome.page.reader import COMPILED
from tests.support.pure import load_pure

pure = load_pure(model.__name__)
BOTH = {"numpy": pure.sum_votes}
if COMPILED:
    from crawler.chrome.judge import _model

    BOTH["compiled"] = _model.sum_votes
Votes = Callable[..., Any]


@pytest.fixture(params=BOTH)
def votes(request: pytest.FixtureRequest) -> Votes:
    return BOTH[request.param]


def some_forest(random: np.random.Generator, trees: int, depth: int, columns: int) -> Forest:
    questions = 2**depth - 1
    return Forest(
        random.integers(columns, size=(trees, questions)).astype(np.uint16),
        random.normal(size=(trees, questions)).astype(np.float32).round(1),
        random.normal(size=(trees, questions + 1)).astype(np.float32),
    )


def by_hand(trees: Forest, row: np.ndarray) -> float:
    total = 0.0
    for columns, limits, answers in zip(*trees, strict=True):
        at = 0
        while at < len(columns):
            at = 2 * at + (2 if row[columns[at]] > limits[at] else 1)
        total += float(answers[at - len(columns)])
    return total


def test_one_tree(votes: Votes) -> None:
    """A number that equals the limit does not exceed it; nothing exceeds infinity."""
    one = Forest(
        np.array([[1, 0, 0]], np.uint16),
        np.array([[0.5, np.inf, -1]], np.float32),
        np.array([[10, 0, 20, 30]], np.float32),
    )
    rows = np.array([[0, 0.5], [0, 0.6], [-1, 0.6], [9e9, 0]], np.float32)
    assert votes(one, rows, np.arange(4)).tolist() == [10, 30, 20, 10]
    assert votes(one, rows, np.array([2, 0])).tolist() == [20, 10]
    assert votes(one, rows, np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize(("trees", "depth", "rows"), [(1, 1, 3), (40, 5, 50), (150, 6, 2000)])
def test_many_trees(votes: Votes, trees: int, depth: int, rows: int) -> None:
    """Answers are added up in the order of the trees, to the last bit."""
    random = np.random.default_rng(trees)
    grown = some_forest(random, trees, depth, columns=20)
    features = random.normal(size=(rows, 20)).astype(np.float32).round(1)
    found = votes(grown, features, np.arange(rows))
    assert found.dtype == np.float64
    some = random.choice(rows, min(rows, 60), replace=False)
    assert found[some].tolist() == [by_hand(grown, features[row]) for row in some]


def in_doubt(rows: int) -> tuple[model.Model, np.ndarray, np.ndarray]:
    """A model, rows that describe no page and leave it in doubt often, and their hidden units."""
    fitted = model.load_model()
    random = np.random.default_rng(1)
    features = random.normal(size=(rows, len(fitted.hidden))).astype(np.float32) * 0.1
    units = features @ fitted.hidden
    said = np.maximum(units + fitted.hidden_bias, 0) @ fitted.output
    return fitted._replace(output_bias=-np.median(said)), features, units


def test_trees_are_asked_in_doubt_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the layer is sure its word stands; else it is half of what counts."""
    fitted, features, units = in_doubt(300)
    both = pure.score_units(fitted, units, features)
    np.testing.assert_allclose(fitted.probabilities(features), both, rtol=1e-4)
    asked: list[int] = []
    monkeypatch.setattr(
        pure, "sum_votes", lambda _, __, rows: asked.extend(rows) or np.zeros(len(rows))
    )
    halved = pure.score_units(fitted, units, features)
    sure = np.setdiff1d(np.arange(300), asked)
    assert len(asked) > 50
    assert len(sure) > 5
    assert np.array_equal(both[sure], halved[sure])
    assert (np.abs(np.log(both[sure] / (1 - both[sure]))) > model.DOUBT - 0.01).all()
    assert (np.abs(np.log(halved[asked] / (1 - halved[asked]))) < model.DOUBT / 2 + 0.01).all()
    assert (both[asked] != halved[asked]).mean() > 0.9
