from lxml.etree import _Element

from .blocks import Flat
from .head import Head

def walk_tree(root: _Element) -> tuple[Flat, Head]: ...
