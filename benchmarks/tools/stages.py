"""Where a crawl's CPU goes, by stage: what the process was at, a thousand times a second of CPU.

A signal comes with each millisecond of CPU.  The innermost function that belongs to a stage has it;
what compiled code takes is its caller's.  CPU of other threads goes to where the main one is, so it
shows as waiting when that is idle.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Final

EVERY: Final = 0.001  # seconds of CPU
STAGES: Final = {
    "parse": ("crawler/chrome/page", "lxml", "parsel", "bs4"),
    "links": ("crawler/spiders/links", "scrapy/linkextractors", "w3lib", "urllib/parse"),
    "main text": ("crawler/chrome/judge", "crawler/chrome/extract", "crawler/chrome/main_text"),
    "template": ("crawler/chrome/template", "crawler/pipelines/templates"),
    "fingerprint": ("crawler/dedup/fingerprint", "crawler/dedup/sketches", "crawler/dedup/text"),
    "exchange": ("crawler/dedup/exchange", "crawler/dedup/store", "/redis/"),
    "archive": ("crawler/dedup/archive",),
    "spared requests": ("crawler/dedup/urls", "crawler/pipelines/spared"),
    "rest of the add-on": ("crawler/",),
    "download": ("scrapy/core/downloader", "twisted/web", "scrapy/downloadermiddlewares"),
    "waiting": ("selectors.py",),
    "Scrapy": ("scrapy/", "twisted/", "asyncio/"),
}
OTHER: Final = "Python"
ROOT: Final = str(Path(__file__).resolve().parents[2]) + "/crawler/"


class Sampler:
    """Counts milliseconds of CPU by stage, from `start` to `stop`, in the main thread."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._of_file: dict[str, str | None] = {}

    def start(self) -> None:
        """Begin to count."""
        signal.signal(signal.SIGPROF, self._count)
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)

    def stop(self) -> dict[str, float]:
        """Return the seconds of each stage."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        return {stage: self.counts[stage] * EVERY for stage in (*STAGES, OTHER)}

    def _count(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if stage := self._stage_of(frame.f_code.co_filename):
                self.counts[stage] += 1
                return
            frame = frame.f_back
        self.counts[OTHER] += 1

    def _stage_of(self, file: str) -> str | None:
        if file not in self._of_file:
            name = "crawler/" + file[len(ROOT) :] if file.startswith(ROOT) else file
            name = name.rpartition("site-packages/")[2]
            self._of_file[file] = find_stage(name)
        return self._of_file[file]


def find_stage(file: str) -> str | None:
    """Return the stage that a file belongs to, by its path below the package's or Python's folder.

    >>> find_stage("crawler/chrome/judge/model.py"), find_stage("/usr/lib/python3/json/decoder.py")
    ('main text', None)
    """
    for stage, parts in STAGES.items():
        if any(part in file for part in parts):
            return stage
    return None
