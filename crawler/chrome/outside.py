"""What is seen of pages, or parts of pages, that are not parsed, and the text outside of tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blocks import squeeze

_COMMENT: Final = b"<!--"
_ENDS: Final = {  # in small letters
    b"<script": re.compile(b"</script"),
    b"<style": re.compile(b"</style"),
    b"<textarea": re.compile(b"</textarea"),
    _COMMENT: re.compile(b"(?<=<!--)-?>|--!?>"),  # "<!-->" is a whole comment, "<!--!>" is none
}
_START: Final = re.compile(b"|".join(_ENDS))
MOST_UNSEEN: Final = 20_000  # scripts, styles, comments, textareas; later ones are taken for text
PIECE: Final = 1 << 20  # bytes that are looked at together
_LESS, _GREATER, _SPACE, _SLASH, _BANG, _QUESTION = (np.uint8(char) for char in b"<> /!?")
_LOWER, _A, _LETTERS = np.uint8(0x20), np.uint8(ord("a")), np.uint8(26)


def seen_since(data: bytes, since: int) -> bytes:
    """Return what stands outside of scripts, styles, comments and textareas, from `since` on.

    Each of these is a space; unclosed ones go on to the end.

    >>> seen_since(b"<p>tea<!-- leaves --><script>a</script>s", 3)
    b'tea  </script>s'
    """
    return b" ".join(_seen_since(data, since))


def _seen_since(data: bytes, since: int) -> Iterator[bytes]:
    lower = data.lower()
    at = unseen = 0
    while unseen < MOST_UNSEEN and (start := _START.search(lower, at)) is not None:
        yield data[max(at, since) : start.start()]
        end = _ENDS[start[0]].search(lower, start.end())
        if end is None:
            return
        unseen += end.start() > since
        at = end.end() if start[0] == _COMMENT else end.start()
    yield data[max(at, since) :]


def outside(data: bytes) -> str:
    """Return the text outside of tags, squeezed; a tag parts words.

    >>> outside(b"<p>1 < 2, <b>tea</b>time")
    '1 < 2, tea time'
    """
    return squeeze(b"".join(_outside(data)).decode("utf-8", "replace"))


def _outside(data: bytes) -> Iterator[bytes]:
    page = np.frombuffer(data, np.uint8)
    inside = False
    for at in range(0, len(page), PIECE):
        chars, behind = page[at : at + PIECE], page[at + 1 : at + 1 + PIECE]
        opens = chars == _LESS
        opens[: len(behind)] &= _begin_tag(behind)  # "1 < 2" opens none
        opens[len(behind) :] = False
        marks = np.flatnonzero(opens | (chars == _GREATER))
        states = np.concatenate(([inside], opens[marks]))
        text = chars.copy()
        text[marks[states[:-1] & ~states[1:]]] = _SPACE  # the end of a tag
        lengths = np.diff(np.concatenate(([0], marks, [len(chars)])))
        yield np.compress(~np.repeat(states, lengths), text).tobytes()
        inside = bool(states[-1])
    if inside:
        yield b" "


def _begin_tag(chars: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether each can stand behind the sign that opens a tag."""
    letters = (chars | _LOWER) - _A < _LETTERS
    found: NDArray[np.bool_] = letters | (chars == _SLASH) | (chars == _BANG) | (chars == _QUESTION)
    return found
