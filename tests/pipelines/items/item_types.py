"""Items of every type."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import attrs
import scrapy


@dataclass
class DataPage:
    url: Any = None
    html: Any = field(default=None, repr=False)
    text: Any = None
    title: Any = None
    dedup: Any = None


@attrs.define
class AttrsPage:
    url: Any = None
    html: Any = None
    text: Any = None
    title: Any = None
    dedup: Any = None


class ScrapyPage(scrapy.Item):
    url = scrapy.Field()
    html = scrapy.Field()
    text = scrapy.Field()
    title = scrapy.Field()
    dedup = scrapy.Field()


TYPES = [dict, partial(defaultdict, list), DataPage, AttrsPage, ScrapyPage]
