"""The same query to a full-text engine with and without the filter."""

from __future__ import annotations

from collections.abc import Callable

from tests.examples.conftest import Played

EXAMPLE = "search_engine"


def titles(output: str) -> list[str]:
    rows = [line for line in output.splitlines() if line[:2].strip().isdigit()]
    return [line[3:55].strip() for line in rows if "/" in line]


def test_outputs(played: Played, assert_as_shown: Callable[[Played], None]) -> None:
    """The README shows what is printed."""
    assert_as_shown(played)


def test_ten_results_are_no_longer_one_page(played: Played) -> None:
    """Without the filter the first ten results have one title, with it eight."""
    without, with_it = (titles(output) for _, output in played.outputs)
    assert (len(without), len(with_it)) == (10, 10)
    assert len(set(without)) == 1
    assert len(set(with_it)) == 8
