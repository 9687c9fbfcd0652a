"""HTML in, main text out: without navigation, banners, footers and sidebars."""

from .extract import strip_chrome
from .main_text import Block, MainText
from .page.document import (
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
from .page.json_ld import published
from .template.pairs import block_hash
from .template.sites import SharedTemplate, SiteTemplates
from .template.template import SiteTemplate

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
