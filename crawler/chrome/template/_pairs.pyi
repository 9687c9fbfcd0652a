from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from .pairs import Pairs

def pair_hashes(texts: list[str]) -> Pairs: ...
def lesson(pairs: Pairs, alone: NDArray[np.bool_]) -> dict[int, bool]: ...
def hits(
    pairs: Pairs, kept: NDArray[np.bool_], template: AbstractSet[int]
) -> NDArray[np.uint8]: ...
