"""``python -m tests.support.release FOLDER``: what a release uploads, built, checked and tried.

Builds the sdist, a wheel with compiled modules and one without into FOLDER, has twine check them,
installs each into a fresh environment, with all that it depends on from the package index, and
crawls with it. The sdist finds no compiler. Lists what CONTRIBUTING.md asks to fill in before the
tag and is not filled in: an error where GitHub builds a tag. Exit code 1 if anything fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import crawler
from tests.support.pythons import try_python

ROOT = Path(__file__).parents[2]
PURE = {"NEARDUP_PURE": "1"}
# What a clone has compiled already is taken into the wheel.
COMPILED = {"NEARDUP_IN_PLACE": "1"}
NO_COMPILER = {"CC": "there-is-no-compiler"}
# Before the tag each of these files has such lines.
FILLED_IN = {
    "CHANGELOG.md": [
        r"## \[Unreleased\]\n+(?=## )",
        rf"## \[{re.escape(crawler.__version__)}\] - \d{{4}}-\d\d-\d\d$",
    ],
    "pyproject.toml": ["Source = "],
    "mkdocs.yml": ["repo_url: http", "edit_uri: ", "site_url: http"],
    "CITATION.cff": ["repository-code: http", "date-released: "],
    "README.md": [r'pip install "scrapy-neardup\[embedded\]"$'],
    "docs/start/first-crawl.md": [r'pip install "scrapy-neardup\[embedded\]"$'],
}


def unfinished(root: Path) -> list[str]:
    """The files in which a line is missing that a release needs."""
    return [
        name
        for name, lines in FILLED_IN.items()
        for text in [(root / name).read_text(encoding="utf-8")]
        if not all(re.search(f"^{line}", text, re.MULTILINE) for line in lines)
    ]


def build(folder: Path, form: str, settings: Mapping[str, str]) -> None:
    """Build an sdist or a wheel."""
    words = [sys.executable, "-m", "build", "--no-isolation", f"--{form}", "-o", folder, ROOT]
    environment = {**os.environ, **settings}
    subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)


def main() -> int:
    """Build, check and try."""
    if left := unfinished(ROOT):
        print(f"To fill in before the tag, see CONTRIBUTING.md: {', '.join(left)}", file=sys.stderr)
        if os.environ.get("GITHUB_REF_TYPE") == "tag":
            return 1
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        print(f"{folder} is not empty: remove it, so that nothing old is uploaded", file=sys.stderr)
        return 1
    build(folder, "sdist", PURE)
    build(folder, "wheel", COMPILED)
    build(folder, "wheel", PURE)
    files = sorted(folder.iterdir())
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    failed = 0
    for place, file in enumerate(files):
        with tempfile.TemporaryDirectory() as name:
            error = try_python(sys.executable, file, Path(name), NO_COMPILER)
        print(f"{place + 1}/{len(files)} {file.name}: {error or 'installs, crawls'}", flush=True)
        failed += bool(error)
    if len(files) != 3:
        print("There is no compiled wheel: is there a C compiler?", file=sys.stderr)
    return int(failed > 0 or len(files) != 3)


if __name__ == "__main__":
    sys.exit(main())
