"""Numbers, similarities and URLs as people read them."""

from __future__ import annotations

import shlex
from decimal import ROUND_FLOOR, Decimal
from typing import Final

LONG: Final = 100  # characters of a word, beyond which its middle is left out


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun in the singular or plural; *many* is an irregular plural.

    >>> counted(1, "page"), counted(2000, "page"), counted(0, "story", "stories")
    ('1 page', '2,000 pages', '0 stories')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def left_unchecked(pages: int, gone: int) -> str:
    """Describe the requests that an index did not answer: pages, and URLs that are gone.

    >>> left_unchecked(2, 1), left_unchecked(0, 3)
    ('2 pages passed unchecked and 1 URL was found gone', '3 URLs were found gone')
    """
    said = [f"{counted(pages, 'page')} passed unchecked"] if pages or not gone else []
    if gone:
        said.append(counted(gone, "URL was", "URLs were") + " found gone")
    return " and ".join(said)


def round_down(similarity: float) -> float:
    """A similarity rounded down, so that none below a threshold seems to reach it.

    >>> round_down(0.79998), round_down(0.8), round_down(0.29)
    (0.7999, 0.8, 0.29)
    """
    return float(_round_to_digits(similarity, 4))


def similarity_in_words(similarity: float, digits: int = 4) -> str:
    """A similarity for display, rounded down.

    >>> similarity_in_words(0.79998), similarity_in_words(0.9, 3)
    ('0.7999', '0.900')
    """
    return str(_round_to_digits(similarity, digits))


def percent_similar(similarity: float, digits: int = 1) -> str:
    """A similarity in percent, rounded down, without the sign.

    >>> percent_similar(0.7998), percent_similar(0.8), percent_similar(1, 2)
    ('79.9', '80.0', '100.00')
    """
    return str(_round_to_digits(similarity, digits + 2).scaleb(2))


def threshold_in_percent(threshold: float, digits: int = 1) -> str:
    """A threshold in percent, without the sign, with all of its digits.

    >>> threshold_in_percent(0.8), threshold_in_percent(0.85125)
    ('80.0', '85.125')
    """
    whole = Decimal(repr(float(threshold))).scaleb(2)
    return f"{whole:.{digits}f}" if whole == round(whole, digits) else f"{whole:f}"


def _round_to_digits(similarity: float, digits: int) -> Decimal:
    # By decimal digits, because in floats 0.29 * 100 is less than 29.
    step = Decimal(1).scaleb(-digits)
    return Decimal(repr(float(similarity))).quantize(step, ROUND_FLOOR)


def size_in_words(size: float) -> str:
    """A number of bytes in the largest fitting unit.

    >>> size_in_words(25184), size_in_words(999_980), size_in_words(-1.5e15)
    ('25.2 kB', '1.0 MB', '-1,500.0 TB')
    >>> size_in_words(17)
    '17 bytes'
    """
    if abs(size) < 999.5:
        return f"{size:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        size /= 1000
        if abs(size) < 999.95:  # more would be shown as 1000.0
            return f"{size:.1f} {unit}"
    return f"{size / 1000:,.1f} TB"


def shorten_word(word: str) -> str:
    """A very long word without its middle.

    >>> shorten_word("tea"), len(shorten_word("tea" * 1000))
    ('tea', 100)
    """
    half = LONG // 2
    return word if len(word) <= LONG else f"{word[: half - 1]}…{word[-half:]}"


def shell_word(url: str) -> str | None:
    """A URL quoted as one word of a shell command; None if it is not a URL.

    >>> shell_word("http://example.com/;ls"), shell_word("https://example.com/a")
    ("'http://example.com/;ls'", 'https://example.com/a')
    >>> shell_word("--output=/etc/passwd"), shell_word("http://example.com/\\x1b[2J")
    (None, None)
    """
    is_url = url.lower().startswith(("http://", "https://")) and url.isprintable()
    return shlex.quote(url) if is_url else None
