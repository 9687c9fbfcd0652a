"""The wheel in somebody else's project, whose own package has our repository's name."""

from __future__ import annotations

import json
import subprocess
import zipfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tests.spiders.webserver import Web
from tests.support.projects import ROOT, SETTINGS, SPIDERS, Project
from tests.support.wheel import site_packages


@pytest.fixture
def web(web: Web) -> Web:
    """Three pages, the last of which repeats the first."""
    for i in range(3):
        web.page(f"/{i}", text=f"page {i % 2} says {i % 2} times what none said before " * 3)
    return web


def test_contents(wheel: Path) -> None:
    """The wheel holds one package, with its types, scripts and weights, and nothing else."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"scrapy_neardup"}
    sources = {path.relative_to(ROOT / "crawler") for path in (ROOT / "crawler").rglob("*.*")}
    for path in sources:
        if "__pycache__" not in path.parts:
            assert f"scrapy_neardup/{path.as_posix()}" in names
    assert "scrapy_neardup/py.typed" in names


def test_what_is_compiled(wheel: Path, installed: str) -> None:
    """Where there is a compiler, the wheel has all compiled modules and names its platform."""
    pytest.importorskip("crawler.chrome.page._reader", reason="python hatch_build.py was not run")
    sources = (path.relative_to(ROOT / "crawler") for path in (ROOT / "crawler").rglob("*.pyx"))
    names = [".".join(("scrapy_neardup", *path.with_suffix("").parts)) for path in sources]
    code = f"from importlib import import_module as m; print(*(m(n).__file__ for n in {names}))"
    run = subprocess.run([installed, "-c", code], capture_output=True, text=True, check=True)
    assert names
    assert all(file.endswith(EXTENSION_SUFFIXES[0]) for file in run.stdout.split())
    assert not wheel.stem.endswith("any")


def test_no_name_of_the_repository() -> None:
    """No module says `crawler.` where it would mean this package: the wheel's name is another."""
    for path in (ROOT / "crawler").rglob("*.py"):
        for line in path.read_text().splitlines():
            assert not line.lstrip().startswith(("import crawler", "from crawler")), path
            assert '"crawler.' not in line, path


def test_beside_a_project_called_crawler(installed: str, tmp_path: Path, web: Web) -> None:
    """`scrapy startproject crawler`, one line, a crawl: one page of each, and a command to ask."""
    project = Project(tmp_path, installed, path="")
    assert project.scrapy("startproject", "crawler", ".").code == 0
    (tmp_path / "crawler" / "spiders" / "pages.py").write_text(SPIDERS)
    with (tmp_path / "crawler" / "settings.py").open("a") as settings:
        settings.write(SETTINGS + 'ADDONS = {"scrapy_neardup.Addon": 500}\n')

    run = project.scrapy(
        "crawl", "pages", "-a", f"url={web.url}", "-a", "count=3", "-O", "items.jsonl"
    )
    assert run.code == 0, run.log
    assert len(run.items) == 2
    assert {item["dedup"]["kind"] for item in run.items} == {"unique"}
    assert run.stats["item_dropped_reasons_count/ExactDuplicate"] == 1

    # From a subfolder, as people do: the index is the project's all the same.
    project.folder = tmp_path / "crawler" / "spiders"
    run = project.scrapy("dedup", "stats", "--json")
    assert run.code == 0, run.log
    assert json.loads(run.output)["verdicts"] == {"exact": 1, "unique": 2}
    assert (tmp_path / ".scrapy" / "dedup").is_dir()
    assert project.scrapy("dedup", "show", f"{web.url}/nowhere").code == 1


def test_outside_a_project(installed: str, tmp_path: Path) -> None:
    """Outside a project what needs an index says where there would be one, and makes none."""
    project = Project(tmp_path, path=str(site_packages(installed)))
    assert "dedup" in project.scrapy().output
    for words in (["stats"], ["clear", "--yes"], ["rename", "a", "b"]):
        run = project.scrapy("dedup", *words)
        assert run.code == 2
        assert "scrapy.cfg" in run.log
    assert "DEDUP_DROP" in project.scrapy("dedup", "settings").output
    assert not list(tmp_path.iterdir())


def test_a_spider_without_a_project(installed: str, tmp_path: Path, web: Web) -> None:
    """What `runspider` has crawled can be asked about in the folder where it ran."""
    project = Project(tmp_path, path=str(site_packages(installed)))
    (tmp_path / "pages.py").write_text(SPIDERS.partition("class Rows")[0])
    settings = {"ADDONS": '{"scrapy_neardup.Addon": 500}', "REMOTE_CONTROL_ENABLED": False}
    pages = ("-a", f"url={web.url}", "-a", "count=3")
    run = project.scrapy("runspider", "pages.py", *pages, **settings)
    assert run.stats["item_dropped_reasons_count/ExactDuplicate"] == 1
    run = project.scrapy("dedup", "stats", "--json")
    assert json.loads(run.output)["verdicts"] == {"exact": 1, "unique": 2}


def test_the_core_needs_no_scrapy(installed: str) -> None:
    """Whoever wants the index or the stripper alone loads no Scrapy."""
    words = "import sys, scrapy_neardup.dedup, scrapy_neardup.chrome"
    check = "assert not {'scrapy', 'twisted'} & set(sys.modules)"
    subprocess.run([installed, "-c", f"{words}; {check}"], check=True)


def test_a_missing_library_is_an_extra_of_the_package(installed: str) -> None:
    """What is said to be installed is the package by its name; in a clone it is the clone."""
    words = (
        "from scrapy_neardup.dedup.errors import MissingExtra as M; print(M('x', 'report', 'y'))"
    )
    run = subprocess.run([installed, "-c", words], check=True, capture_output=True, text=True)
    assert run.stdout == 'x needs pip install "scrapy-neardup[report]" (y)\n'
