"""Words as people are shown them: numbers with what they count, and words of a bearable length."""

from __future__ import annotations

from typing import Final

LONG: Final = 100  # characters of a word, beyond which nobody reads it


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun, with what else of the words depends on it; *many*: another than -s.

    >>> counted(1, "page"), counted(2000, "page"), counted(0, "story", "stories")
    ('1 page', '2,000 pages', '0 stories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def left_unchecked(pages: int, gone: int) -> str:
    """What an index gave no answer for: pages, and addresses that are gone.

    >>> left_unchecked(2, 1), left_unchecked(0, 3)
    ('2 pages passed unchecked and 1 address was found gone', '3 addresses were found gone')
    """
    said = [f"{counted(pages, 'page')} passed unchecked"] if pages or not gone else []
    if gone:
        said.append(counted(gone, "address was", "addresses were") + " found gone")
    return " and ".join(said)


def size_in_words(size: float) -> str:
    """A number of bytes in the largest unit of which it has one.

    >>> size_in_words(25184), size_in_words(999_980), size_in_words(-1.5e15)
    ('25.2 kB', '1.0 MB', '-1,500.0 TB')
    >>> size_in_words(17)
    '17 bytes'
    """
    if abs(size) < 999.5:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if abs(size) < 999.95:  # which is 1000.0 in the next smaller unit
            return f"{size:.1f} {unit}"
    return f"{size / 1000:,.1f} TB"


def shortened(word: str) -> str:
    """A word without its middle, if it is very long.

    >>> shortened("tea"), len(shortened("tea" * 1000))
    ('tea', 100)
    """
    half = LONG // 2
    return word if len(word) <= LONG else f"{word[: half - 1]}…{word[-half:]}"
