"""Scrapy projects of other people, and what Scrapy says when it runs in them."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.forked import run_scrapy, start_scrapy

ROOT = Path(__file__).parents[2]
HERE = [sys.executable, "-m", "scrapy"]  # what can be forked

# `pages` takes its items out of responses, `rows` yields them at once, as from a file.
SPIDERS = """
import asyncio
import scrapy


class Pages(scrapy.Spider):
    name = "pages"

    async def start(self):
        for i in range(int(self.count)):
            yield scrapy.Request(f"{self.url}/{i}")

    def parse(self, response):
        yield {"url": response.url, "html": response.text}


class Rows(scrapy.Spider):
    name = "rows"

    async def start(self):
        for i in range(int(self.count)):
            yield {"url": f"/{i}", "text": f"row {i} " * 9}
            await asyncio.sleep(0.01)
"""

SETTINGS = """
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
ROBOTSTXT_OBEY = False
RETRY_ENABLED = False
CONCURRENT_REQUESTS_PER_DOMAIN = 4
DOWNLOAD_DELAY = 0
"""


class Run(NamedTuple):
    """What became of a command."""

    code: int
    output: str
    log: str
    items: list[dict[str, Any]]

    @property
    def stats(self) -> dict[str, Any]:
        """The statistics in the log of a crawl: texts and numbers."""
        lines = re.findall(r"^[ {]'([^']+)': ('[^']*'|\d+)[,}]", self.log, re.MULTILINE)
        return {name: ast.literal_eval(value) for name, value in lines}


class Project:
    """A Scrapy project with the spiders above, run with this or another Python."""

    def __init__(self, folder: Path, python: str = sys.executable, path: str = str(ROOT)) -> None:
        self.folder = folder
        self.python = python
        self.prefix: list[str] = []  # what commands begin with
        self.environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default"}

    def write(self, package: str, settings: str) -> None:
        """Lay a project by hand."""
        spiders = self.folder / package / "spiders"
        spiders.mkdir(parents=True)
        (self.folder / "scrapy.cfg").write_text(f"[settings]\ndefault = {package}.settings\n")
        (self.folder / package / "__init__.py").touch()
        (spiders / "__init__.py").write_text(SPIDERS)
        (self.folder / package / "settings.py").write_text(
            f'SPIDER_MODULES = ["{package}.spiders"]\n{SETTINGS}\n{settings}\n'
        )

    def command(self, *words: str, **settings: Any) -> list[str]:
        pairs = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        return [*self.prefix, self.python, "-m", "scrapy", *words, *pairs]

    def start(self, *words: str, **settings: Any) -> subprocess.Popen[str]:
        """Start a command; :meth:`end` waits for it."""
        command = self.command(*words, **settings)
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        if command[:3] == HERE:
            return start_scrapy(command[3:], self.folder, env=self.environment, **pipes)
        return subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True, **pipes)

    def end(self, process: subprocess.Popen[str]) -> Run:
        output, log = process.communicate(timeout=110)
        return self._run(process.returncode, output, log)

    def scrapy(self, *words: str, **settings: Any) -> Run:
        """Run a command to its end."""
        command = self.command(*words, **settings)
        if command[:3] != HERE:
            return self.end(self.start(*words, **settings))
        ended = run_scrapy(command[3:], self.folder, self.environment)
        return self._run(ended.returncode, ended.stdout, ended.stderr)

    def _run(self, code: int, output: str, log: str) -> Run:
        feed = self.folder / "items.jsonl"
        lines = feed.read_text().splitlines() if feed.exists() else []
        return Run(code, output, log, [json.loads(line) for line in lines])
