"""Clusters and stories of an index, for `scrapy dedup clusters` without a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..wording import counted
from .output import format_similarity, is_terminal, print_table

if TYPE_CHECKING:
    from ..dedup.inspection import IndexCluster, Stories

# Clusters, and members of each, shown in a terminal; a pipe and JSON get all.
CLUSTERS = 20
MEMBERS = 5


def is_cluster_number(name: str) -> bool:
    """Whether an argument names a cluster by its number.

    >>> is_cluster_number("7"), is_cluster_number("http://a.example/7")
    (True, False)
    """
    return name.isascii() and name.isdigit() and len(name) < 11


def rows_of(clusters: Sequence[IndexCluster]) -> Iterator[dict[str, Any]]:
    """One row for each page, for CSV and JSON lines."""
    for one in clusters:
        for member in one.members:
            row = member.to_dict()
            yield {
                "cluster": one.id,
                "representative": member.url == one.url,
                "url": row["url"],
                **{name: row[name] for name in ("kind", "similarity", "low", "high")},
                **{name: row[name] for name in ("first_seen", "last_seen", "words")},
            }


def print_cluster(found: IndexCluster) -> None:
    """Print all pages of one cluster as a table."""
    title = f"Cluster {found.id}, {counted(len(found.members), 'page')}"
    if found.url is None:
        title += "; its original is no longer kept"
    columns = ["page", "kind", "similarity", "from", "to", "first seen", "last seen"]
    rows = [
        [
            page.url,
            page.kind,
            *map(format_similarity, (page.similarity, page.low, page.high)),
            page.first_seen.date(),
            page.last_seen.date(),
        ]
        for page in found.members
    ]
    print_table(title, columns, rows)


def print_clusters(clusters: Sequence[IndexCluster], title: str) -> None:
    """Print clusters as a table: in a terminal the first members of the largest."""
    counts = (CLUSTERS, MEMBERS) if is_terminal() else (len(clusters), None)
    rows: list[list[Any]] = []
    for one in clusters[: counts[0]]:
        members = one.members[: counts[1] and counts[1] + 1]
        for place, member in enumerate(members):
            size = None if place else len(one.members)
            seen = [time.date().isoformat() for time in (member.first_seen, member.last_seen)]
            rows.append([one.id, size, format_similarity(member.similarity), *seen, member.url])
        if left_out := len(one.members) - len(members):
            rows.append([one.id, None, None, None, None, f"({left_out} more)"])
    if len(clusters) > counts[0]:
        title += f" ({len(clusters) - counts[0]} more in --json)"
    columns = ["cluster", "pages", "similarity", "first seen", "last seen", "page"]
    print_table(title, columns, rows)


def print_urls(clusters: Sequence[IndexCluster], options: argparse.Namespace) -> None:
    """Print one line for each cluster, with the URLs of all its pages."""
    rows = [(one.url, len(one.members), [page.url for page in one.members]) for one in clusters]
    if options.json:
        for url, size, urls in rows:
            print(json.dumps({"url": url, "size": size, "urls": urls}))
    elif rows:
        listed = [[url, size, " ".join(urls)] for url, size, urls in rows]
        print_table("Kept pages and their copies", ["url", "size", "urls"], listed)


def print_stories(found: Stories) -> None:
    """Print stories and how they were found."""
    if found.stories:
        print_clusters(found.stories, f"Stories at {found.threshold:g}")
    facts: list[list[Any]] = [
        ["stories of several kept pages", len(found.stories)],
        ["kept pages in them", sum(len(one.members) for one in found.stories)],
        ["kept pages compared", found.pages],
        ["too short for a sketch", found.too_short],
        ["too long to tell at this similarity", found.too_long],
    ]
    if found.found is not None:
        facts.append(["share of pairs at it that bands find", f"{found.found:.0%}"])
    print_table("", ["fact", "value"], facts)
