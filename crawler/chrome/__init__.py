"""HTML in, main text out: navigation, banners, footers and sidebars left behind."""

from .dates import published
from .document import (
    Document,
    Link,
    Robots,
    base,
    canonical,
    links,
    parse,
    parse_in_steps,
    read_tree,
    robots,
    title,
)
from .extract import strip_chrome
from .main_text import Block, MainText
from .pairs import block_hash
from .sites import SharedTemplate, SiteTemplates
from .template import SiteTemplate

__all__ = [
    "Block",
    "Document",
    "Link",
    "MainText",
    "Robots",
    "SharedTemplate",
    "SiteTemplate",
    "SiteTemplates",
    "base",
    "block_hash",
    "canonical",
    "links",
    "parse",
    "parse_in_steps",
    "published",
    "read_tree",
    "robots",
    "strip_chrome",
    "title",
]
