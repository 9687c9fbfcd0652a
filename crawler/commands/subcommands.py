"""The subcommands of ``scrapy dedup``: each is a module of :mod:`.index`, `pages` or `texts`.

A new module there is a new subcommand; ``merge_sites`` would be ``merge-sites``. Its docstring is
the description in its help, and it has what :class:`Subcommand` lists. It makes slow imports (the
index, numpy, rich) inside ``run``.
"""

from __future__ import annotations

import argparse
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from .output import print_notice

if TYPE_CHECKING:
    from ..dedup.config import DedupConfig
    from ..dedup.index import DuplicateIndex

T = TypeVar("T")

ROOMS = ("index", "pages", "texts")  # packages of subcommands

EXIT_CODES = (
    "Exit codes: 0 found, 1 not found or nothing there yet, 2 wrong usage, settings or files,\n"
    "3 no index: the server gives no answer or the index has other parameters,\n"
    "130 ended with Ctrl-C."
)


# Deprecated names, each with the subcommand that replaces it and the defaults of its options.
ALIASES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "cluster": ("clusters", {}),
    "copies": ("clusters", {"urls": True}),
    "explain": ("show", {"why": True}),
    "moved": ("where", {}),
    "prefer": ("override", {"decision": "prefer"}),
}
# What to write for the deprecated names that stand for more than a subcommand.
USES = {
    "copies": "clusters --urls",
    "explain": "show --why",
    "prefer": "override URL prefer",
}
GOING = "0.3"  # the version without the deprecated names


class Exit(IntEnum):
    """The exit codes; :data:`EXIT_CODES` describes them for people."""

    FOUND = 0
    NOTHING = 1
    USAGE = 2
    SERVER = 3
    INTERRUPTED = 130  # as shells have it


class Subcommand(Protocol):
    """What the module of a subcommand has to define."""

    HELP: str
    """One line for the list of subcommands."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the subcommand's own arguments; Scrapy's global options are added to all."""

    def run(self, options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
        """Do the work and print the result; the caller reports errors of this package."""


@cache
def _find_modules() -> dict[str, str]:
    """Return the names of all subcommands, in order, each with the name of its module."""
    package = str(__package__)
    rooms = [import_module(f".{room}", package) for room in ROOMS]
    modules = [
        (module.name.replace("_", "-"), f"{room.__name__}.{module.name}")
        for room in rooms
        for module in pkgutil.iter_modules(room.__path__)
    ]
    return dict(sorted(modules))


def list_names() -> list[str]:
    """Return the names of all subcommands.

    >>> "stats" in list_names()
    True
    """
    return list(_find_modules())


def find_subcommand(name: str) -> Subcommand:
    """Return the subcommand of that name, one of :func:`list_names`."""
    return cast(Subcommand, import_module(_find_modules()[name]))


def ask_index(
    settings: Mapping[str, Any],
    question: Callable[[DuplicateIndex], Awaitable[T]],
    *,
    spool: bool = False,
    make: bool = False,
) -> T:
    """Open the project's index, and return its answer to `question`.

    With `spool`, pages that passed unchecked are available, too. With `make`, a missing index is
    made, and later crawls need the same settings. Raises :class:`DedupError` if the index cannot be
    opened or does not answer.
    """
    import asyncio

    from ..dedup.index import DuplicateIndex

    config = index_config(settings)

    async def ask() -> T:
        async with DuplicateIndex.open(config, spool=spool, make=make) as index:
            return await question(index)

    return asyncio.run(ask())


def index_config(settings: Mapping[str, Any]) -> DedupConfig:
    """The configuration of the index for a command.

    Raises :class:`InputError` if there is no project, no server in the settings, and no data of a
    private server: one would be started for an empty index.
    """
    from scrapy.utils.project import inside_project

    from ..dedup.errors import InputError
    from ..project import project_config

    config = project_config(settings)
    if inside_project() or config.redis_url or (config.data_dir / "appendonlydir").is_dir():
        return config
    raise InputError(
        "there is no Scrapy project here, and no index: go to a folder with a scrapy.cfg, or name "
        "the index with -s DEDUP_REDIS_URL=... or -s DEDUP_DATA_DIR=..."
    )


def explain_nothing(message: str) -> Exit:
    """Print on standard error why there is no result."""
    print_notice(message)
    return Exit.NOTHING


_NO_CRAWL: Final = (
    "crawl first, or name another in DEDUP_NAMESPACE: scrapy dedup indexes lists all of the server"
)


def nothing_yet(settings: Mapping[str, Any]) -> Exit:
    """Print on standard error that an index has no pages, or does not exist."""
    from ..dedup.store.statistics import read_time
    from ..dedup.verdict import plain

    counters = ask_index(settings, lambda index: index.store.read_counters())
    crawled = read_time({name: int(n) for name, n in counters["state"].items()}, "crawled")
    what = f"the log of its last crawl, {plain(crawled)}, says why" if crawled else _NO_CRAWL
    return explain_nothing(f"nothing yet in the index {index_config(settings).namespace!r}; {what}")


async def has_pages(index: DuplicateIndex) -> bool:
    """Whether anything was ever checked with an index."""
    return bool((await index.store.read_counters())["stats"])


def nothing_found(settings: Mapping[str, Any], message: str) -> Exit:
    """Print on standard error why nothing was found: `message`, unless the index has no pages."""
    if not ask_index(settings, has_pages):
        return nothing_yet(settings)
    return explain_nothing(message)


def describe_unseen(url: str) -> str:
    """Say that the index has no page with that URL.

    >>> describe_unseen("example.com")
    "the index never saw 'example.com'; does its URL begin with https:// or http://?"
    """
    hint = "" if "://" in url else "; does its URL begin with https:// or http://?"
    return f"the index never saw {url!r}{hint}"


async def refuse_unknown_host(index: DuplicateIndex, host: str) -> None:
    """Raise :class:`InputError` for a host of which an index with pages has none.

    It suggests a known host. Of very many hosts, new ones are counted together.
    """
    from ..dedup.errors import InputError
    from ..dedup.store.keys import OTHER_HOSTS
    from .strict_arguments import suggest_word

    hosts = (await index.store.read_counters())["hosts"]
    names = sorted({name.rpartition(" ")[0] for name in hosts} - {""})
    if names and host not in names and OTHER_HOSTS not in names:
        raise InputError(f"the index knows no host {host!r}; {suggest_word(host, names)}")
