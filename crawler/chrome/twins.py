"""What is asked of each page: compiled, or where that cannot be had, its twin in Python.

`_pairs.pyx` is the compiled twin of `pairs.py`, and so on. Both find the same, which tests compare:
a change to one is a change to both. Here it is chosen between them, but for the words of
:mod:`.vocabulary`, which the twins need themselves.
"""

from __future__ import annotations

try:
    from ._anchors import anchors
    from ._bloom import look_up
    from ._choice import choose, inside, settle
    from ._counting import count, utf8_errors
    from ._features import describe, lengths
    from ._forest import likelihoods
    from ._outside import outside, seen_since
    from ._pairs import count_pairs, lesson, pair_hashes, templated
    from ._reader import walk
    from ._reasons import reasons

    COMPILED = True
except ImportError:  # then pages take several times as long
    from .anchors import anchors
    from .bloom import look_up
    from .choice import choose, inside, settle
    from .counting import count, utf8_errors
    from .features import describe, lengths
    from .forest import likelihoods
    from .outside import outside, seen_since
    from .pairs import count_pairs, lesson, pair_hashes, templated
    from .reader import walk
    from .reasons import reasons

    COMPILED = False

__all__ = [
    "COMPILED",
    "anchors",
    "choose",
    "count",
    "count_pairs",
    "describe",
    "inside",
    "lengths",
    "lesson",
    "likelihoods",
    "look_up",
    "outside",
    "pair_hashes",
    "reasons",
    "seen_since",
    "settle",
    "templated",
    "utf8_errors",
    "walk",
]
