"""The state of a crawl in its JOBDIR."""

from __future__ import annotations

import json
import logging
import pickle
import shutil
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from scrapy import signals
from scrapy.utils.job import job_dir
from scrapy.utils.request import request_from_dict

from ...dedup.store.messages import UNANNOUNCED, Crawl
from ..stopping import describe_loss, fail_at_end, watch_output
from .doubtful import Doubtful
from .memory import Dropped
from .running import RunningMark

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler

    from ...dedup.config import DedupConfig
    from ...dedup.index import DuplicateIndex

Page = TypeVar("Page", Dropped, Doubtful)

logger = logging.getLogger(__name__)

MARK: Final = "dedup.json"
SPARED: Final = "dedup-spared.pickle"  # what a paused crawl knew of its sites
_NO_CRAWL: Final = (0, 0)  # in place of a number and a start
# Scrapy's files in a JOBDIR: the requests that were made, and those that wait.
_SEEN: Final = "requests.seen"
_WAITING: Final = "requests.queue"


class Job:
    """The state of a crawl, with or without a JOBDIR.

    While it runs, a mark is in the JOBDIR; if the process is killed, the mark stays. The next start
    finds it and by default makes all requests again: some requests that Scrapy counts as done were
    not, and waiting ones were lost. Pages that the killed crawl has kept may be in no feed: it is
    told to the index, and so is one that :class:`~.running.RunningMark` finds without a JOBDIR. A
    paused crawl replaces the mark by the state that is needed to continue.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._left: dict[str, Any] = {}  # the state left by the previous process
        self._state: dict[str, Any] = {}  # the state to leave if this process is killed
        self._paused: dict[str, Any] | None = None  # the state to leave if the crawl is paused
        self._reason = ""
        self._index = ""  # its digest
        self._crawler: Crawler | None = None
        self._running: RunningMark | None = None
        if folder is not None:
            with suppress(OSError, ValueError):
                self._left = json.loads((folder / MARK).read_text("utf-8"))
        left = self._left.get("crawl", _NO_CRAWL)
        # The crawl to continue; not the killed one, or its pages would be `repeated`.
        self._crawl = _NO_CRAWL if self.was_killed else left
        # The killed crawl, until the index knows of it.
        self._killed = self._left.get("killed") or (left if self.was_killed else _NO_CRAWL)

    @classmethod
    def of_crawl(cls, crawler: Crawler, config: DedupConfig) -> Self:
        """Look into the JOBDIR of a crawl, before Scrapy does."""
        folder = job_dir(crawler.settings)
        job = cls(Path(folder) if folder else None)
        job._crawler = crawler
        watch_output(crawler)
        fail_at_end(crawler, when=describe_loss)
        if job.was_killed:
            job._tell_course(config.on_interrupt == "again")
            if config.on_interrupt == "again":
                job._forget_requests()
        if folder:
            crawler.signals.connect(job.note_closed, signal=signals.spider_closed)
            crawler.signals.connect(job.remove_mark, signal=signals.engine_stopped)
        return job

    @property
    def was_killed(self) -> bool:
        """Whether the previous process was killed."""
        return bool(self._left.get("running"))

    def _tell_course(self, again: bool) -> None:
        logger.warning(
            "The crawl in JOBDIR %s was interrupted: %s. Pages that it has checked "
            "may be in no feed, and come as `updated`",
            self._folder,
            "all requests are made again (DEDUP_ON_INTERRUPT=resume continues instead)"
            if again
            else "it continues without the requests that were lost (DEDUP_ON_INTERRUPT=resume)",
        )

    def _forget_requests(self) -> None:
        assert self._folder is not None
        for name in (_SEEN, SPARED):  # the latter if it was killed while it paused
            (self._folder / name).unlink(missing_ok=True)
        shutil.rmtree(self._folder / _WAITING, ignore_errors=True)

    async def begin_crawl(self, index: DuplicateIndex) -> None:
        """Begin a crawl in the index, or continue the paused one.

        Raises :class:`DedupError` if the index gives no answer.
        """
        if self._left.get("index", index.digest) != index.digest:
            self._crawl = self._killed = _NO_CRAWL  # a new index has no page of these crawls
        self._index = index.digest
        self._write_state({"running": True} | self._crawls)
        index.crawl = UNANNOUNCED
        resumed, killed = (Crawl(*one) if one[0] else None for one in (self._crawl, self._killed))
        # Processes with one name are one crawl, also if one of them is killed.
        running = None if index.config.crawl else RunningMark(index)
        if running is not None:
            await running.report_past()
        crawl = await index.begin_crawl(resumed, killed=killed)
        if running is not None:
            running.hold(crawl)
        self._running = running
        if crawl.unended:
            logger.info(
                "Earlier crawls were killed, or have not ended yet: what they were the last to "
                "keep comes as `updated`"
            )
        self._crawl, self._killed = crawl[:2], _NO_CRAWL
        self._write_state({"running": True} | self._crawls)

    @property
    def _crawls(self) -> dict[str, Any]:
        killed = {"killed": self._killed} if self._killed[0] else {}
        return {"crawl": self._crawl, "index": self._index} | killed

    def read_pages(self, spider: Spider) -> tuple[dict[str, Dropped], dict[str, Doubtful]]:
        """The dropped pages and the doubtful copies that a paused crawl remembered."""
        return self._read("dropped", Dropped, spider), self._read("doubtful", Doubtful, spider)

    def _read(self, name: str, make: Callable[..., Page], spider: Spider) -> dict[str, Page]:
        found = {}
        for page in self._left.get(name, ()):
            with suppress(Exception):  # the spider may have other callbacks now
                known, packed = page
                # Scrapy's own queue in that folder is no safer.
                request, *rest = pickle.loads(b64decode(packed))
                found[known] = make(request_from_dict(request, spider=spider), *rest)
        return found

    @property
    def hosts(self) -> list[str]:
        """The hosts that a paused crawl had visited."""
        hosts: list[str] = self._left.get("hosts", [])
        return hosts

    def save_pages(
        self,
        pages: Mapping[str, Dropped],
        copies: Mapping[str, Doubtful],
        hosts: list[str],
        spider: Spider,
    ) -> None:
        """Save the state that is needed to continue."""
        self._paused = self._crawls | {
            "hosts": hosts,
            "dropped": _pack(pages, spider),
            "doubtful": _pack(copies, spider),
        }

    @property
    def can_go_on(self) -> bool:
        """Whether another process can continue the crawl."""
        return self._folder is not None

    def note_closed(self, reason: str) -> None:
        """Note why the spider was closed."""
        self._reason = reason

    @property
    def loss(self) -> str:
        """Why items of the crawl, which is over, may be in no output; '' if they are."""
        return describe_loss(self._crawler) if self._crawler is not None else ""

    def end_crawl(self, *, is_told: bool) -> None:
        """Note that the crawl ends, and whether the index is told."""
        if self._running is not None:
            self._running.release(is_told=is_told, failed=bool(self.loss))

    def remove_mark(self) -> None:
        """Remove the mark if all output is written."""
        if self._folder is None or not self._state or self.loss:
            return
        if self._reason == "finished" or self._paused is None:
            with suppress(OSError):
                (self._folder / MARK).unlink()
        else:
            self._write_state(self._paused)

    def _write_state(self, state: dict[str, Any]) -> None:
        self._state = state
        if self._folder is None:
            return
        try:
            new = self._folder / f"{MARK}.new"
            new.write_text(json.dumps(state), "utf-8")
            new.replace(self._folder / MARK)
        except OSError as error:
            logger.warning(
                "Could not write the mark of this crawl to JOBDIR %s: %s", self._folder, error
            )


def _pack(pages: Mapping[str, Page], spider: Spider) -> list[tuple[str, str]]:
    packed = []
    for known, (request, *rest) in pages.items():
        with suppress(Exception):  # callbacks that are not methods, as in Scrapy's queue
            assert request is not None
            fields = pickle.dumps((request.to_dict(spider=spider), *rest))
            packed.append((known, b64encode(fields).decode()))
    return packed
