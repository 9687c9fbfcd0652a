from .blocks import Flat
from .features import Floats
from .vocabulary import AnyWords

def describe(flat: Flat, title: str, scores: AnyWords) -> Floats: ...
