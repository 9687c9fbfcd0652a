"""The names of all keys that the index uses in the server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

AGAIN: Final = "again"  # value of an override that was removed
OTHER_HOSTS: Final = "(other hosts)"  # counts further hosts together, see lua/pages.lua

FIXED: Final = (
    "params",
    "state",
    "stats",
    "hosts",
    "histogram",
    "errors",
    "overrides",
    "templates",
    "rules",
    "seen",  # pages that the processes of a crawl have seen, see lua/spared/seen.lua
    "crawls",  # those under way, see lua/crawl.lua
    "attempts",  # these three belong to checks on a cluster, see lua/cluster/shard.lua
    "claims",
    "buried",
)
"""The endings of the keys that each index, or each of its shards, has once."""

FAMILIES: Final = ("page", "url", "exact", "band", "anchor")
"""The families of the keys that have numbers."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of one index. The braces put them in one slot of a cluster.

    >>> Keys("dedup").params
    '{dedup}:params'
    """

    namespace: str

    @property
    def prefix(self) -> str:
        """The beginning of every key of the index."""
        return f"{{{self.namespace}}}:"

    @property
    def params(self) -> str:
        """Hash: format version and parameters that the index was made with."""
        return self.prefix + "params"

    @property
    def guard(self) -> str:
        """A key that never exists.

        While a slot moves to another node, a cluster refuses commands of which only some keys
        exist. So no script sees half a shard.
        """
        return self.prefix + "guard"

    @property
    def state(self) -> str:
        """Hash: next page number, number of kept pages, entries and buckets of each group of
        tables, number of exchanges, and the bucket of URLs last searched for expired pages.
        """
        return self.prefix + "state"

    @property
    def stats(self) -> str:
        """Hash: verdict → number of checks that ended with it."""
        return self.prefix + "stats"

    @property
    def hosts(self) -> str:
        """Hash: host (or :data:`OTHER_HOSTS`) and verdict, a space between → number of checks."""
        return self.prefix + "hosts"

    @property
    def histogram(self) -> str:
        """Hash: similarity, rounded down to hundredths → near-duplicates found."""
        return self.prefix + "histogram"

    @property
    def errors(self) -> str:
        """Hash: class of an error → how often crawls failed with it."""
        return self.prefix + "errors"

    @property
    def overrides(self) -> str:
        """Hash: URL → a person's override, ``keep`` or ``drop``, or :data:`AGAIN`."""
        return self.prefix + "overrides"

    @property
    def templates(self) -> str:
        """Hash: host → when it was last seen, and the log of its template."""
        return self.prefix + "templates"

    @property
    def rules(self) -> str:
        """Hash: site → JSON of the rules of its URLs, see lua/spared/url_rules.lua."""
        return self.prefix + "rules"

    @property
    def fixed(self) -> list[str]:
        """The keys of :data:`FIXED`, whether they exist or not."""
        return [self.prefix + name for name in FIXED]

    def numbered(self, family: str, number: int) -> str:
        """String: a bucket of the table `family` (url, exact, band0, …), with the upper bits of
        table keys and page numbers. List, for the family `page`: the records of 48 pages.
        """
        return f"{self.prefix}{family}:{number}"


def literal_pattern(text: str) -> str:
    r"""A glob pattern that matches `text` alone.

    >>> print(literal_pattern(r"{a\b}"))
    {a\\b}
    """
    return re.sub(r"([\\*?\[\]])", r"\\\1", text)
