"""The benchmarks of quality compare like with like, and others run at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hatch_build
from benchmarks.compiled import as_shipped
from benchmarks.quality import Texts, by_shingles, by_text_profile, load_texts, score
from benchmarks.verification import ESTIMATORS, by_datasketch
from tests.support.texts import article, changed, text

ROOT = Path(hatch_build.__file__).parent


def test_pairs_are_true_by_the_words_that_are_compared(tmp_path: Path) -> None:
    """So the exact resemblance finds all true pairs and no others, whatever words are."""
    signs = " ".join(f"{number} % or + {number}" for number in range(40))
    texts = [signs, signs.replace(" 7 %", " 7").replace(" 21 %", " 21"), text(article(1, 60))]
    folder = tmp_path / "licenses"
    folder.mkdir()
    docs = [json.dumps({"id": number, "text": one}) for number, one in enumerate(texts)]
    (folder / "docs.jsonl").write_text("\n".join(docs))
    (folder / "pairs.jsonl").write_text(json.dumps({"a": 0, "b": 1, "j5": 1.0}))
    loaded = load_texts(tmp_path, "licenses")
    found, _ = by_shingles(loaded, 0)
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


def test_texts_of_the_benchmark_of_delays_are_served() -> None:
    """As the pages of the other benchmark of crawls are."""
    script = (
        "from urllib.request import urlopen; from benchmarks.latency import make_texts, servers\n"
        "with servers(make_texts(2)) as (site, _):\n"
        "    print(len(urlopen(f'{site}/p/1').read().split()))"
    )
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, check=True, capture_output=True, cwd=ROOT, timeout=120)
    assert int(done.stdout) == 500


@pytest.mark.parametrize("old", [[], [Path("module.pyx")]])
def test_a_benchmark_begins_again_with_what_it_has_compiled(
    monkeypatch: pytest.MonkeyPatch, old: list[Path]
) -> None:
    """What it has imported before is not compiled."""
    begun = []
    monkeypatch.setenv("NEARDUP_PURE", "")
    monkeypatch.setattr(hatch_build, "out_of_date", lambda: old)
    monkeypatch.setattr(hatch_build, "in_place", lambda: None)
    monkeypatch.setattr(os, "execv", lambda *command: begun.append(command))
    as_shipped()
    assert begun == [(sys.executable, sys.orig_argv)] * len(old)
