"""Tables in terminals: what a column holds decides where its lines are broken."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.commands.output import format_similarity, print_table
from crawler.dedup import Kind, Record, Verdict
from crawler.pipelines.dropping import describe_verdict
from crawler.report.html_file import make_environment

URL = "http://localhost:8901/archive/2026/the-keeper-of-the-lighthouse-and-the-wreck"
COLUMNS = ["cluster", "pages", "similarity", "first seen", "last seen", "page"]
ROWS = [[7, 3, None, "2026-11-23", "2026-11-24", URL], [7, None, "0.9804", "–", "–", URL]]


PrintAt = Callable[[int, list[str], list[Any]], str]


@pytest.fixture
def print_at(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> PrintAt:
    """Print a table into a terminal of some width; no line is wider."""

    def print_at(width: int, columns: list[str], rows: list[Any]) -> str:
        monkeypatch.setattr("sys.stdout.isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("TERM", "dumb")
        print_table("", columns, rows)
        printed = capsys.readouterr().out
        assert max(map(len, printed.splitlines())) <= width
        return printed

    return print_at


@pytest.mark.parametrize("width", [60, 80, 200])
def test_urls_fold_and_numbers_and_dates_do_not(width: int, print_at: PrintAt) -> None:
    """In a narrow terminal an address takes some lines, and all else stands in one."""
    printed = print_at(width, COLUMNS, ROWS)
    lines = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line] for line in lines]
    assert cells[0][:5] == ["7", "3", "–", "2026-11-23", "2026-11-24"]
    assert ["7", "–", "0.9804", "–", "–"] in [line[:5] for line in cells]
    addresses = [line[5] for line in cells]
    assert "".join(addresses) == 2 * URL
    assert len(addresses[0]) >= 11
    assert all(word in printed for name in COLUMNS for word in name.split())


def test_a_terminal_too_narrow_for_that_breaks_all(print_at: PrintAt) -> None:
    """Nothing is cut off, however narrow it is."""
    lines = [line for line in print_at(30, COLUMNS, ROWS).splitlines() if line.startswith("│")]
    assert "".join(line.split("│")[6].strip() for line in lines) == 2 * URL
    assert "2026-11-23" in "".join(line.split("│")[4].strip() for line in lines)


def test_no_column_is_as_narrow_as_two_characters(print_at: PrintAt) -> None:
    """Before a time takes thirteen lines, numbers are broken, too."""
    columns = ["namespace", "kept", "urls", "checks", "last check", "last crawl"]
    row = ["dedup", 66_667, 100_000, 100_000, "2026-11-30T09:55:18+00:00", None]
    lines = [line for line in print_at(40, columns, [row]).splitlines() if line.startswith("│")]
    assert "".join(line.split("│")[5].strip() for line in lines) == row[4]
    assert len(lines) <= 7


@pytest.mark.parametrize("similarity", [0.7998, 0.79998, 0.8 - 2**-50])
def test_what_is_below_a_threshold_is_not_shown_at_it(similarity: float) -> None:
    """Wherever a similarity is shown it is rounded down, and a threshold has all of its digits."""
    now = datetime(2026, 11, 23, tzinfo=UTC)
    record = Record(URL, Kind.NEAR, Kind.NEAR, URL, similarity, 0.7, 0.9, 1, now, now, 9, None)
    verdict = Verdict(Kind.NEAR, URL, URL, similarity, 0.7, 0.9)
    filters = make_environment().filters
    assert str(record.to_dict()["similarity"]).startswith("0.799")
    assert str(format_similarity(similarity)).startswith("0.799")
    assert "similarity 0.799 (0.700 to 0.900)" in describe_verdict(verdict, Kind.NEAR)
    assert filters["similar"](similarity) == "79.9\N{NO-BREAK SPACE}%"
    assert filters["threshold"](0.80125) == "80.125\N{NO-BREAK SPACE}%"
    assert (format_similarity(0.8), filters["similar"](0.8)) == (
        "0.8000",
        "80.0\N{NO-BREAK SPACE}%",
    )
