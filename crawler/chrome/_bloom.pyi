import numpy as np
from numpy.typing import NDArray

def look_up(
    filters: NDArray[np.uint8], numbers: NDArray[np.uint64], shift: int
) -> NDArray[np.bool_]: ...
