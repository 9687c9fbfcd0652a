import numpy as np
from numpy.typing import NDArray

from .blocks import Flat
from .features import Floats, Wide

def settle(likely: Floats, flat: Flat, sizes: Wide) -> Wide: ...
def choose(likely: Wide, sizes: Wide) -> NDArray[np.bool_]: ...
def between(
    settled: Wide, kept: NDArray[np.bool_], known: NDArray[np.bool_], sizes: Wide
) -> Wide: ...
