"""HTML in, main text out: navigation, banners, footers and sidebars left behind."""

from .document import Document, Link, Robots, base, canonical, links, parse, robots, title
from .extract import Block, MainText, block_hash, strip_chrome

__all__ = [
    "Block",
    "Document",
    "Link",
    "MainText",
    "Robots",
    "base",
    "block_hash",
    "canonical",
    "links",
    "parse",
    "robots",
    "strip_chrome",
    "title",
]
