"""What a release promises: its versions, its parts, its licences, its types."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import crawler
from crawler.dedup.errors import EXTRAS
from tests.support.licences import COMPATIBLE, PAGE, installed_libraries, project_requirements
from tests.support.lowest import lowest, project, read
from tests.support.release import FILLED_IN, unfinished

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "crawler").rglob("*.py"))
# In a fresh interpreter a crawl with the filter loads these and what Scrapy itself loads; some are
# what redis needs, on some Pythons.
LIGHT = {"crawler", "numpy", "chardetng_py", "redis", "xxhash", "jwt", "async_timeout"}
# Modules that are not named as the library that brings them.
LIBRARIES = {"bs4": "beautifulsoup4", "compression": "backports-zstd"}
STDLIB = set(sys.stdlib_module_names)

USER = '''
"""A user's project, as strict about types as this one."""

from pathlib import Path
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy_neardup import Addon, DroppedPage, DuplicatePipeline, NearDuplicate
from scrapy_neardup.chrome import MainText, strip_chrome
from scrapy_neardup.dedup import DedupConfig, DuplicateIndex, Estimate, Kind, Sketcher, Verdict
from scrapy_neardup.dedup import containment, estimate, jaccard, shingle_hashes

page: MainText = strip_chrome("<p>text</p>", url="https://example.com/")
similarity: float = jaccard(shingle_hashes(page.text), shingle_hashes(page.title))
part: float = containment(shingle_hashes("a", unit="char", size=1), shingle_hashes("b"))
sketcher = Sketcher(num_hashes=128, size=5, seed=1)
one, two = sketcher.sketch_many(["a b c d e f", "a b c d e g"])
guess: Estimate = estimate(one, two)
reasons: list[type[DroppedPage]] = [NearDuplicate]


async def check(url: str, text: str) -> Verdict:
    config = DedupConfig(data_dir=Path("index"), threshold=0.9)
    async with DuplicateIndex.open(config) as index:
        verdict = await index.check(url, text)
        many: list[Verdict] = await index.check_many([(url, text)])
        assert many[0].kind is Kind.UNCHANGED
    return verdict


def pipeline(crawler: Crawler) -> DuplicatePipeline:
    Addon().update_settings(crawler.settings)
    return DuplicatePipeline.from_crawler(crawler)


class Own(Spider):
    name = "own"
'''


def test_there_is_one_version(wheel: Path) -> None:
    """Wheel and citation have the version of the package; the changelog has an entry for it."""
    version = crawler.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version)
    assert wheel.name.split("-")[1] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## [{version}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_what_a_tag_needs_is_told(tmp_path: Path) -> None:
    """Each file that is not filled in is named, and nothing once all are."""
    filled = {
        "CHANGELOG.md": f"## [Unreleased]\n\n## [{crawler.__version__}] - 2026-11-27\n\n### Added",
        "pyproject.toml": '[project.urls]\nSource = "https://example.com"',
        "mkdocs.yml": "repo_url: https://x.test\nedit_uri: edit/main/docs/\nsite_url: https://x.test",
        "CITATION.cff": "repository-code: https://x.test\ndate-released: 2026-11-27",
        "README.md": '```sh\npip install "scrapy-neardup[embedded]"\n```',
        "docs/start/first-crawl.md": '```sh\npip install "scrapy-neardup[embedded]"\n```',
    }
    assert filled.keys() == FILLED_IN.keys()
    (tmp_path / "docs" / "start").mkdir(parents=True)
    for name, text in filled.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert unfinished(tmp_path) == []
    for name, text in filled.items():
        (tmp_path / name).write_text(re.sub(r"\[|:(?= )|=(?= )", "", text), encoding="utf-8")
        assert unfinished(tmp_path) == [name]
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(
        filled["CHANGELOG.md"].replace("\n\n", "\n\n- An entry.\n\n", 1), encoding="utf-8"
    )
    assert unfinished(tmp_path) == ["CHANGELOG.md"]


def test_the_citation_can_be_read() -> None:
    """Each work that is cited has authors, a title, a year and what it is used for."""
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["license"] == project()["license"]
    for work in found["references"]:
        assert work.keys() >= {"type", "title", "authors", "year", "notes"}, work


def test_each_work_that_the_code_names_is_cited() -> None:
    """A title in quotation marks before a year, in a docstring or comment, is in CITATION.cff."""
    references = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    titles = " | ".join(work["title"] for work in references).lower()
    named = set()
    for path in [*SOURCES, *(ROOT / "crawler").rglob("*.lua")]:
        text = re.sub(r"\s+(#|--)?\s*", " ", path.read_text(encoding="utf-8"))
        named |= set(re.findall(r'"([A-Z0-9][^"]{14,120})",? [^"]{0,30}?\b(?:19|20)\d\d\b', text))
    assert len(named) > 10
    assert {title for title in named if title.lower() not in titles} == set()


def test_sdist_and_wheel_are_fit_for_an_index(tmp_path: Path) -> None:
    """`python -m build` makes both, the wheel from the sdist, and twine accepts them."""
    build = [sys.executable, "-m", "build", "--no-isolation", "-o", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, env={**os.environ, "NEARDUP_PURE": "1"})
    made = sorted(path.name.rpartition("-")[2] for path in tmp_path.iterdir())
    assert made == [f"{crawler.__version__}.tar.gz", "any.whl"]
    check = [sys.executable, "-m", "twine", "check", "--strict", *map(str, tmp_path.iterdir())]
    checked = subprocess.run(check, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(("value", "pure"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_how_compiling_is_skipped(monkeypatch: pytest.MonkeyPatch, value: str, pure: bool) -> None:
    """NEARDUP_PURE=0 asks for compiled modules; it left them out."""
    monkeypatch.setenv("NEARDUP_PURE", value)
    assert runpy.run_path(str(ROOT / "hatch_build.py"))["is_set"]("NEARDUP_PURE") is pure


def test_importing_the_pipelines_loads_nothing_heavy() -> None:
    """What is not used is not imported: no table, no browser of encodings, no dictionaries."""
    code = (
        "import sys, scrapy.crawler, itemadapter, itemadapter.adapter, scrapy.utils.misc;"
        "before = {name.partition('.')[0] for name in sys.modules};"
        "import crawler.pipelines, crawler.addon;"
        "print(*({name.partition('.')[0] for name in sys.modules} - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    loaded = {name for name in run.stdout.split() if not name.startswith("_cython_")}
    assert loaded - STDLIB <= LIGHT


def imports(tree: ast.AST, *, everywhere: bool) -> set[str]:
    """The top-level names of the modules that are imported: everywhere, or not in functions."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").partition(".")[0])
        elif everywhere or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.If)):
            found |= imports(node, everywhere=everywhere)
    return found - STDLIB


@cache
def modules() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def library(module: str) -> str:
    """The distribution that brings a module."""
    names = modules().get(module, [])
    return re.sub(r"[-_.]+", "-", (names or [LIBRARIES.get(module, module)])[0]).lower()


def test_what_is_imported_is_installed() -> None:
    """All that is imported is a dependency or of an extra; a module's head needs no extra.

    Only the rooms for Spark and for the web page, which are imported when they are used, may need
    theirs at their head.
    """
    core = {Requirement(line).name.lower() for line in project()["dependencies"]}
    core |= {"parsel", "twisted"}  # whose objects Scrapy hands out
    known = core | {Requirement(line).name.lower() for line in project_requirements()}
    known |= {found.name for found in installed_libraries()}
    for path in SOURCES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert {library(name) for name in imports(tree, everywhere=True)} <= known, path
        if not {"offline", "report"} & set(path.parts):
            assert {library(name) for name in imports(tree, everywhere=False)} <= core, path


def test_requirements_are_those_of_the_package() -> None:
    """The files for working in a clone hold what the package needs, and all extras."""
    files = {}
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        files[name] = {line for line in lines if line and line[0].isalpha()}
    needed = {*project()["dependencies"], *project()["optional-dependencies"]["embedded"]}
    needed |= {line for line in read("build-system")["requires"] if not line.startswith("hatch")}
    assert files["requirements.txt"] == needed
    together = {Requirement(line).name for line in files["requirements.txt"]}
    together |= {Requirement(line).name for line in files["requirements-dev.txt"]}
    assert {Requirement(line).name for line in project_requirements()} <= together


def test_a_clone_is_told_the_libraries_of_an_extra() -> None:
    """What is missing there is installed alone: the package is not installed once more for it."""
    for extra, libraries in EXTRAS.items():
        needed = {Requirement(one).name for one in project()["optional-dependencies"][extra]}
        assert set(libraries.split()) == needed


def test_each_dependency_has_a_lower_bound() -> None:
    """`make min` has an exact version for each."""
    pinned = r"[a-z0-9-]+==[\d.]+(; python_version \S+ '[\d.]+')?"
    assert all(re.fullmatch(pinned, line) for line in lowest())


def test_licences_are_listed_and_compatible() -> None:
    """All that is installed here for the package may be used with it; what it names is listed."""
    for found in installed_libraries():
        assert COMPATIBLE.match(found.licence), found
    # What these need in turn changes with their versions.
    listed = set(re.findall(r"^\| (\S+) \| .+ \|$", PAGE.read_text(encoding="utf-8"), re.M))
    named = {Requirement(line).name.lower() for line in project_requirements()}
    assert named <= listed, "python -m tests.support.licences"


def test_the_workflow_runs_the_same_check() -> None:
    """The hosted check is the one of this repository and nothing else, on each Python named."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project()["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == named


def test_the_workflow_of_a_release_is_make_release() -> None:
    """A tag builds and tries what `make release` builds and tries here."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))
    (job,) = workflow["jobs"].values()
    assert [step["run"] for step in job["steps"] if "run" in step] == ["make release"]
    assert "\nrelease:" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_user_may_be_strict_about_types(installed: str, tmp_path: Path) -> None:
    """mypy --strict passes on a project that uses the public names of the wheel."""
    (tmp_path / "user.py").write_text(USER)
    words = ["-m", "mypy", "--strict", "--python-executable", installed, "user.py"]
    words += ["--cache-dir", str(ROOT / ".mypy_cache")]  # of numpy and others
    run = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=110
    )
    assert run.returncode == 0, run.stdout
