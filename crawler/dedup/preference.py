"""The properties of a page by which the best of several copies is kept, see ``DEDUP_PREFER``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .identity import resolved
from .ranks import CriteriaValues, fields_of, only_value, read_date

if TYPE_CHECKING:
    from datetime import datetime

    from .config import DedupConfig


def list_criteria_fields(config: DedupConfig) -> list[str]:
    """The fields of a record that ``DEDUP_PREFER`` names; none without it."""
    if not config.prefer:
        return []
    return [config.canonical_field, config.date_field, *fields_of(config.prefer)]


def read_criteria(config: DedupConfig, url: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of :meth:`~.index.DuplicateIndex.check` that a record of the page at `url`
    gives.
    """
    if not config.prefer:
        return {}
    named, date, *numbers = (_read_cell(record.get(name)) for name in list_criteria_fields(config))
    # Without the criterion `canonical`, the index need not look the named URL up.
    is_named = "canonical" in config.prefer and isinstance(named, str) and named.strip()
    return {
        "canonical": resolved(url, named) if is_named else None,
        "date": read_date(date),
        "fields": dict(zip(fields_of(config.prefer), numbers, strict=True)),
    }


def criteria_of(
    config: DedupConfig,
    url: str,
    words: int,
    *,
    canonical: str | None = None,
    date: datetime | None = None,
    fields: Mapping[str, Any] | None = None,
) -> CriteriaValues:
    """The criteria values of the page at `url`, whose text has so many words."""
    known = config.identity(url)
    names_other = bool(canonical) and config.identity(canonical or "") != known
    return CriteriaValues(known, names_other, words, date, fields or {})


def _read_cell(value: Any) -> Any:
    value = only_value(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
