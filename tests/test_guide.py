"""The guide's rules: short sentences, few words, and every name that users meet explained."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.dedup import DedupConfig, Kind, Verdict
from crawler.dedup.parsing import setting_name
from tests.support.markdown import ROOT

DOCS = ROOT / "docs"
# Pages for users; beside them are notes of research, and what those who change the code read.
GUIDE = [
    ROOT / "README.md",
    *sorted(
        path
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).parts[0] not in {"research", "project"}
    ),
]
MOST_WORDS = 30_000
LONGEST_SENTENCE = 35
CODE = re.compile(r"^```.*?^```$|<!--.*?-->", re.DOTALL | re.MULTILINE)
# Where a paragraph, an item of a list, a row of a table or a heading begins.
PART = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[|#])")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"”)*]*\s+(?=[A-Z\[`\"“*(\d])")
STATISTIC = re.compile(r'f?"((?:dedup|site)/[a-z_]\w*(?:/[\w{]+)?/?)')


def prose(path: Path) -> str:
    return CODE.sub("", path.read_text(encoding="utf-8"))


def sentences(text: str) -> Iterator[str]:
    """The sentences of a page; those in the cells of tables, too. Code and links are a word."""
    plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`\n]*`", "X", text))
    for part in PART.split(plain):
        for cell in part.split("|") if part.startswith("|") else [part]:
            yield from SENTENCE_END.split(cell)


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.name)
def test_no_sentence_is_endless(path: Path) -> None:
    """A sentence that has to be read twice is two."""
    long = [one for one in sentences(prose(path)) if len(one.split()) > LONGEST_SENTENCE]
    assert long == []


def test_the_guide_can_be_read() -> None:
    """All pages for users have no more words than a short book."""
    assert sum(len(prose(path).split()) for path in GUIDE) <= MOST_WORDS


def test_each_setting_can_be_linked() -> None:
    """Each has a row of its own in one of the tables, and an anchor in it."""
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")
    names = [setting_name(item) for item in dataclasses.fields(DedupConfig)]
    rows = re.findall(r'^\| <a id="(\w+)"></a>`(\w+)` \|', page, re.MULTILINE)
    assert sorted(rows) == sorted((name.lower(), name) for name in names)


def test_each_part_of_a_verdict_is_explained() -> None:
    """The reference has a row for each kind and for each key of a tag."""
    page = (DOCS / "reference" / "verdict.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    keys = {item.name for item in dataclasses.fields(Verdict)}
    assert listed == {str(kind) for kind in Kind} | keys


def test_each_statistic_is_explained() -> None:
    """What the code counts under `dedup/` and `site/` is in the reference, and nothing else."""
    page = (DOCS / "reference" / "statistics.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`([\w/]+)`", row)}
    counted = {f"dedup/{kind}" for kind in Kind}
    for folder in ("pipelines", "spiders"):
        for path in (ROOT / "crawler" / folder).rglob("*.py"):
            counted |= set(STATISTIC.findall(path.read_text(encoding="utf-8")))
    fixed = {name for name in counted if "{" not in name}
    families = {name.partition("{")[0] for name in counted - fixed} - {"dedup/"}
    variable = {name for name in listed if re.search(r"/[A-Z]", name)}
    assert {re.sub(r"[A-Z]+$", "", name) for name in variable} == families
    assert listed - variable == fixed


def test_each_page_has_one_title() -> None:
    """A page of the site begins with its only heading of the first level."""
    for path in GUIDE:
        text = prose(path).lstrip()
        assert text.startswith("# "), path
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, path
