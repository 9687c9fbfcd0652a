"""Compares two texts by every measure that this package has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from ..candidates import Rule
from ..fingerprint import make_corrector, make_sketcher, verification_sketches
from ..sketches import Sketcher
from ..sketches.hashing import ShingleArray
from ..sketches.odd import compare_odd
from ..sketches.shingles import Shingler
from ..sketches.similarity import Estimate, containment, jaccard
from ..text.normaliser import single_spaced
from ..verdict import Kind
from .differences import Overlap, WordChange, line_overlap, word_changes
from .tuning import floor_of_odd, found_share

if TYPE_CHECKING:
    from ..config import DedupConfig

_TRIALS: Final = 50


@dataclass(frozen=True, slots=True)
class Shingle:
    """A shingle: its 64-bit hash, and its words or characters in the normalised text."""

    hash: int
    text: str


def smallest_shingles(
    text: str, shingler: Shingler, count: int | None = None, *, repeats: bool = False
) -> list[Shingle]:
    """The shingles of *text* with the smallest hashes, smallest first.

    Parameters
    ----------
    count
        How many; None: all.
    repeats
        List a shingle as often as it occurs.

    Examples
    --------
    >>> [one.text for one in smallest_shingles("abcdabd", Shingler("char", 2), repeats=True)]
    ['cd', 'ab', 'ab', 'bd', 'da', 'bc']
    >>> len(smallest_shingles("abcdabd", Shingler("char", 2), 3))
    3
    """
    hashes = shingler.in_order(text)
    order = np.argsort(hashes, kind="stable")
    if not repeats:
        ranked = hashes[order]
        order = order[np.concatenate((ranked[:1] == ranked[:1], ranked[1:] != ranked[:-1]))]
    encoded = shingler.normaliser.encode(text)
    joint, units = ("", single_spaced(encoded).decode()) if shingler.unit == "char" else (" ", "")
    parts = units or encoded.decode().split()
    places = [(int(hashes[at]), int(at) * shingler.step) for at in order[:count]]
    return [Shingle(value, joint.join(parts[at : at + shingler.size])) for value, at in places]


def smallest_overlap(a: ShingleArray, b: ShingleArray, count: int) -> Overlap:
    """The overlap of the *count* smallest shingles of two texts.

    *a* and *b* are uint64, sorted, each shingle once. This is the measure of the lecture's script,
    where the union counts common shingles twice. :class:`~.sketches.SmallestN` estimates the
    Jaccard coefficient from the same numbers.

    >>> ten = np.arange(10, dtype=np.uint64)
    >>> smallest_overlap(ten, ten + np.uint64(3), 10)
    Overlap(union=20, intersection=14)
    """
    few_a, few_b = a[:count], b[:count]
    return Overlap(few_a.size + few_b.size, 2 * np.intersect1d(few_a, few_b).size)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How similar text *b* is to text *a*.

    Attributes
    ----------
    words, shingles
        Numbers of words and of different shingles of the two.
    lines
        Lines in common as ``diff`` finds them; None if there are too many to compare.
    smallest
        The overlap of the shingles with the smallest hashes.
    jaccard, a_in_b, b_in_a
        Resemblance, and containment both ways, of all shingles.
    hybrid
        Resemblance of a as written, and b corrected where it does not match a, as in the DSound
        paper; None unless texts are corrected by a phonetic code.
    sketch, odd
        The estimates by the sketch of the configured method, and by the odd sketch (for
        ``two-stage``, its simhash). An index decides by ``odd``; None if the two texts differ too
        much in length to be compared. With ``modulo`` and its score of containment, an index
        decides by ``sketch``.
    found
        The probability that b is a candidate in an index that has a.
    verdict
        The verdict on b in such an index: exact, near, unique or short.
    changes
        The words that differ; None if there are very many.
    whole
        Whether each text is complete, or the beginning of a longer one. Words that may follow the
        end of a beginning do not count as ``changes``; all other values are of the texts as given.
    """

    words: tuple[int, int]
    shingles: tuple[int, int]
    lines: Overlap | None
    smallest: Overlap
    jaccard: float
    a_in_b: float
    b_in_a: float
    hybrid: float | None
    sketch: Estimate
    odd: Estimate | None
    odd_floor: float
    found: float
    verdict: Kind
    changes: list[WordChange] | None
    whole: tuple[bool, bool]


def compare_texts(
    a: str,
    b: str,
    config: DedupConfig,
    *,
    smallest: int = 10,
    confidence: float = 0.95,
    whole: tuple[bool, bool] = (True, True),
) -> Comparison:
    """Compare two texts with the shingles, sketches, bands and threshold of *config*.

    The hash functions have its seed, or seed 1. An index that drew its own seed has other
    estimates, neither better nor worse.

    Parameters
    ----------
    smallest
        How many shingles of each text :func:`smallest_overlap` compares.
    confidence
        Level of the intervals: with this probability they hold the true resemblance.
    whole
        Whether each text is complete; otherwise it is the beginning of a longer one, which may
        end inside a word.
    """
    sketcher = make_sketcher(config, 1 if config.seed is None else config.seed)
    lines = line_overlap(a, b)
    hybrid = _compare_corrected(a, b, config, sketcher)
    if correct := make_corrector(config):
        a, b = correct(a), correct(b)
    normaliser = sketcher.shingler.normaliser
    words_a, words_b = normaliser.words(a), normaliser.words(b)
    shingles_a, shingles_b = sketcher.shingles(a), sketcher.shingles(b)
    exactly = jaccard(shingles_a, shingles_b)
    bits, rule = config.sketch_bits, Rule.of(sketcher.method)
    threshold = max(config.threshold, rule.least_similarity)
    sketch_b, sketch_a = map(sketcher.sketch_shingles, (shingles_b, shingles_a))
    ours, theirs = (
        verification_sketches(sketcher.method, shingles, sketch, bits, config.threshold)
        for shingles, sketch in ((shingles_b, sketch_b), (shingles_a, sketch_a))
    )
    differ = not np.array_equal(sketcher.keys(sketch_b), sketcher.keys(sketch_a))
    odd = compare_odd(theirs[0], ours, bits=bits, differ=differ, confidence=confidence)
    sketched = sketcher.estimate(sketch_b, sketch_a, confidence=confidence)
    decides = odd
    if rule.by_keys:
        keys = (
            np.unique(sketcher.keys(one)).astype(">u4").tobytes() for one in (sketch_b, sketch_a)
        )
        decides = sketched if Rule.comparable(*keys) else None
    fewest = sketcher.method.fewest_keys
    is_short_a, is_short_b = (
        _is_short(words, config) or sketcher.keys(sketch).size < fewest  # too few were sampled
        for words, sketch in ((words_a, sketch_a), (words_b, sketch_b))
    )
    if words_b and words_a == words_b:
        verdict, found = Kind.EXACT, 1.0
    elif is_short_a or is_short_b:
        verdict, found = Kind.SHORT if is_short_b else Kind.UNIQUE, 0.0
    else:
        is_near = decides is not None and decides.similarity >= threshold
        verdict = Kind.NEAR if is_near else Kind.UNIQUE
        found = _candidate_probability(config, shingles_a, shingles_b, exactly)
    return Comparison(
        (len(words_a), len(words_b)),
        (shingles_a.size, shingles_b.size),
        lines,
        smallest_overlap(shingles_a, shingles_b, smallest),
        exactly,
        containment(shingles_a, shingles_b),
        containment(shingles_b, shingles_a),
        hybrid,
        sketched,
        odd,
        floor_of_odd(theirs[0].members, bits),
        found,
        verdict,
        word_changes(*map(_known_words, (words_a, words_b), whole), whole=whole),
        whole,
    )


def _is_short(words: list[str], config: DedupConfig) -> bool:
    """Whether a text is shorter than a shingle, and therefore in no band."""
    units = len(words) if config.shingle_unit == "word" else len(" ".join(words))
    return units < config.shingle_size


def _known_words(words: list[str], whole: bool) -> list[str]:
    return words if whole else words[:-1]


def _compare_corrected(a: str, b: str, config: DedupConfig, sketcher: Sketcher) -> float | None:
    if config.correct is None:
        return None
    from ..spelling.correction import correct_towards, parse_setting
    from ..spelling.phonetics import CODES

    name, source = parse_setting(config.correct)
    if name not in CODES:
        return None
    size = config.shingle_size if config.shingle_unit == "word" else 3
    corrected = correct_towards(b, a, name=name, size=size, source=source)
    return jaccard(sketcher.shingles(a), sketcher.shingles(corrected))


def _candidate_probability(
    config: DedupConfig, a: ShingleArray, b: ShingleArray, exactly: float
) -> float:
    """The probability that b is a candidate, over the choice of hash functions.

    It follows from the bands; for methods without bands it is measured with several seeds.
    """
    share = found_share(config, exactly)
    if share is not None:
        return share
    found = 0
    for seed in range(_TRIALS):
        method = config.make_method(seed)
        ours, theirs = (method.keys(method.sketch(shingles)).tobytes() for shingles in (b, a))
        found += Rule.of(method).matches(ours, theirs) > 0
    return found / _TRIALS
