"""Tables in terminals: what a column holds decides where its lines are broken."""

from __future__ import annotations

import pytest

from crawler.commands.output import print_table

URL = "http://localhost:8901/archive/2026/the-keeper-of-the-lighthouse-and-the-wreck"
COLUMNS = ["cluster", "pages", "similarity", "first seen", "last seen", "page"]
ROWS = [[7, 3, None, "2026-11-23", "2026-11-24", URL], [7, None, "0.9804", "–", "–", URL]]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_addresses_fold_and_numbers_and_dates_do_not(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a narrow terminal an address takes some lines, and all else stands in one."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "dumb")
    print_table("", COLUMNS, ROWS)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= width
    lines = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line] for line in lines]
    assert cells[0][:5] == ["7", "3", "–", "2026-11-23", "2026-11-24"]
    assert ["7", "–", "0.9804", "–", "–"] in [line[:5] for line in cells]
    addresses = [line[5] for line in cells]
    assert "".join(addresses) == 2 * URL
    assert len(addresses[0]) >= 11
    assert all(word in printed for name in COLUMNS for word in name.split())


def test_a_terminal_too_narrow_for_that_breaks_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is cut off, however narrow it is."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "dumb")
    print_table("", COLUMNS, ROWS)
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert max(map(len, lines)) <= 30
    assert "".join(line.split("│")[6].strip() for line in lines) == 2 * URL
    assert "2026-11-23" in "".join(line.split("│")[4].strip() for line in lines)
