"""The benchmarks of quality compare like with like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.quality import Texts, by_text_profile, exactly, load, score
from benchmarks.verification import ESTIMATORS, by_datasketch
from tests.support.texts import article, changed, text


def test_pairs_are_true_by_the_words_that_are_compared(tmp_path: Path) -> None:
    """So the exact resemblance finds all true pairs and no others, whatever words are."""
    signs = " ".join(f"{number} % or + {number}" for number in range(40))
    texts = [signs, signs.replace(" 7 %", " 7").replace(" 21 %", " 21"), text(article(1, 60))]
    folder = tmp_path / "licenses"
    folder.mkdir()
    docs = [json.dumps({"id": number, "text": one}) for number, one in enumerate(texts)]
    (folder / "docs.jsonl").write_text("\n".join(docs))
    (folder / "pairs.jsonl").write_text(json.dumps({"a": 0, "b": 1, "j5": 1.0}))
    loaded = load(tmp_path, "licenses")
    found, _ = exactly(loaded, 0)
    assert 0.9 < loaded.truth[0, 1] == found[0, 1] < 1
    assert score(loaded, found, 0.99) == (1, 1, 1)
    for make in ESTIMATORS.values():
        assert make(loaded, 1)(0, 1) < 1


def test_a_text_profile_has_words_of_three_letters() -> None:
    """As in Nutch and Solr, which leave out shorter ones; an underscore is no letter there."""
    texts = ["the tea_room is at an inn", "the tea room or so: inn", "the tea room is at an hotel"]
    found, _ = by_text_profile(Texts("made up", texts, {}), 0.8)
    assert list(found) == [(0, 1)]


def test_candidates_of_datasketch_are_verified() -> None:
    """As those of an index: its bands alone drop many texts at two thirds."""
    pytest.importorskip("datasketch.lsh")
    words = [article(number, 300) for number in range(60)]
    unlike = [text(changed(one, 12)) for one in words]  # J = 0.66
    like = [text(changed(one, 2)) for one in words]
    dropped = list(by_datasketch(Texts("made up", [*map(text, words), *unlike, *like], {}), 1))
    assert dropped == [False] * 120 + [True] * 60
