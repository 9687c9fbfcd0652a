"""Every code block of every page is accounted for: run here, run elsewhere, or marked why not."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.dedup.config import DedupConfig
from crawler.dedup.errors import DedupError
from crawler.dedup.parsing import PREFIX
from crawler.dedup.store.server import faults
from examples.demo_site.server import DemoSite
from tests.support.forked import run_script, scrapy_program
from tests.support.markdown import DOCUMENTS, ROOT, blocks, examples, run_shell, shape
from tests.support.wheel import site_packages

# Pages whose shell blocks have a test of their own.
ELSEWHERE = {"README.md": "test_readme.py", "docs/reference/commands.md": "test_commands_md.py"}
# Languages of blocks that are no instructions.
SHOWN = {"text", "diff"}
PROSE = re.compile(r"^```.*?^```$|^---\n.*?^---$", re.DOTALL | re.MULTILINE)
LIST = re.compile(r"^\s*([-*]|\d+\.) ", re.MULTILINE)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def with_shell(path: Path) -> bool:
    here = name(path) not in ELSEWHERE and path.parent.parent != ROOT / "examples"
    return here and path.name != "CONTRIBUTING.md" and bool(examples(path))


def with_python(path: Path) -> bool:
    return any(one.language == "python" and one.mark != "not run" for one in blocks(path))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_every_block_is_accounted_for(path: Path) -> None:
    """A block is run by a test, is no instruction, or says why it is not run."""
    for block in blocks(path):
        where = f"{name(path)}:{block.line}"
        if block.mark == "not run":
            assert len(block.why.split()) > 2, f"{where}: no reason is given"
        else:
            assert block.language in {"sh", "python"} | SHOWN, f"{where}: {block.language!r}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_indented_blocks_are_benchmarks(path: Path) -> None:
    """Only the commands of benchmarks, which need data and time, are indented."""
    text = PROSE.sub("", path.read_text(encoding="utf-8"))
    for block in re.findall(r"(?:^|\n\n)((?: {4}.*\n?)+)", text):
        before = text[: text.index(block)].rstrip().rpartition("\n\n")[2]
        if LIST.match(before):
            continue  # it goes on with an item of a list
        for line in block.strip().splitlines():
            command = re.match(r"\s*python (benchmarks/[\w/]+\.py)(.*)", line)
            assert command, f"{name(path)}: fence this block: {line!r}"
            source = (ROOT / command[1]).read_text(encoding="utf-8")
            for option in re.findall(r"--[\w-]+", command[2].partition("#")[0]):
                assert f'"{option}"' in source, f"{name(path)}: {command[1]} has no {option}"


NAMED = {
    found for path in DOCUMENTS for found in re.findall(r"benchmarks/[\w/]+\.py", path.read_text())
}


@pytest.mark.parametrize("script", sorted(NAMED))
def test_benchmarks_start_in_a_clone(script: str, tmp_path: Path) -> None:
    """A benchmark that is named finds the code beside it, whatever the folder it is called from.

    One that needs data says so of a folder that has none.
    """
    needs_data = '"--data"' in (ROOT / script).read_text(encoding="utf-8")
    words = ["--data", "nowhere"] if needs_data else ["--help"]
    told = run_script(ROOT / script, words, tmp_path)
    assert (told.returncode != 0) == needs_data, told.stderr
    assert "Traceback" not in told.stderr
    assert ("nowhere" if needs_data else "usage") in told.stdout + told.stderr


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a clone has, so that nothing is written into this one."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "crawler").symlink_to(ROOT / "crawler")
    shutil.copytree(ROOT / "examples", folder / "examples")  # with what Python has compiled
    for part in ("settings.py", "scrapy.cfg"):
        shutil.copy(ROOT / part, folder)
    return folder


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if with_shell(path)], ids=name)
def test_shell_blocks(path: Path, clone: Path, installed: str) -> None:
    """Commands end without an error and print what is shown; a site on localhost is example.com."""
    with scrapy_program(site_packages(installed)) as programs, DemoSite() as site:
        programs_first = f"{programs}:{Path(installed).parent}:/usr/bin:/bin"
        environment = {"PATH": programs_first, "HOME": str(clone)}
        for example in examples(path):
            # Nobody else uses this site.
            hurry = f"url={site.urls['coast']}/ -s DOWNLOAD_DELAY=0 -s AUTOTHROTTLE_ENABLED=False"
            commands = example.commands.replace("url=https://example.com", hurry)
            output = run_shell(commands, clone, environment)
            if example.varies:
                assert shape(output) == shape(example.output or "")
            elif example.output is not None:
                assert output == example.output


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if with_python(path)], ids=name)
def test_python_blocks(path: Path, clone: Path, installed: str, tmp_path: Path) -> None:
    """The blocks of a page run one after the other; settings in them are ones that can be used."""
    parts = []
    for block in blocks(path):
        if block.language == "python" and block.mark != "not run":
            parts += [block.why] if block.mark == "given" else []
            parts.append(block.code)
    script = tmp_path / "page.py"
    script.write_text("\n".join(parts), encoding="utf-8")
    run = run_script(script, [], tmp_path, clone, site_packages(installed))
    assert run.returncode == 0, run.stderr
    pattern = rf"^({PREFIX}[A-Z_]+) = (.*?)(?:  #.*)?$"
    for part in parts:
        settings = re.findall(pattern, part, re.MULTILINE)
        DedupConfig.from_settings({key: eval(value) for key, value in settings})


@pytest.mark.parametrize(
    ("row", "source", "its_row"),
    [
        ("`fast`", "methods.md", "| `fast` | ."),
        ("datasketch, 256 values", "methods.md", "| datasketch, 256 values"),
        ("simhash, 64 bits", "methods.md", "| `simhash`, 64 bits"),
        ("TextProfileSignature (", "methods.md", "| TextProfileSignature ("),
        (".900", "main-text-figures.md", "| all 740 |"),
        ("bytes a kept page", "index-figures.md", "| datasketch"),
    ],
)
def test_the_comparison_quotes_its_sources(row: str, source: str, its_row: str) -> None:
    """Figures that the page of comparison takes from others are still theirs."""
    pages = [
        (ROOT / "docs" / "research" / name).read_text(encoding="utf-8")
        for name in ("comparison.md", source)
    ]
    quoted = next(line for line in pages[0].splitlines() if line.startswith(f"| {row}"))
    given = " ".join(line for line in pages[1].splitlines() if line.startswith(its_row))
    of_datasketch = quoted.split("|")[2] if row.startswith("bytes") else quoted
    for figure in re.findall(r"\d*[.,]\d{3}", of_datasketch):
        assert figure in given, figure


def test_each_error_is_explained() -> None:
    """The page about errors has every class of error and every fault of the server."""
    text = (ROOT / "docs" / "reference" / "troubleshooting.md").read_text(encoding="utf-8")
    found = {one for one in vars(faults).values() if isinstance(one, faults.Fault)}
    for fault in found:
        said = re.split("[;:]", fault.sentence)[0]
        row = re.search(rf"^\| {re.escape(said)} \| (yes|no) \|", text, re.MULTILINE)
        assert row, said
        assert (row[1] == "yes") is fault.passing, said
    waiting = list(DedupError.__subclasses__())
    while waiting:
        error = waiting.pop()
        waiting += error.__subclasses__()
        if error.__module__ == DedupError.__module__:
            assert f"| `{error.__name__}` |" in text, error.__name__


def test_the_site_is_built_strictly(tmp_path: Path) -> None:
    """Each page stands in the menu, each link leads somewhere, and nothing asks a network."""
    words = ["-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    run = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    loads = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\"' >]+")
    styles = re.compile(r"<link\b(?=[^>]*stylesheet)[^>]*href=[\"']?(?:https?:)?//[^\"' >]+")
    for page in tmp_path.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        assert not loads.findall(html) + styles.findall(html), page
    for picture in (ROOT / "docs").rglob("*.svg"):
        drawn = re.sub(r'xmlns(:\w+)?="[^"]*"|<!--.*?-->', "", picture.read_text(), flags=re.DOTALL)
        assert "//" not in re.sub(r">[^<]*<", "><", drawn), picture


def test_pictures_are_drawn_by_this_code(tmp_path: Path) -> None:
    """The pictures show what the code does now; benchmarks/tools/pictures.py draws them anew."""
    from benchmarks.tools.pictures import draw

    draw(tmp_path)
    for drawn in tmp_path.iterdir():
        kept = ROOT / "docs" / "pictures" / drawn.name
        assert kept.read_text(encoding="utf-8") == drawn.read_text(encoding="utf-8"), drawn.name
