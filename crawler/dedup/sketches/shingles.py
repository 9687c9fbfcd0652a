"""Shingles: every run of k words (or characters) of a text, each as one 64-bit number."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from ..text.normaliser import Normaliser, single_spaced
from .hashing import (
    ShingleArray,
    character_hashes,
    hash_runs,
    mix_bits,
    number_repeats,
    sorted_unique,
    word_hashes,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

# Small texts share a batch of at most so many bytes and texts, whose arrays fit a processor's
# caches. A large text is hashed in pieces of so many bytes, so that memory only grows with its
# shingles.
_BATCH: Final = 128_000
_BATCH_TEXTS: Final = 128
_PIECE: Final = 1 << 20


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
        Chooses the hash function, 0 to 2**64 - 1. Without the seed, two shingles with one hash
        cannot be constructed. Arrays can only be compared under the same seed.

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
        """The shingles of *text* in their order, with repetitions.

        With *repeats*, occurrences after the first have hashes of their own.
        """
        return self.of_encoded(self._encode_text(text))

    def of_encoded(self, encoded: bytes) -> ShingleArray:
        """Like :meth:`in_order`, for words that :meth:`Normaliser.encode` has encoded.

        For shingles of characters, pass ``single_spaced(encoded)``, because all spaces count.
        """
        found = []
        tail = np.empty(0, np.uint64)
        position = 0  # of the tail's first token in the text
        for tokens in self._tokens_of(encoded):
            run = np.concatenate((tail, tokens)) if tail.size else tokens
            if run.size >= self.size:
                found.append(hash_runs(run, self.size)[-position % self.step :: self.step])
            tail = run[max(0, run.size - self.size + 1) :]
            position += run.size - tail.size
        if tail.size and not found:
            found.append(hash_runs(tail, tail.size))  # the whole text is one shingle
        hashes = mix_bits(np.concatenate(found)) if found else np.empty(0, np.uint64)
        return number_repeats(hashes) if self.repeats else hashes

    def hash_batches(self, texts: Iterable[str]) -> Iterator[tuple[ShingleArray, NDArray[np.intp]]]:
        """The shingles of many texts, in fewer and larger numpy operations.

        Yields
        ------
        hashes, offsets
            Shingles of consecutive texts, in order and with repetitions, as :meth:`in_order`
            returns them. The i-th text of the batch has ``hashes[offsets[i] : offsets[i + 1]]``.
        """
        return self.batches_of_encoded(map(self._encode_text, texts))

    def batches_of_encoded(
        self, texts: Iterable[bytes]
    ) -> Iterator[tuple[ShingleArray, NDArray[np.intp]]]:
        """Like :meth:`hash_batches`, for texts encoded as for :meth:`of_encoded`."""
        batch: list[bytes] = []
        size = 0
        for encoded in texts:
            alone = self.repeats or len(encoded) > _BATCH
            full = len(batch) == _BATCH_TEXTS or size + len(encoded) > _BATCH
            if batch and (alone or full):
                yield self._hash_batch(batch)
                batch, size = [], 0
            if alone:
                hashes = self.of_encoded(encoded)
                yield hashes, np.array([0, hashes.size])
            else:
                batch.append(encoded)
                size += len(encoded)
        if batch:
            yield self._hash_batch(batch)

    def _encode_text(self, text: str) -> bytes:
        encoded = self.normaliser.encode(text)
        return single_spaced(encoded) if self.unit == "char" else encoded

    def _tokens_of(self, encoded: bytes) -> Iterator[ShingleArray]:
        """Hashes of the words or characters of one text, piece by piece."""
        if self.unit == "char":
            text = encoded.decode()
            for start in range(0, len(text), _PIECE):
                yield character_hashes(text[start : start + _PIECE], self.seed)
            return
        start = 0
        while start < len(encoded):
            end = encoded.find(b" ", start + _PIECE)
            end = len(encoded) if end < 0 else end
            yield word_hashes(encoded[start:end], self.seed)[0]
            start = end

    def _hash_batch(self, encoded: list[bytes]) -> tuple[ShingleArray, NDArray[np.intp]]:
        """The shingles of many texts, and the offsets at which each text's shingles begin."""
        if self.unit == "word":
            tokens, starts = word_hashes(b" ".join(encoded), self.seed)
            places = accumulate((len(one) + 1 for one in encoded), initial=0)
            offsets = np.searchsorted(starts, np.fromiter(places, np.intp, len(encoded) + 1))
        else:
            texts = [one.decode() for one in encoded]
            tokens = character_hashes("".join(texts), self.seed)
            offsets = np.fromiter(accumulate(map(len, texts), initial=0), np.intp, len(texts) + 1)
        size, step = self.size, self.step
        counts = np.diff(offsets)
        begins, ends = offsets[:-1][counts > 0], offsets[1:][counts > 0]
        hashes = np.empty(tokens.size, np.uint64)
        if tokens.size >= size:
            hashes[: tokens.size - size + 1] = hash_runs(tokens, size)
        kept = np.ones(tokens.size, np.bool_)
        for back in range(1, size):  # no shingle runs into the next text
            kept[np.maximum(ends - back, begins)] = False
        if step > 1:
            kept &= (np.arange(tokens.size) - np.repeat(begins, ends - begins)) % step == 0
        for count in set(counts[(counts > 0) & (counts < size)].tolist()):
            short = offsets[:-1][counts == count]
            hashes[short] = hash_runs(tokens[short[:, None] + np.arange(count)], count)[:, 0]
            kept[short] = True
        shingles = np.maximum(counts - size + 1, counts > 0)
        first = np.concatenate(([0], np.cumsum(-(-shingles // step))))
        return mix_bits(hashes[kept]), first


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

    Parameters
    ----------
    text
        Any text. Without *normaliser*, case and all punctuation are ignored, as with the setting
        ``DEDUP_IGNORE = "case,punctuation"``; an index ignores less punctuation by default.
    unit, size, step, repeats, normaliser, seed
        As in :class:`Shingler`: by default runs of five words, each counted once.

    Returns
    -------
    numpy.ndarray
        uint64 of shape (number of different shingles,), sorted. A text with fewer than *size* words
        is one shingle, a text without words has none.

    Raises
    ------
    ValueError
        *unit*, *size*, *step* or *seed* is out of range.

    Source: Broder, Glassman, Manasse, Zweig, "Syntactic clustering of the Web", 1997, section 2.

    Examples
    --------
    >>> rose = "a rose is a rose is a rose"
    >>> len(shingle_hashes(rose, size=4)), len(shingle_hashes(rose, size=4, repeats=True))
    (3, 5)
    >>> len(shingle_hashes("abcdabd", unit="char", size=2))
    5
    """
    return Shingler(unit, size, step, repeats, normaliser or Normaliser(), seed)(text)
