"""The wheel of this package, and fresh environments that have it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_wheel(folder: Path) -> Path:
    """Build the wheel into `folder`."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    once = {**os.environ, "NEARDUP_IN_PLACE": "1"}  # the tests have compiled all, if they could
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True, env=once)
    return next(folder.glob("*.whl"))


def site_packages(python: str) -> Path:
    """Where the environment of a Python has its packages."""
    return next(Path(python).parents[1].glob("lib/python*/site-packages"))


def install_wheel(wheel: Path, folder: Path) -> str:
    """A fresh environment with the wheel; what it depends on comes from this one. Its Python."""
    venv.create(folder, symlinks=True)
    executable = folder / "bin" / "python"
    here = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (site_packages(str(executable)) / "here.pth").write_text("\n".join(here))
    words = [sys.executable, "-m", "pip", "--python", str(executable), "install", "--no-deps"]
    subprocess.run([*words, "--no-index", "-q", str(wheel)], check=True)
    command = executable.with_name("scrapy")
    command.write_text(f"#!{executable}\nfrom scrapy.cmdline import execute\nexecute()\n")
    command.chmod(0o755)
    return str(executable)
