"""Shingles: every run of k words (or characters) of a text, each as one 64-bit number."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from .text import Normaliser, single_spaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ShingleArray", "Shingler", "shingle_hashes", "sorted_unique"]

ShingleArray: TypeAlias = NDArray[np.uint64]

_SPACE: Final = 0x20
# A word is read eight bytes at a time, each read one numpy operation over all words that long.
# Longer than this, reading it alone costs less; few real words are.
_LONGEST_WORD: Final = 64
# Small texts share a batch of so many bytes and texts, whose arrays fit a processor's caches. A
# large text goes through in pieces of so many bytes, so that memory grows with its shingles only.
_BATCH: Final = 128_000
_BATCH_TEXTS: Final = 128
_PIECE: Final = 1 << 20

_BYTES_KEPT: Final = np.array([(1 << 8 * kept) - 1 for kept in range(9)], np.uint64)

# Odd multipliers: the first two from splitmix64 (Steele, Lea, Flood 2014), the others are the
# first 64 bits of the fractional parts of square roots of primes, made 3 modulo 4.
_MIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2: Final = np.uint64(0x94D049BB133111EB)
_JOIN: Final = tuple(
    np.uint64(value | 3)
    for value in (
        0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
        0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
    )
)  # fmt: skip
_32: Final = np.uint64(32)
_29: Final = np.uint64(29)


@dataclass(frozen=True, slots=True)
class Shingler:
    """Turns texts into sets of shingle hashes.

    Parameters
    ----------
    unit
        ``"word"``: runs of *size* words; ``"char"``: runs of *size* characters of the normalised
        text, spaces between words included.
    size
        Words or characters in a shingle, at least 1.
    step
        Words or characters from the start of one shingle to the start of the next, at least 1.
    repeats
        Count a shingle as often as it occurs: its n-th occurrence is an element of its own, so that
        set operations compare bags (option A of Broder, "On the resemblance and containment of
        documents", 1997, section 2). Otherwise a text is the set of its shingles.
    normaliser
        How the text is cut into words.
    seed
        Chooses the hash function, 0 to 2**64 - 1. Whoever does not know it cannot craft two
        shingles with one hash. Arrays compare only under the same seed.

    Raises
    ------
    ValueError
        *unit*, *size*, *step* or *seed* is out of range.
    """

    unit: str = "word"
    size: int = 5
    step: int = 1
    repeats: bool = False
    normaliser: Normaliser = field(default_factory=Normaliser)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.unit not in ("word", "char"):
            raise ValueError(f"unit must be 'word' or 'char', not {self.unit!r}")
        if self.size < 1:
            raise ValueError(f"size must be at least 1, not {self.size}")
        if self.step < 1:
            raise ValueError(f"step must be at least 1, not {self.step}")
        if not 0 <= self.seed < 1 << 64:
            raise ValueError(f"seed must be from 0 to 2**64 - 1, not {self.seed}")

    def __call__(self, text: str) -> ShingleArray:
        """The shingles of *text*: sorted, each once; uint64 of shape (number of shingles,)."""
        return sorted_unique(self.in_order(text))

    def in_order(self, text: str) -> ShingleArray:
        """The shingles of *text* as they stand in it, repeated where the text repeats itself.

        With *repeats*, occurrences after the first have hashes of their own.
        """
        return self.of_encoded(self._encode(text))

    def of_encoded(self, encoded: bytes) -> ShingleArray:
        """What :meth:`in_order` returns, for words that :meth:`Normaliser.encode` has encoded.

        Characters are counted with all spaces; pass ``single_spaced(encoded)`` for them.
        """
        found = []
        tail = np.empty(0, np.uint64)
        position = 0  # of the tail's first token in the text
        for tokens in self._tokens_of(encoded):
            run = np.concatenate((tail, tokens)) if tail.size else tokens
            if run.size >= self.size:
                found.append(_windows(run, self.size)[-position % self.step :: self.step])
            tail = run[max(0, run.size - self.size + 1) :]
            position += run.size - tail.size
        if tail.size and not found:
            found.append(_windows(tail, tail.size))  # the whole text is the one shingle
        hashes = _mix(np.concatenate(found)) if found else np.empty(0, np.uint64)
        return _numbered(hashes) if self.repeats else hashes

    def batches(self, texts: Iterable[str]) -> Iterator[tuple[ShingleArray, NDArray[np.intp]]]:
        """The shingles of many texts, in fewer and larger numpy operations.

        Yields
        ------
        hashes, offsets
            Shingles of consecutive texts, in order and with repetitions, as :meth:`in_order` has
            them: those of the i-th text of the batch are ``hashes[offsets[i] : offsets[i + 1]]``.
        """
        batch: list[bytes] = []
        size = 0
        for text in texts:
            encoded = self._encode(text)
            alone = self.repeats or len(encoded) > _BATCH
            full = len(batch) == _BATCH_TEXTS or size + len(encoded) > _BATCH
            if batch and (alone or full):
                yield self._batch(batch)
                batch, size = [], 0
            if alone:
                hashes = self.of_encoded(encoded)
                yield hashes, np.array([0, hashes.size])
            else:
                batch.append(encoded)
                size += len(encoded)
        if batch:
            yield self._batch(batch)

    def _encode(self, text: str) -> bytes:
        encoded = self.normaliser.encode(text)
        return single_spaced(encoded) if self.unit == "char" else encoded

    def _tokens_of(self, encoded: bytes) -> Iterator[ShingleArray]:
        """Hashes of the words or characters of one text, piece by piece."""
        if self.unit == "char":
            text = encoded.decode()
            for start in range(0, len(text), _PIECE):
                yield self._characters(text[start : start + _PIECE])
            return
        start = 0
        while start < len(encoded):
            end = encoded.find(b" ", start + _PIECE)
            end = len(encoded) if end < 0 else end
            yield self._words(encoded[start:end])[0]
            start = end

    def _batch(self, encoded: list[bytes]) -> tuple[ShingleArray, NDArray[np.intp]]:
        """The shingles of many texts, and where each text's begin."""
        if self.unit == "word":
            tokens, starts = self._words(b" ".join(encoded))
            places = accumulate((len(one) + 1 for one in encoded), initial=0)
            offsets = np.searchsorted(starts, np.fromiter(places, np.intp, len(encoded) + 1))
        else:
            texts = [one.decode() for one in encoded]
            tokens = self._characters("".join(texts))
            offsets = np.fromiter(accumulate(map(len, texts), initial=0), np.intp, len(texts) + 1)
        size, step = self.size, self.step
        counts = np.diff(offsets)
        begins, ends = offsets[:-1][counts > 0], offsets[1:][counts > 0]
        hashes = np.empty(tokens.size, np.uint64)
        if tokens.size >= size:
            hashes[: tokens.size - size + 1] = _windows(tokens, size)
        kept = np.ones(tokens.size, np.bool_)
        for back in range(1, size):  # shingles that would run into the next text
            kept[np.maximum(ends - back, begins)] = False
        if step > 1:
            kept &= (np.arange(tokens.size) - np.repeat(begins, ends - begins)) % step == 0
        for count in set(counts[(counts > 0) & (counts < size)].tolist()):
            short = offsets[:-1][counts == count]
            hashes[short] = _windows(tokens[short[:, None] + np.arange(count)], count)[:, 0]
            kept[short] = True
        shingles = np.maximum(counts - size + 1, counts > 0)
        first = np.concatenate(([0], np.cumsum(-(-shingles // step))))
        return _mix(hashes[kept]), first

    def _words(self, encoded: bytes) -> tuple[ShingleArray, NDArray[np.intp]]:
        """Hashes of the words of *encoded*, and where in it each word begins."""
        padded = b" " + encoded + b" " * 8
        space = np.frombuffer(padded, np.uint8) == _SPACE
        edges = np.flatnonzero(space[1:] != space[:-1])
        starts, lengths = edges[::2] + 1, edges[1::2] - edges[::2]
        # Eight bytes from every place in the text on, as one number, without a copy.
        eight = np.ndarray((len(padded) - 7,), "<u8", padded, 0, (1,))
        hashes = _stir((eight[starts] & _BYTES_KEPT.take(np.minimum(lengths, 8))) ^ self._salt)
        longer = np.flatnonzero(lengths > 8)
        read = 8
        while longer.size and read < _LONGEST_WORD:
            left = lengths[longer] - read
            more = eight[starts[longer] + read] & _BYTES_KEPT.take(np.minimum(left, 8))
            hashes[longer] = _stir(hashes[longer] ^ more)
            longer = longer[left > 8]
            read += 8
        for place in longer.tolist():
            word = padded[starts[place] : starts[place] + lengths[place]]
            hashes[place] = xxhash.xxh3_64_intdigest(word, self.seed)
        return hashes, starts - 1

    def _characters(self, text: str) -> ShingleArray:
        """Hashes of the characters of *text*."""
        points = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint64)
        return _stir(points ^ self._salt)

    @property
    def _salt(self) -> np.uint64:
        return np.uint64(xxhash.xxh3_64_intdigest(b"shingle", self.seed))


def shingle_hashes(
    text: str,
    *,
    unit: str = "word",
    size: int = 5,
    step: int = 1,
    repeats: bool = False,
    normaliser: Normaliser | None = None,
    seed: int = 0,
) -> ShingleArray:
    """The set of shingles of *text*, hashed to 64 bits.

    Parameters are those of :class:`Shingler`.

    Returns
    -------
    numpy.ndarray
        uint64 of shape (number of different shingles,), sorted. A text with fewer than *size* words
        is one shingle, a text without words has none.

    Examples
    --------
    >>> rose = "a rose is a rose is a rose"
    >>> len(shingle_hashes(rose, size=4)), len(shingle_hashes(rose, size=4, repeats=True))
    (3, 5)
    >>> len(shingle_hashes("abcdabd", unit="char", size=2))
    5
    """
    return Shingler(unit, size, step, repeats, normaliser or Normaliser(), seed)(text)


def _windows(tokens: ShingleArray, size: int) -> ShingleArray:
    """One number for every *size* consecutive tokens along the last axis.

    Runs of doubling length are joined as ``left * multiplier + right`` with another multiplier for
    each length, so that texts that defeat one polynomial modulo 2**64 (Thue-Morse words) do not
    collide here, and 2 * log2(size) operations do.
    """
    block, width = tokens, 1
    joined, covered = tokens[..., :0], 0
    level = 0
    while True:
        if size & width:
            if covered:
                length = tokens.shape[-1] - covered - width + 1
                joined = (
                    joined[..., :length] * _JOIN[level % len(_JOIN)]
                    + block[..., covered : covered + length]
                )
                level += 1
            else:
                joined = block
            covered += width
        if covered == size:
            return joined
        block = block[..., :-width] * _JOIN[level % len(_JOIN)] + block[..., width:]
        width *= 2
        level += 1


def _stir(values: ShingleArray) -> ShingleArray:
    """Mix a word's bytes so that sums of words collide no more than random numbers. In place."""
    values *= _MIX_1
    values ^= values >> _32
    values *= _MIX_2
    return values


def _mix(values: ShingleArray) -> ShingleArray:
    """Spread every bit over all 64 (a finaliser in the manner of splitmix64). In place."""
    values ^= values >> _32
    values *= _MIX_1
    values ^= values >> _29
    values *= _MIX_2
    values ^= values >> _32
    return values


def sorted_unique(values: ShingleArray) -> ShingleArray:
    """*values* in order, each once. Sorts in place; numpy.unique takes ten times as long."""
    values.sort()
    new = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return values if new.all() else values[new]


def _numbered(values: ShingleArray) -> ShingleArray:
    """Give every occurrence of a value after its first a value of its own."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    new = np.ones(ranked.size, np.bool_)
    np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
    place = np.arange(ranked.size)
    occurrence = (place - np.maximum.accumulate(np.where(new, place, 0))).astype(np.uint64)
    again = occurrence > 0
    numbered = values.copy()
    numbered[order[again]] = _mix(ranked[again] + occurrence[again] * _JOIN[0])
    return numbered
