"""Fingerprints: all that the index compares of a page, computed from its text alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import xxhash

from .scopes import make_mask, mask_bytes, mask_keys, mask_shingles
from .sketches import Method, Sketcher, TwoStage
from .sketches.anchors import SIZE, are_anchors, find_anchors, mask_anchors
from .sketches.hashing import sorted_unique
from .sketches.lsh import TABLE_KEY_MASK
from .sketches.odd import LEVELS, SIMHASH, OddSketch, odd_sketches
from .sketches.shingles import Shingler
from .text.normaliser import Normaliser, single_spaced
from .text.segmentation import make_segmenter
from .text.sign_words import find_heading_signs

if TYPE_CHECKING:
    from .config import DedupConfig
    from .sketches.hashing import ShingleArray
    from .sketches.method import SketchArray
    from .spelling.correction import Corrector
    from .text.segmentation import Segmenter


# The chance that any two of a billion different texts have equal hashes is 6 in a trillion.
EXACT_BYTES = 12
NO_OWN = bytes(4)  # `own` of a page whose own content is unknown
_KEY_BYTES = 4
_MOST_OWN = 255  # the largest count in a byte of `own`
_KEY_MASK = np.uint32(TABLE_KEY_MASK)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The parts of a page that the index compares.

    ``exact`` is the hash of the normalised words (12 bytes of xxh3-128), ``words`` their number,
    ``bands`` the keys that find candidates, 4 bytes each, and ``odd`` the sketches that verify
    them, the page's own first. Both are empty for a text too short for a shingle. ``own`` describes
    the page's own content: the hash of its heading (2 bytes, 0 without one), the number of its own
    words in fours (1), and the number of texts from which the site's template was learnt (1).
    ``anchors`` are packed as in :mod:`.sketches.anchors`; b"" without ``DEDUP_CONTAINMENT``.
    """

    exact: bytes
    words: int
    bands: bytes = b""
    odd: tuple[OddSketch, ...] = ()
    own: bytes = NO_OWN
    anchors: bytes = b""

    def in_scope(self, scope: str, seed: int, *, one_table: bool = False) -> Fingerprint:
        """The fingerprint masked with a scope under the index's seed; '' changes nothing.

        >>> page = Fingerprint(bytes(12), 9, b"".join(key.to_bytes(4) for key in (0, 5, 900)))
        >>> blue, red = (page.in_scope(name, seed=1) for name in ("blue", "red"))
        >>> blue == red, blue.in_scope("blue", seed=1) == page
        (False, True)
        """
        if not scope or not self.words:
            return self
        head = len(self.exact)
        size = len(self.odd[0].bits) if self.odd else 0
        mask = make_mask(scope, seed, head + _KEY_BYTES + size)
        exact, key, odd = mask[:head], mask[head : head + _KEY_BYTES], mask[head + _KEY_BYTES :]
        number = int.from_bytes(key)
        return replace(
            self,
            exact=mask_bytes(self.exact, exact),
            bands=mask_keys(self.bands, number, one_table=one_table),
            odd=tuple(one._replace(bits=mask_bytes(one.bits, odd)) for one in self.odd),
            anchors=mask_anchors(self.anchors, number),
        )


def make_sketcher(config: DedupConfig, seed: int) -> Sketcher:
    """The sketcher of an index with this `config` and `seed`."""
    return Sketcher(
        size=config.shingle_size,
        seed=seed,
        method=config.method,
        unit=config.shingle_unit,
        step=config.shingle_step,
        repeats=config.shingle_repeats,
        normaliser=make_normaliser(
            config, make_segmenter(config.segment) if config.segment else None
        ),
        **config.sketch_options,
    )


def make_normaliser(config: DedupConfig, segment: Segmenter | None = None) -> Normaliser:
    """The normaliser that removes the differences that `config` ignores."""
    return Normaliser(
        fold_case="case" in config.ignore,
        drop_punctuation=not config.ignore.isdisjoint({"punctuation", "typography"}),
        keep_signs="punctuation" not in config.ignore,
        drop_marks="marks" in config.ignore,
        fold_accents="accents" in config.ignore,
        fold_numbers="numbers" in config.ignore,
        drop_urls="urls" in config.ignore,
        drop_reposts="reposts" in config.ignore,
        segment=segment,
    )


def make_corrector(config: DedupConfig) -> Corrector | None:
    """The corrector of texts, if one is configured."""
    if config.correct is None:
        return None
    from .spelling.correction import load_corrector

    return load_corrector(config.correct, make_normaliser(config))


def verification_sketches(
    method: Method,
    shingles: ShingleArray,
    sketch: SketchArray,
    bits: int,
    threshold: float,
    least: float | None = None,
) -> tuple[OddSketch, ...]:
    """The sketches that verify a page's candidates: odd sketches, or the simhash of `two-stage`.

    `shingles` are sorted and distinct, and `method` made the `sketch`. `least` is the lowest
    similarity to be measured, by default the `threshold`.
    """
    if isinstance(method, TwoStage):
        return (OddSketch(SIMHASH, 0, method.simhash_part(sketch).astype("<u8").tobytes()),)
    return odd_sketches(shingles, bits, threshold, least)


class Fingerprinter:
    """Computes fingerprints with the parameters of one index and its `seed`."""

    def __init__(self, config: DedupConfig, seed: int) -> None:
        self._size = config.shingle_size
        self._threshold = config.threshold
        self._bits = config.sketch_bits
        self._seed = seed
        self._correct = make_corrector(config)
        self._sketcher = make_sketcher(config, seed)
        self._most_keys = self._sketcher.method.most_keys
        shingler = self._sketcher.shingler
        own = Shingler(size=SIZE, normaliser=shingler.normaliser, seed=seed)
        self._anchored = own if config.containment is not None else None
        self._is_anchored_alike = shingler == own

    def __call__(
        self, text: str, whole: str | None = None, *, least: float | None = None
    ) -> Fingerprint:
        """The fingerprint of a page's main text; its exact hash is that of `whole`, if given.

        `least` is the lowest similarity to be measured, by default the threshold.
        """
        page, normalised = self._read(text)
        if whole is not None and whole != text:
            page = replace(page, exact=self.exact(whole))
        if normalised is None:
            return page
        hashes = self._sketcher.shingler.of_encoded(normalised)
        anchors = self._find_anchors(normalised, hashes)
        shingles = sorted_unique(hashes)
        sketch = self._sketcher.sketch_shingles(shingles)
        return self._sketched(page, shingles, sketch, anchors, least)

    def scoped(self, page: Fingerprint, scope: str) -> Fingerprint:
        """The fingerprint of a page of a scope, see :mod:`.scopes`."""
        one_table = self._sketcher.method.tables is None
        return page.in_scope(scope, self._seed, one_table=one_table)

    def shingles(self, text: str, scope: str = "") -> ShingleArray:
        """The sorted shingle hashes of a text in a scope.

        A text that is too short for a shingle has one hash, of all its words.
        """
        page, normalised = self._read(text)
        if normalised is not None:
            hashes = self._sketcher.shingler.of_encoded(normalised)
        else:
            hashes = np.array([int.from_bytes(page.exact[:8])] if page.words else [], np.uint64)
        return sorted_unique(mask_shingles(hashes, scope, self._seed))

    def exact(self, text: str) -> bytes:
        """The hash of a text's normalised words (12 bytes)."""
        return self._read(text)[0].exact

    def with_own(
        self,
        page: Fingerprint,
        heading: str,
        own_words: int | None = None,
        learnt: int | None = None,
    ) -> Fingerprint:
        """The fingerprint of a page's text, completed from what is the page's own.

        `own_words` of the text do not belong to the template, by default all; the template was
        learnt from `learnt` texts, by default very many.
        """
        normaliser = self._sketcher.shingler.normaliser
        # Not all themes have it, and Unicode would make letters of it.
        normalised = single_spaced(normaliser.encode(heading.replace("™", "")))
        if normaliser.keep_signs:
            normalised += find_heading_signs(heading).encode("utf-8", "replace")
        if not normalised:
            return page
        number = xxhash.xxh3_64_intdigest(normalised, seed=self._seed) & 0xFFFF or 1
        fours = (page.words if own_words is None else own_words) // 4
        counts = (min(fours, _MOST_OWN), _MOST_OWN if learnt is None else min(learnt, _MOST_OWN))
        return replace(page, own=number.to_bytes(2) + bytes(counts))

    def many(self, texts: Iterable[str]) -> list[Fingerprint]:
        """The fingerprints of many texts, somewhat faster than one by one."""
        found: list[Fingerprint] = []
        encoded: dict[int, bytes] = {}
        for number, text in enumerate(texts):
            page, normalised = self._read(text)
            found.append(page)
            if normalised is not None:
                encoded[number] = normalised
        numbers = iter(encoded)
        for hashes, offsets in self._sketcher.shingler.batches_of_encoded(encoded.values()):
            sketches = self._sketcher.method.sketch_batch(hashes, offsets)
            for span, sketch in zip(pairwise(offsets.tolist()), sketches, strict=True):
                number = next(numbers)
                own = hashes[slice(*span)]
                anchors = self._find_anchors(encoded[number], own)
                found[number] = self._sketched(found[number], sorted_unique(own), sketch, anchors)
        return found

    def fits(self, page: Fingerprint) -> bool:
        """Whether a fingerprint from elsewhere has a shape that this fingerprinter makes."""
        if not are_anchors(page.anchors):
            return False
        if not page.bands and not page.odd:
            return not page.anchors
        if not page.words or len(page.bands) % 4 or not 0 < len(page.bands) // 4 <= self._most_keys:
            return False
        method = self._sketcher.method
        keys = np.frombuffer(page.bands, ">u4")
        in_order = len(keys) == method.tables if method.tables else (keys[1:] > keys[:-1]).all()
        levels = [sketch.level for sketch in page.odd]
        known = {SIMHASH} if isinstance(method, TwoStage) else set(LEVELS)
        return bool(
            in_order
            and keys.max() <= _KEY_MASK
            and 0 < len(levels) == len(known.intersection(levels))
            and all(len(sketch.bits) * 8 == self._bits for sketch in page.odd)
        )

    def _read(self, text: str) -> tuple[Fingerprint, bytes | None]:
        """The fingerprint without shingles, and the normalised text; None if it is too short."""
        if self._correct is not None:
            text = self._correct(text)
        shingler = self._sketcher.shingler
        normalised = single_spaced(shingler.normaliser.encode(text))
        exact = xxhash.xxh3_128_digest(normalised, seed=self._seed)[:EXACT_BYTES]
        words = normalised.count(b" ") + 1 if normalised else 0
        units = words if shingler.unit == "word" else len(normalised.decode())
        return Fingerprint(exact, words), normalised if units >= self._size else None

    def _sketched(
        self,
        page: Fingerprint,
        shingles: ShingleArray,
        sketch: SketchArray,
        anchors: bytes,
        least: float | None = None,
    ) -> Fingerprint:
        keys = self._sketcher.keys(sketch) & _KEY_MASK
        if self._sketcher.method.tables is None:
            keys = np.unique(keys)  # one table must not hold a key of a page twice
        method = self._sketcher.method
        if keys.size < method.fewest_keys:
            return page
        terms = self._bits, self._threshold, least
        odd = verification_sketches(method, shingles, sketch, *terms)
        return replace(page, bands=keys.astype(">u4").tobytes(), odd=odd, anchors=anchors)

    def _find_anchors(self, normalised: bytes, hashes: ShingleArray) -> bytes:
        """The packed anchors of a text with shingles `hashes`, in its order; b"" if unused."""
        if self._anchored is None:
            return b""
        if not self._is_anchored_alike:
            hashes = self._anchored.of_encoded(normalised)
        return find_anchors(hashes)
