"""What others may import: little, and all of it explained."""

from __future__ import annotations

import inspect
import re
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import crawler
import crawler.chrome
import crawler.dedup

ROOT = Path(__file__).parents[1]
_IMPORT = re.compile(r"^ *from (\.+)([\w.]*) import (.+)", re.MULTILINE)
FACES = (crawler, crawler.dedup, crawler.chrome)


def names() -> list[tuple[ModuleType, str]]:
    return [(face, name) for face in FACES for name in face.__all__]


def members(value: Any) -> dict[str, Any]:
    """The public methods and properties that a class of this package has of its own."""
    if not inspect.isclass(value):
        return {}
    kinds = (property, classmethod, staticmethod)
    return {
        name: member
        for name, member in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, kinds))
    }


@pytest.mark.parametrize(("face", "name"), names(), ids=lambda one: getattr(one, "__name__", one))
def test_every_public_name_is_explained(face: ModuleType, name: str) -> None:
    """Each has a docstring of its own, and so has each method that a user may call."""
    value = getattr(face, name)
    text = value.__doc__ or ""
    assert len(text.split()) > 3, name
    assert not text.startswith(f"{name}("), f"{name}: dataclasses write that by themselves"
    for member, function in members(value).items():
        assert inspect.getdoc(function) or inspect.getdoc(getattr(value, member)), member


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_faces_are_short_sorted_and_hold_nothing_private(face: ModuleType) -> None:
    """`__all__` can be read at a glance."""
    assert len(face.__all__) <= 20
    assert face.__all__ == sorted(face.__all__)
    assert not [name for name in face.__all__ if name.startswith("_")]


def test_every_reason_for_a_drop_is_public() -> None:
    """Who handles `item_dropped` can tell all reasons apart by their classes."""
    reasons = {one.__name__ for one in crawler.DroppedPage.__subclasses__()}
    assert reasons == {"ExactDuplicate", "NearDuplicate", "ContainedPage"}
    assert reasons <= set(crawler.__all__)


@pytest.mark.parametrize("name", ["shingle_hashes", "jaccard", "containment", "estimate"])
def test_numbers_say_what_they_are(name: str) -> None:
    """Functions of numbers state what goes in and out: shapes and types, ranges, sources."""
    text = inspect.getdoc(getattr(crawler.dedup, name)) or ""
    assert "Parameters\n---" in text
    assert "Returns\n---" in text
    assert re.search(r"\buint(32|64)\b", text)
    assert re.search(r"\bof (equal )?shapes? \(", text)
    assert re.search(r'"[^"]+",\s\d{4}\b', text), "no source"
    if name != "shingle_hashes":
        assert re.search(r"\b0 to 1\b", text)


def test_the_documentation_imports_public_names_only() -> None:
    """What the pages show is what may be relied on."""
    shown = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("examples/*/*.md")]
    for page in shown:
        text = page.read_text(encoding="utf-8")
        for module, imported in re.findall(
            r"^from (scrapy_neardup\S*) import ([\w, ]+)", text, re.M
        ):
            face = import_module(module.replace("scrapy_neardup", "crawler"))
            public = getattr(face, "__all__", None) or vars(face)
            for name in imported.split(","):
                assert name.strip() in public, f"{page.name}: {module}.{name}"


def imports_of(path: Path) -> set[Path]:
    """The files of the package that a file imports from, for its types as well."""
    found = set()
    for dots, module, names in _IMPORT.findall(path.read_text(encoding="utf-8")):
        base = path.parents[len(dots) - 1].joinpath(*module.split("."))
        named = [base] if module else [base / name for name in re.findall(r"\w+", names)]
        found |= {file for one in named if (file := one.with_suffix(".py")).exists()}
    return found


def test_no_files_import_each_other() -> None:
    """Not even for their types: a file can be read without those that build on it."""
    circle: list[Path] = []
    try:
        TopologicalSorter(
            {path: imports_of(path) for path in (ROOT / "crawler").rglob("*.py")}
        ).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert not circle
