from .features import Floats, Ints, Wide
from .forest import Forest

def votes(forest: Forest, features: Floats, rows: Ints) -> Wide: ...
