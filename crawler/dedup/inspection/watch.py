"""How an index changes: rates and forecasts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ..store.index_reader import ServerMemory
    from ..store.statistics import IndexStats

_DAY: Final = 86_400.0
_WINDOW: Final = 60.0  # seconds over which rates are averaged


@dataclass(frozen=True, slots=True)
class Change:
    """What an index holds now, and its rates over the last minute or since the watch began.

    Attributes
    ----------
    stats
        The current counts.
    seconds
        The period of the rates, in seconds; 0 at the first look, which has no rates.
    checks_per_second, kept_per_second
        The rates of checks and of kept pages; all rates are None at the first look.
    verdicts
        Checks by verdict since the previous look.
    growth_per_day
        Bytes by which the index grows in a day at this rate: kept pages times bytes per page.
    memory_used, memory_limit
        Memory in bytes of the server, or of the fullest node of a cluster. The limit is its
        ``maxmemory``, 0 if it has none. Both are None if the server does not tell.
    seconds_to_full
        Seconds until the limit is reached at this rate; None if it never is.
    """

    stats: IndexStats
    seconds: float
    checks_per_second: float | None
    kept_per_second: float | None
    verdicts: dict[str, int]
    growth_per_day: float | None
    memory_used: int | None
    memory_limit: int | None
    seconds_to_full: float | None

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values."""
        names = ("seconds", "checks_per_second", "kept_per_second", "growth_per_day")
        rates = {name: getattr(self, name) for name in (*names, "seconds_to_full")}
        return {
            **self.stats.to_dict(),
            **{k: None if v is None else round(v, 3) for k, v in rates.items()},
            "verdicts_since": self.verdicts,
            "memory_used": self.memory_used,
            "memory_limit": self.memory_limit,
        }


class Watch:
    """Compares successive states of an index."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, IndexStats]] = deque()

    def take_look(
        self, now: float, stats: IndexStats, servers: list[ServerMemory] | None
    ) -> Change:
        """The change at the time `now`, in seconds, from counts and the memory of the servers."""
        last = self._looks[-1][1] if self._looks else None
        while len(self._looks) > 1 and now - self._looks[0][0] > _WINDOW:
            self._looks.popleft()
        self._looks.append((now, stats))
        start, first = self._looks[0]
        seconds = now - start
        checks = kept = growth = to_full = None
        if seconds > 0:
            checks = (_count_checks(stats) - _count_checks(first)) / seconds
            kept = (stats.kept - first.kept) / seconds
            if stats.bytes_per_page is not None:
                growth = kept * stats.bytes_per_page * _DAY
        fullest = max(servers, key=_fullness_of) if servers else None
        if fullest and servers and fullest.limit and growth is not None and growth > 0:
            room = max(0, fullest.limit - fullest.used)
            to_full = room / (growth / len(servers)) * _DAY
        before = last.verdicts if last else {}
        return Change(
            stats,
            seconds,
            checks,
            kept,
            {k: n - before.get(k, 0) for k, n in stats.verdicts.items()} if last else {},
            growth,
            fullest.used if fullest else None,
            fullest.limit if fullest else None,
            to_full,
        )


def _count_checks(stats: IndexStats) -> int:
    return sum(stats.verdicts.values())


def _fullness_of(server: ServerMemory) -> float:
    return server.used / server.limit if server.limit else 0.0
