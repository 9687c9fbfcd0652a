"""Numbers with the words that they count."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun, with what else of the words depends on it; *many*: another than -s.

    >>> counted(1, "page"), counted(2000, "page"), counted(0, "story", "stories")
    ('1 page', '2,000 pages', '0 stories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
