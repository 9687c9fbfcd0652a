"""How often the values in a URL were found before, in links of a site."""

from __future__ import annotations

from array import array
from typing import Final

import xxhash

from .parts import PREFIX, UrlParts

_COUNTS: Final = 1 << 14  # values whose hashes meet share a count
_MOST: Final = (1 << 16) - 1
_STEPS: Final = 16  # a queue on disk has a file for each priority


class FamiliarValues:
    """Counts the values of features that links have, within 32 KB a site.

    Of URLs whose name was found before, those of rare kinds with rare values come first. Otherwise
    links that are on each page would be fetched again and again, until a limit ends the crawl, and
    others never.
    """

    def __init__(self) -> None:
        self._counts = array("H", bytes(2 * _COUNTS))

    def note_found(self, parts: UrlParts) -> int:
        """Note a URL that was found; returns how familiar its values were, from 0 to 15."""
        counts, bits, kind = self._counts, 0, "/".join(parts.kind)
        for name, value in (("", ""), *parts.features):
            if name == PREFIX:  # nested links have new folders each time
                continue
            text = f"{kind} {name}={value}"
            place = xxhash.xxh32_intdigest(text.encode("utf-8", "replace")) % _COUNTS
            bits += counts[place].bit_length()
            counts[place] = min(counts[place] + 1, _MOST)
        return min(bits // 2, _STEPS - 1)
