import numpy as np
from numpy.typing import NDArray

from .dictionary import Dictionary
from .table import Table

class Lookup:
    def __init__(self, table: Table) -> None: ...

class Gains:
    def __init__(self, dictionary: Dictionary) -> None: ...

def fill(
    table: Lookup,
    values: NDArray[np.float32 | np.int32],
    keys: NDArray[np.uint64],
    found: NDArray[np.float64 | np.int64],
) -> None: ...
def gain(
    gains: Gains, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]: ...
def word_hashes(letters: NDArray[np.uint32], lengths: NDArray[np.int64]) -> NDArray[np.uint64]: ...
