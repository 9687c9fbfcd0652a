"""Rows of the tables that the report and the web page show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..dedup.inspection import HostCounts

_MOST_HOSTS: Final = 25


def host_rows(hosts: Iterable[HostCounts]) -> tuple[list[dict[str, Any]], int]:
    """The hosts with the most copies, and the number of other hosts.

    A row has the host's pages, its current copies by kind, and the share of copies.
    """
    ranked = sorted(hosts, key=lambda one: (-one.duplicates, -one.pages, one.host))
    names = ("host", "pages", "exact", "near", "share")
    rows = [{name: getattr(one, name) for name in names} for one in ranked[:_MOST_HOSTS]]
    return rows, max(0, len(ranked) - _MOST_HOSTS)


def verdict_rows(verdicts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The number of checks with each verdict, and their share."""
    from ..dedup.verdict import Kind

    total = sum(verdicts.values())
    return [
        {"kind": str(kind), "checks": verdicts[kind], "share": verdicts[kind] / total}
        for kind in Kind
        if verdicts.get(kind)
    ]
