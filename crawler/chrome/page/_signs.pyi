from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

class Words:
    values: Mapping[str, float]
    def __init__(self, values: Mapping[str, float]) -> None: ...
    def bits(self, names: str) -> int: ...
    def mean_values(self, attributes: list[str]) -> NDArray[np.float64]: ...
