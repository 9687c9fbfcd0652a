"""The entry point of this package: text in, sketch out, whatever the method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from .fast import FastSimilaritySketch
from .minwise import MinwisePermutations, OnePermutation
from .samples import ModuloSample, SmallestN
from .shingles import Shingler
from .simhash import Simhash, TwoStage
from .supershingles import Supershingles

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from ..text.normaliser import Normaliser
    from .hashing import ShingleArray
    from .method import Method, SketchArray
    from .similarity import Estimate, Interval

METHODS: Final[dict[str, type[Method]]] = {
    method.name: method
    for method in (
        FastSimilaritySketch,
        MinwisePermutations,
        OnePermutation,
        SmallestN,
        ModuloSample,
        Supershingles,
        Simhash,
        TwoStage,
    )
}


class Sketcher:
    """Sketches texts by one method with one set of parameters.

    Parameters
    ----------
    num_hashes
        Values in a sketch, or bits of a simhash. The default depends on the method: 256 for the
        fast similarity sketch. The standard error of a resemblance J is at most
        ``sqrt(J * (1 - J) / num_hashes)`` where values agree with probability J.
    size, unit, step, repeats, normaliser
        The shingles, see :class:`~.shingles.Shingler`.
    seed
        Chooses the hash functions of shingles and sketch, 0 to 2**64 - 1.
    method
        A key of :data:`METHODS`.
    options
        Further options of the method, by name; see its class.

    Raises
    ------
    ValueError
        There is no such method, or a number is out of range.
    TypeError
        The method has no such option.

    Examples
    --------
    >>> sketcher = Sketcher(num_hashes=128, size=3)
    >>> a = sketcher.sketch("It grows in dry places and flowers in late spring.")
    >>> b = sketcher.sketch("It grows in dry places and flowers in early spring.")
    >>> a.shape, a.dtype
    ((128,), dtype('uint32'))
    >>> round(sketcher.estimate(a, b).similarity, 2)  # exactly: 6/10
    0.6
    """

    def __init__(
        self,
        num_hashes: int | None = None,
        size: int = 5,
        seed: int = 1,
        method: str = "fast",
        *,
        unit: str = "word",
        step: int = 1,
        repeats: bool = False,
        normaliser: Normaliser | None = None,
        **options: Any,
    ) -> None:
        if method not in METHODS:
            raise ValueError(f"no sketch method {method!r}; there are {', '.join(METHODS)}")
        shingler = Shingler(unit, size, step, repeats, seed=seed)
        self.shingler = shingler if normaliser is None else replace(shingler, normaliser=normaliser)
        if num_hashes is not None:
            options["num_hashes"] = num_hashes
        self.method: Method = METHODS[method](seed=seed, **options)

    def shingles(self, text: str) -> ShingleArray:
        """The set of shingles of *text*, as :func:`~.shingles.shingle_hashes` returns it."""
        return self.shingler(text)

    def sketch(self, text: str) -> SketchArray:
        """The sketch of *text*: of the method's dtype and shape, (0,) if it has no words."""
        return self.method.sketch(self.shingler.in_order(text))

    def sketch_many(self, texts: Iterable[str]) -> list[SketchArray]:
        """Sketches of many texts, in their order. For short texts, faster than one by one."""
        return [
            sketch
            for shingles, offsets in self.shingler.hash_batches(texts)
            for sketch in self.method.sketch_batch(shingles, offsets)
        ]

    def sketch_shingles(self, shingles: ShingleArray) -> SketchArray:
        """The sketch of the text with these *shingles*, uint64 of shape (n,), in any order.

        They must have been made with this sketcher's parameters.
        """
        return self.method.sketch(shingles)

    def keys(self, sketch: SketchArray) -> NDArray[np.uint32]:
        """The keys that similar pages share, see :class:`Method`: uint32 of shape (keys,)."""
        return self.method.keys(sketch)

    def estimate(
        self,
        a: SketchArray,
        b: SketchArray,
        *,
        confidence: float = 0.95,
        interval: Interval = "wilson",
    ) -> Estimate:
        """The resemblance of the texts of two sketches of this sketcher, 0 to 1.

        The interval contains it with the probability *confidence*. It is 1 if neither text has
        words, 0 if only one has.
        Raises :class:`ValueError` if the shapes of the sketches, or the moduli of samples, do not
        fit. Sketches with another seed or other parameters cannot be recognised.
        """
        return self.method.estimate(a, b, confidence=confidence, interval=interval)
