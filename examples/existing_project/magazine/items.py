"""The items of the spider ``dataclass_items``."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Article:
    """A story of a paper."""

    url: str
    headline: str
    html: str = field(default="", repr=False)  # added
    dedup: dict[str, Any] | None = None  # added
