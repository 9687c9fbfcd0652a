"""The tag in feeds: JSON in a cell of CSV, a plain dict for Python, a fixed type for Parquet."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Self

from scrapy.exporters import CsvItemExporter, MarshalItemExporter, PickleItemExporter

from ..dedup.verdict import Containment
from ..project import project_config
from .writing import Tag

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class TagCsvExporter(CsvItemExporter):
    """Scrapy's CSV exporter, but with the tag as JSON instead of the repr of a dict."""

    def __init__(self, *args: Any, tag_field: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tag_field = tag_field

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Read the name of the tag's field."""
        tag_field = project_config(crawler.settings).tag_field
        return cls(*args, tag_field=tag_field, **kwargs)

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        """Return the content of a cell."""
        if name == self._tag_field and isinstance(value, dict):
            return json.dumps(value, ensure_ascii=False)
        return super().serialize_field(field, name, value)


class _PlainTags:
    """For exporters that write an object as it is: a reader may not have the tag's class."""

    def serialize_field(self, field: Any, name: str, value: Any) -> Any:
        """Return the value of a field."""
        value = super().serialize_field(field, name, value)  # type: ignore[misc]
        return dict(value) if isinstance(value, Tag) else value


class TagMarshalExporter(_PlainTags, MarshalItemExporter):
    """Scrapy's exporter, which would refuse the tag."""


class TagPickleExporter(_PlainTags, PickleItemExporter):
    """Scrapy's exporter, whose feed could only be read where this package is installed."""


EXPORTERS: Final = {
    "csv": TagCsvExporter,
    "marshal": TagMarshalExporter,
    "pickle": TagPickleExporter,
}
"""For each format of a feed the exporter that takes the place of Scrapy's."""


def arrow_type() -> Any:
    """The pyarrow type of a full tag, the same whatever keys the tags of a batch have."""
    import pyarrow as pa

    texts = ("kind", "url", "duplicate_of", "standing", "replaces", "canonical")
    numbers = ("similarity", "low", "high")
    share = pa.struct([("url", pa.string()), ("share", pa.float64()), ("unconfirmed", pa.bool_())])
    return pa.struct(
        [(name, pa.string()) for name in texts]
        + [(name, pa.float64()) for name in numbers]
        + [("cluster", pa.int64()), ("unconfirmed", pa.bool_())]
        + [(name, pa.list_(share)) for name in Containment._fields]
    )
