"""The live view of `scrapy dedup stats --watch`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..wording import size_in_words
from .output import Bar, is_terminal, make_table, make_terminal
from .subcommands import ask_index

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex
    from ..dedup.inspection import Change
    from ..dedup.store.statistics import IndexStats

_BAR = 40  # columns of the longest bar


def stats_tables(
    stats: IndexStats, most_hosts: int | None
) -> list[tuple[str, list[str], list[Any]]]:
    """Verdicts, hosts (all or the first so many) and similarities: title, columns and rows."""
    from ..dedup.verdict import Kind

    total = sum(stats.verdicts.values())
    kinds = [str(kind) for kind in Kind if kind in stats.verdicts]
    counts = stats.verdicts
    rows: list[Any] = [[kind, counts[kind], f"{counts[kind] / total:.1%}"] for kind in kinds]
    found = [("Verdicts", ["verdict", "checks", "share"], rows)]

    hosts = sorted(stats.hosts.items(), key=lambda item: (-sum(item[1].values()), item[0]))
    rows = [[host, *(of_host.get(kind, 0) for kind in kinds)] for host, of_host in hosts]
    hidden = len(rows) - len(rows[:most_hosts])
    title = f"Hosts ({hidden} more in --json)" if hidden else "Hosts"
    found.append((title, ["host", *kinds], rows[:most_hosts]))
    if stats.errors:
        found.append(
            ("Errors of crawls", ["class", "times"], list(map(list, stats.errors.items())))
        )

    if stats.histogram:
        most = max(stats.histogram.values())
        rows = [[s, n, Bar(n, most, _BAR)] for s, n in stats.histogram.items()]
        found.append(("Similarity of near-duplicates", ["from", "checks", ""], rows))
    return found


_HOSTS = 10  # rows of the live view
_ESTIMATES = frozenset(("memory of the index", "growth a day", "full in"))  # from a sample of keys


def watch_index(settings: Mapping[str, Any], interval: float, *, as_json: bool) -> None:
    """Show the index every `interval` seconds until Ctrl-C."""
    from ..dedup.inspection import Watch

    async def look(index: DuplicateIndex) -> None:
        watched = Watch()
        while True:
            stats, servers = await index.stats(), await index.store.server_memory()
            show(watched.take_look(time.monotonic(), stats, servers))
            await asyncio.sleep(interval)

    with suppress(KeyboardInterrupt), _open_display(as_json=as_json) as show:
        ask_index(settings, look)


@contextmanager
def _open_display(*, as_json: bool) -> Iterator[Callable[[Change], None]]:
    """Yield the function that shows a change: in a live table, as a line, or as JSON."""
    if as_json:
        yield lambda change: print(
            json.dumps({"time": _format_now(), **change.to_dict()}), flush=True
        )
    elif not is_terminal():
        yield lambda change: print(_format_line(change), flush=True)
    else:
        from rich.console import Group
        from rich.live import Live

        with Live(console=make_terminal(), auto_refresh=False) as live:

            def show(change: Change) -> None:
                rows = [
                    [f"{name} (estimate)" if name in _ESTIMATES else name, value]
                    for name, value in _list_facts(change).items()
                ]
                parts = [make_table("Now", ["fact", "value"], rows)]
                if change.stats.verdicts:
                    parts += [make_table(*table) for table in stats_tables(change.stats, _HOSTS)]
                live.update(Group(*parts), refresh=True)

            yield show


def _format_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _list_facts(change: Change) -> dict[str, Any]:
    stats, full = change.stats, change.seconds_to_full
    limit = change.memory_limit
    return {
        "time": _format_now(),
        "rates over": _format_duration(change.seconds) if change.seconds else None,
        "checks": f"{sum(stats.verdicts.values()):,}",
        "checks a second": _format_rate(change.checks_per_second),
        "URLs known": f"{stats.urls:,}",
        "pages kept": f"{stats.kept:,}",
        "kept a second": _format_rate(change.kept_per_second),
        "memory of the index": _format_size(stats.memory_bytes),
        "memory of the server": _format_size(change.memory_used),
        "its maxmemory": "none" if limit == 0 else _format_size(limit),
        "growth a day": _format_size(change.growth_per_day),
        "full in": None if full is None else _format_duration(full),
    }


def _format_line(change: Change) -> str:
    facts = {**_list_facts(change), **{kind: f"+{n}" for kind, n in change.verdicts.items()}}
    words = [
        f"{name.replace(' ', '_')}={str('-' if value is None else value).replace(' ', '')}"
        for name, value in facts.items()
    ]
    return " ".join(words)


def _format_rate(value: float | None) -> str | None:
    return None if value is None else f"{value:,.1f}"


def _format_size(value: float | None) -> str | None:
    return None if value is None else size_in_words(value)


def _format_duration(seconds: float) -> str:
    """A time in words.

    >>> _format_duration(90), _format_duration(200_000)
    ('1.5 minutes', '2.3 days')
    """
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:.0f} seconds"
