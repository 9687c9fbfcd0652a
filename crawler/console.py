"""Shows the progress of a crawl: a line every few seconds, and a table at its end."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Self

from rich.console import Console as Terminal
from rich.table import Table
from rich.text import Text
from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from .dedup.store.server.address import mask_url
from .dedup.verdict import Kind
from .pipelines.stopping import describe_loss, watch_output
from .scrapy_versions import create_looping_call
from .spiders.site import SiteSpider
from .start_errors import name_setting
from .terminal import measure_width
from .wording import counted, shell_word, size_in_words

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

_INTERVAL = 10.0
_LIVE_INTERVAL = 0.5  # for a line that is updated in place


_SPARED_FOR = {
    "copy_depth": "found on copies of copies",
    "fruitless": "nothing new for long",
    "noindex": "likely noindex and nofollow",
}


class TableRow(NamedTuple):
    """A row of the table; an indented row is part of the last one that is not indented."""

    name: str
    number: int
    detail: str = ""
    indented: bool = False


class _Terminal(Terminal):
    """A terminal whose reader may disappear.

    rich would then raise ``SystemExit``. An exception in a signal handler keeps Scrapy's engine
    from ending.
    """

    def __init__(self, file: IO[str]) -> None:
        super().__init__(file=file, highlight=False, markup=False)

    def on_broken_pipe(self) -> None:
        """Stop printing."""
        self.quiet = True

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, unless the file is closed or the disk is full."""
        try:
            super().print(*objects, **options)
        except (OSError, ValueError):
            self.quiet = True


class Console:
    """Extension that reports on a :class:`SiteSpider`, on standard error.

    ``CONSOLE_INTERVAL`` is the number of seconds between two lines of progress; 0: none. A terminal
    shows a single line that is updated.
    """

    def __init__(self, crawler: Crawler, interval: float, terminal: Terminal) -> None:
        self.crawler = crawler
        self.interval = interval
        self.terminal = terminal
        self.is_live = terminal.is_terminal and not terminal.is_dumb_terminal
        self.feeds: list[tuple[str, int]] = []
        self.dropped_url: str | None = None
        self._started = self._last_time = monotonic()
        self._last_pages = 0
        self._rate = 0.0
        self._task: Any = None
        self._reason = "shutdown"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to a crawl of the spider `site`; other crawls are not reported."""
        if not isinstance(crawler.spider, SiteSpider):
            raise NotConfigured  # a reason would be a warning in every other crawl
        with name_setting("CONSOLE_INTERVAL", "a number of seconds"):
            interval = crawler.settings.getfloat("CONSOLE_INTERVAL", _INTERVAL)
        console = cls(crawler, interval, measure_width(_Terminal(sys.stderr)))
        watch_output(crawler)
        connect = crawler.signals.connect
        connect(console.opened, signal=signals.spider_opened)
        connect(console.closed, signal=signals.spider_closed)
        connect(console.feed_closed, signal=signals.feed_slot_closed)
        connect(console.dropped, signal=signals.item_dropped)
        connect(console.show_table, signal=signals.engine_stopped)
        return console

    def opened(self) -> None:
        """Start reporting."""
        if self.interval > 0:
            self._task = create_looping_call(self.show_line)
            interval = min(self.interval, _LIVE_INTERVAL) if self.is_live else self.interval
            self._task.start(interval, now=self.is_live)

    def closed(self, spider: Spider, reason: str) -> None:
        """Stop the lines. The table follows when the feeds are written."""
        self._reason = reason
        if self._task is not None and self._task.running:
            self._task.stop()
            if self.is_live:
                self._write_live("")

    def feed_closed(self, slot: Any) -> None:
        """Remember where the items were written."""
        self.feeds.append((slot.uri, slot.itemcount))

    def dropped(self, item: Any) -> None:
        """Remember a dropped page, for the example that shows how to ask about it."""
        self.dropped_url = self.dropped_url or getattr(item, "url", None)

    def show_line(self) -> None:
        """Print the progress of the crawl."""
        stats = self.crawler.stats.get_stats()
        pages = stats.get("site/pages", 0)
        now = monotonic()
        if now - self._last_time >= min(self.interval, 1.0):  # a rate over less time is noise
            self._rate = (pages - self._last_pages) / (now - self._last_time)
            self._last_pages, self._last_time = pages, now
        scheduler: Any = self.crawler.engine.scheduler
        queued = len(scheduler) if hasattr(scheduler, "__len__") else 0
        stopping = "" if self.crawler.crawling else " · closing; press Ctrl-C again to force it"
        kept, dropped = (stats.get(f"item_{one}_count", 0) for one in ("scraped", "dropped"))
        spared = f"{stats['dedup/spared']:,} spared · " if stats.get("dedup/spared") else ""
        line = (
            f"{counted(pages, 'page')} · {kept:,} kept · {dropped:,} dropped · {spared}"
            f"{queued:,} queued · {self._rate:.1f} pages/s{stopping}"
        )
        if self.is_live:
            self._write_live(line)
        else:
            self.terminal.print(line)

    def _write_live(self, line: str) -> None:
        """Overwrite the line; the cursor goes back, so that a line of the log replaces it."""
        room = self.terminal.width - 1
        self.terminal.print(line[:room].ljust(room), end="\r", soft_wrap=True)

    def show_table(self) -> None:
        """Print the summary table, unless the crawl never began."""
        stats = self.crawler.stats.get_stats()
        seconds = monotonic() - self._started
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(justify="right")
        table.add_column(style="dim")
        table_rows = summary_rows(stats)
        if self._reason != "finished" and not any(row.number for row in table_rows):
            return  # it never began; the log says why
        for row in table_rows:
            name = Text("  " + row.name) if row.indented else Text(row.name, style="bold")
            table.add_row(name, f"{row.number:,}", row.detail)
        hosts = ", ".join(_counts_of(stats, "site/hosts/")) or "no host"
        self.terminal.print()
        self.terminal.print(f"{hosts}: {self._reason} after {seconds:.0f} s", style="bold")
        self.terminal.print(table)
        if again := stats.get("dedup/asked_again"):
            asked = counted(again, "dropped page was", "dropped pages were")
            why = "the original has changed or is gone, or the site is better known by now"
            self.terminal.print(f"{asked} requested again: {why}", soft_wrap=True)
        if spared := stats.get("dedup/spared"):
            self.terminal.print(_describe_spared(stats, spared), soft_wrap=True)
        loss = describe_loss(self.crawler)
        if loss:
            self.terminal.print(f"{loss}: see the errors above")
        else:
            self._print_feeds()
        if not stats.get("site/pages"):
            return  # there is nothing to ask about
        if not self.feeds and not loss:
            self.terminal.print("The kept pages were not written to a file: add -O pages.jsonl")
        url, scrapy = shell_word(self.dropped_url or "") or "URL", _scrapy_command()
        index = _index_options(self.crawler.settings)
        more = f"Ask for more: {scrapy} dedup stats{index}; {scrapy} dedup show {url}{index}"
        self.terminal.print(more, soft_wrap=True)

    def _print_feeds(self) -> None:
        for uri, count in self.feeds:
            written = counted(count, "kept page is", "kept pages are")
            self.terminal.print(f"{written} in {uri}", soft_wrap=True)


def summary_rows(stats: Mapping[str, Any]) -> list[TableRow]:
    """The summary table of a crawl, from Scrapy's statistics.

    The indented rows below ``pages fetched`` add up to it, and the verdicts add up to the pages
    that became items.
    """
    types = _counts_of(stats, "site/other_content_types/")
    statuses = _counts_of(stats, "site/http_errors/")
    failures = _counts_of(stats, "site/download_errors/")
    reasons = _counts_of(stats, "dedup/dropped/")
    errors = stats.get("site/item_errors", 0) + stats.get("spider_exceptions/count", 0)
    others = [
        TableRow("other content types", sum(types.values()), _list_counts(types), indented=True),
        TableRow("HTTP errors", sum(statuses.values()), _list_counts(statuses), indented=True),
        TableRow("no answer", sum(failures.values()), _list_counts(failures), indented=True),
        TableRow("forbidden by robots.txt", stats.get("robotstxt/forbidden", 0), indented=True),
        TableRow("redirects to other hosts", stats.get("site/foreign_redirects", 0), indented=True),
        TableRow("redirects to known pages", stats.get("site/known_redirects", 0), indented=True),
        TableRow("redirects without end", stats.get("site/endless_redirects", 0), indented=True),
        TableRow("beyond max_pages", stats.get("site/beyond_max_pages", 0), indented=True),
    ]
    return [
        TableRow("pages fetched", stats.get("site/pages", 0)),
        TableRow("kept", stats.get("item_scraped_count", 0), indented=True),
        TableRow(
            "dropped", stats.get("item_dropped_count", 0), _list_counts(reasons), indented=True
        ),
        TableRow("noindex", stats.get("site/noindex", 0), indented=True),
        TableRow("errors", errors, indented=True),
        TableRow("verdicts", sum(stats.get(f"dedup/{kind}", 0) for kind in Kind)),
        *(TableRow(str(kind), stats.get(f"dedup/{kind}", 0), indented=True) for kind in Kind),
        TableRow("not fetched as pages", sum(row.number for row in others)),
        *others,
    ]


def _describe_spared(stats: Mapping[str, Any], spared: int) -> str:
    """The number of spared requests, the reasons, and the bytes and seconds saved."""
    counts = _counts_of(stats, "dedup/spared/")
    named = {_SPARED_FOR.get(name, name): count for name, count in counts.items() if count}
    size = size_in_words(stats.get("dedup/spared_bytes", 0))
    saved = f"some {size} and {stats.get('dedup/spared_seconds', 0):,.0f} s of waiting"
    requests = counted(spared, "request was", "requests were")
    return f"{requests} spared, for copies ({_list_counts(named)}): {saved}"


def _scrapy_command() -> str:
    """The command that runs Scrapy here: its name, or a path if its environment is not active."""
    if shutil.which("scrapy"):
        return "scrapy"
    called = Path(sys.argv[0])
    is_scrapy = called.name == "scrapy"
    return shlex.join([str(called)] if is_scrapy else [sys.executable, "-m", "scrapy"])


def _index_options(settings: BaseSettings) -> str:
    """The options of this crawl's command line that name the index, for other commands."""
    said = {
        name: str(settings[name])
        for name in ("DEDUP_NAMESPACE", "DEDUP_REDIS_URL", "DEDUP_DATA_DIR")
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]
    }
    if "DEDUP_REDIS_URL" in said:
        said["DEDUP_REDIS_URL"] = mask_url(said["DEDUP_REDIS_URL"])
    return "".join(f" -s {name}={shlex.quote(value)}" for name, value in said.items())


def _counts_of(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    """The counts of all keys with a prefix, largest first."""
    found = {key[len(prefix) :]: value for key, value in stats.items() if key.startswith(prefix)}
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _list_counts(counts: Mapping[str, int]) -> str:
    """Counts in one line, the small ones left out.

    >>> _list_counts({"404": 3, "410": 1})
    '404: 3, 410: 1'
    """
    shown = [f"{name}: {count}" for name, count in list(counts.items())[:4]]
    return ", ".join(shown) + (", …" if len(counts) > len(shown) else "")
