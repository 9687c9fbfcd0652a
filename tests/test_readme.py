"""What the README says is true: its commands run, its figures are those of the demo site."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.console import summary_rows
from crawler.dedup.config import DedupConfig
from crawler.dedup.parsing import setting_name
from crawler.dedup.verdict import Kind
from examples.demo_site.pages import pages
from examples.demo_site.server import DemoSite
from tests.support.forked import scrapy_program
from tests.support.markdown import ROOT, alone, examples

README = (ROOT / "README.md").read_text(encoding="utf-8")
# It runs these very tests.
NOT_HERE = ("make test",)
CRAWL = "make crawl"  # of the demo site
ENVIRONMENT = Path(sys.executable).parents[1]


# Of the table in the recording: its first line, and the one below its last.
ENDS = ("pages fetched", "kept pages are in")


def recorded(picture: Path) -> list[str]:
    """The lines of a terminal's recording."""
    rows: dict[float, str] = {}
    for y, words in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', picture.read_text()):
        rows[float(y)] = rows.get(float(y), "") + html.unescape(words)
    return [" ".join(rows[y].split()) for y in sorted(rows)]


def shell_lines() -> list[str]:
    """The commands of all shell blocks that no comment marks as not run, in their order."""
    lines = [line for one in examples(ROOT / "README.md") for line in one.commands.splitlines()]
    return [line for line in lines if line not in NOT_HERE]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a clone has, so that nothing is written into this one."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "crawler").symlink_to(ROOT / "crawler")
    shutil.copytree(ROOT / "examples", folder / "examples")  # with what Python has compiled
    for name in ("settings.py", "scrapy.cfg", "Makefile", "requirements.txt"):
        shutil.copy(ROOT / name, folder)
    with (folder / "settings.py").open("a") as settings:
        settings.write("AUTOTHROTTLE_ENABLED = False\n")  # nobody else uses this site
    return folder


@pytest.fixture(scope="module")
def site() -> Iterator[DemoSite]:
    with DemoSite() as running:
        yield running


def run(project: Path, line: str) -> str:
    # The environment of these tests stands in for the one that make would set up.
    line = line.replace("make ", f"make -o {ENVIRONMENT}/crawl.stamp VENV={ENVIRONMENT} ", 1)
    with alone(), scrapy_program() as programs:
        path = os.pathsep.join([str(programs), f"{ENVIRONMENT}/bin", os.environ["PATH"]])
        done = subprocess.run(
            line,
            shell=True,
            cwd=project,
            env={**os.environ, "PATH": path, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def titles(project: Path) -> list[str]:
    lines = (project / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["title"].partition(" | ")[0] for line in lines]


@pytest.fixture(scope="module")
def crawled(project: Path) -> tuple[str, list[str]]:
    """What `make crawl` prints, and the titles of the pages that it keeps."""
    return run(project, CRAWL), titles(project)


@pytest.mark.parametrize("line", shell_lines())
def test_each_command_runs(
    project: Path, site: DemoSite, crawled: tuple[str, list[str]], line: str
) -> None:
    """Every command shown ends without an error; the demo site stands in for example.com."""
    if line == CRAWL:
        assert crawled[0]
    else:
        assert run(project, line.replace("https://example.com", f"{site.urls['coast']}/"))


def test_the_figures_of_the_demo_site_are_true(
    project: Path, crawled: tuple[str, list[str]], tmp_path: Path
) -> None:
    """The table of before and after is what two crawls give."""
    found = re.findall(r"^\| ([^|`]+?)(?: \([^)]*\))? \| (\d+) \| (\d+) \|$", README, re.MULTILINE)
    assert len(found) == 3
    run(project, f'{CRAWL} ARGS="-s DEDUP_DATA_DIR={tmp_path} -s DEDUP_DROP="')
    counts = [
        {title: kept.count(title) or len(kept) for title, _, _ in found}
        for kept in (titles(project), crawled[1])
    ]
    for title, without, with_it in found:
        assert (counts[0][title], counts[1][title]) == (int(without), int(with_it)), title
    shown = recorded(ROOT / "docs" / "pictures" / "crawl.svg")
    real = [" ".join(line.split()) for line in crawled[0].splitlines()]
    start, end = (next(n for n, line in enumerate(shown) if sought in line) for sought in ENDS)
    expected = shown[start:end]
    assert [line for line in expected if line not in real] == []
    assert len(expected) == len(summary_rows({}))
    assert f"all {sum(page.view != 'noindex' for page in pages())} pages" in README


def test_settings_and_verdicts_are_those_of_the_code() -> None:
    """Each setting in the README exists with the default shown; no verdict is left out."""
    defaults = {setting_name(item): item.default for item in dataclasses.fields(DedupConfig)}
    listed = dict(re.findall(r"^\| `(DEDUP_\w+)` \| (?:`([^`]*)`)? *\|", README, re.MULTILINE))
    assert len(listed) > 5
    for name, shown in listed.items():
        value = defaults[name]
        text = ",".join(sorted(value)) if isinstance(value, frozenset) else str(value or "")
        assert shown == text, name
    verdicts = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \|$", README, re.MULTILINE)
    assert [name for name in verdicts if not name.isupper()] == list(Kind)
