"""Differences of two texts, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..wording import shorten_word
from .output import is_terminal, make_printable, make_terminal, print_table

if TYPE_CHECKING:
    from ..dedup.analysis.differences import WordChange

_CHANGES = 20  # shown in a terminal; a pipe and JSON get all
_WORDS = 24  # of one change, shown in a terminal


def print_changes(changes: list[WordChange] | None) -> None:
    """Print changes: in a terminal with their context, in a pipe as a table."""
    if changes is None:
        print("The words differ in very many places.")
        return
    if not is_terminal():
        rows = [[" ".join(words) for words in change] for change in changes]
        if rows:
            print_table("", ["before", "removed", "added", "after"], rows)
        return
    from rich.text import Text

    console = make_terminal(highlight=False)
    for change in changes[:_CHANGES]:
        parts = [Text(_join_words(["…", *change.before]))]
        if change.removed:
            parts.append(Text(f"[-{_format_words(change.removed)}-]", "red"))
        if change.added:
            parts.append(Text(f"{{+{_format_words(change.added)}+}}", "green"))
        parts.append(Text(_join_words([*change.after, "…"])))
        console.print(Text(" ").join(parts))
    if len(changes) > _CHANGES:
        console.print(f"{len(changes) - _CHANGES} more in --json")


def _format_words(words: Sequence[str]) -> str:
    if len(words) <= _WORDS:
        return _join_words(words)
    half = _WORDS // 2
    left_out = f"… {len(words) - _WORDS} more words …"
    return _join_words([*words[:half], left_out, *words[-half:]])


def _join_words(words: Sequence[str]) -> str:
    return make_printable(" ".join(map(shorten_word, words)))


def change_dicts(changes: list[WordChange] | None) -> list[dict[str, str]] | None:
    """Changes as plain values; None if the texts differ in too many places."""
    if changes is None:
        return None
    return [{name: " ".join(words) for name, words in one._asdict().items()} for one in changes]
