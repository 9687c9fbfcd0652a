import numpy as np
from numpy.typing import NDArray

from .blocks import Flat

def reasons(
    flat: Flat,
    numbers: NDArray[np.intp],
    kept: NDArray[np.bool_],
    known: NDArray[np.bool_] | None,
) -> list[str]: ...
