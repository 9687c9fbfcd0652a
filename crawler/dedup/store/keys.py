"""The names of all keys that the index uses in the server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

AGAIN: Final = "again"  # instead of what somebody wanted of a URL: they took it back
OTHER_HOSTS: Final = "(other hosts)"  # instead of a host's name, see lua/pages.lua

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
    "seen",
    "crawls",
    "attempts",  # these three are of checks on a cluster: see lua/shard.lua
    "claims",
    "buried",
)
"""What the names of keys end with that each index, or each shard of one, has once."""


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys of one index. The braces put them in one slot of a cluster.

    >>> Keys("dedup").params
    '{dedup}:params'
    """

    namespace: str

    @property
    def prefix(self) -> str:
        """What every key of the index begins with."""
        return f"{{{self.namespace}}}:"

    @property
    def params(self) -> str:
        """Hash: format version and parameters that the index was made with."""
        return self.prefix + "params"

    @property
    def guard(self) -> str:
        """A key that is never there. A cluster refuses commands with a key that is there and one
        that is not while their slot moves to another node, so no script sees half a shard.
        """
        return self.prefix + "guard"

    @property
    def state(self) -> str:
        """Hash: next page number, pages kept, entries and buckets of each group of tables, the
        exchanges counted, and the bucket of URLs where the search for expired ones stands.
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
        """Hash: URL → ``keep`` or ``drop``, what somebody wants of it, or :data:`AGAIN`."""
        return self.prefix + "overrides"

    @property
    def templates(self) -> str:
        """Hash: host → when a page of it was checked, and the log of its sites' template."""
        return self.prefix + "templates"

    @property
    def rules(self) -> str:
        """Hash: site → JSON of the rules of its URLs, see lua/url_rules.lua."""
        return self.prefix + "rules"

    @property
    def seen(self) -> str:
        """Stream: pages that processes of a crawl tell each other of, see lua/seen.lua."""
        return self.prefix + "seen"

    @property
    def crawls(self) -> str:
        """Hash: number of a crawl under way → when it began; ``=`` and name → number and when."""
        return self.prefix + "crawls"

    @property
    def fixed(self) -> list[str]:
        """The keys of :data:`FIXED`, whether they are there or not."""
        return [self.prefix + name for name in FIXED]

    def numbered(self, family: str, number: int) -> str:
        """String: a bucket of the table `family` (url, exact, band0, …), upper bits of table
        keys and page numbers; or with family `page` a list with the records of 48 pages.
        """
        return f"{self.prefix}{family}:{number}"


def literal_pattern(text: str) -> str:
    r"""A pattern of names of keys that `text` alone fits.

    >>> print(literal_pattern(r"{a\b}"))
    {a\\b}
    """
    return re.sub(r"([\\*?\[\]])", r"\\\1", text)
