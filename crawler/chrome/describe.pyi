from collections.abc import Mapping

from .blocks import Flat
from .features import Floats

def describe(flat: Flat, title: str, scores: Mapping[str, float]) -> Floats: ...
