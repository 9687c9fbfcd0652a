"""Compiles the package's `.pyx` modules; where there is no compiler, it does without them.

For a clone, `python hatch_build.py` puts the compiled modules beside their sources. Wheels are
built with them for one platform, or with NEARDUP_PURE=1 without them for all.  NEARDUP_IN_PLACE=1
has a wheel take those beside the sources, so that a clone compiles each only once.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # not needed to compile in a clone
    BuildHookInterface = dict  # type: ignore[assignment,misc]

ROOT = Path(__file__).parent
PACKAGE = "crawler"
SOURCES = sorted(path.relative_to(ROOT) for path in (ROOT / PACKAGE).rglob("*.pyx"))


def compiled(sources: Iterable[Path], folder: Path) -> dict[Path, Path]:
    """Return for the place of each module beside its source the compiled one below `folder`."""
    import lxml
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    modules = [
        Extension(
            ".".join(source.with_suffix("").parts),
            [str(ROOT / source)],
            include_dirs=lxml.get_include(),
            # Sums are numpy's to the last bit: not added up in one step with a multiplication.
            # -O3, which Python is built with, takes a third longer and makes no page faster.
            extra_compile_args=["-O2", "-g0", "-Wno-unused-function", "-ffp-contract=off"],
        )
        for source in sources
    ]
    modules = cythonize(modules, build_dir=str(folder), quiet=True)
    # What takes longest comes first, so that no processor waits for it at the end.
    modules.sort(key=lambda module: Path(module.sources[0]).stat().st_size, reverse=True)
    command: Any = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(folder)
    command.parallel = True  # as many at a time as there are processors
    command.ensure_finalized()
    command.run()
    made = (Path(command.get_ext_fullpath(module.name)) for module in modules)
    return {path.relative_to(folder): path for path in made}


def is_set(name: str) -> bool:
    """Whether an environment variable is set, and not to 0 or a word that says no."""
    return os.environ.get(name, "").lower() not in {"", "0", "false", "no", "off"}


class Compiled(BuildHookInterface[Any]):
    """Puts the compiled modules into the wheel, which then is one for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        if is_set("NEARDUP_PURE"):
            return
        try:
            if is_set("NEARDUP_IN_PLACE"):
                in_place()
                made = {place: ROOT / place for place in map(beside, SOURCES)}
            else:
                made = compiled(SOURCES, Path(self._folder.name))
        except Exception as error:  # no compiler, or none that works: of many kinds
            self.app.display_warning(f"Nothing is compiled, pages take longer: {error}")
            return
        for place, module in made.items():
            name = "scrapy_neardup" / place.relative_to(PACKAGE)
            build_data["force_include"][str(module)] = str(name)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


def beside(source: Path) -> Path:
    """Return the place of a source's compiled module beside it."""
    return source.with_suffix(EXTENSION_SUFFIXES[0])


def out_of_date() -> list[Path]:
    """Return the sources that have changed since they were compiled in place."""
    old = []
    for source in SOURCES:
        place = ROOT / beside(source)
        parts = [ROOT / source, *place.parent.rglob("*.pxi")]
        newest = max(part.stat().st_mtime for part in parts)
        if not place.exists() or place.stat().st_mtime < newest:
            old.append(source)
    return old


def in_place() -> None:
    """Put compiled modules beside those sources that have changed since."""
    if old := out_of_date():
        with tempfile.TemporaryDirectory() as name:
            for place, module in compiled(old, Path(name)).items():
                # Under another name first: a process that runs the old one would crash.
                written = (ROOT / place).with_suffix(".new")
                written.write_bytes(module.read_bytes())
                written.replace(ROOT / place)


def remedy(error: Exception) -> str:
    """Return what lets modules be compiled that could not be."""
    if isinstance(error, ImportError):
        return "pip install 'cython>=3.1' 'setuptools>=75' lxml"
    return "install a C compiler and Python's headers (Debian: apt install gcc python3-dev)"


if __name__ == "__main__":
    if number := len(out_of_date()):
        print(f"Compiling {number} modules (once), a minute or two …", flush=True)
    try:
        in_place()
    except Exception as error:  # of many kinds, as compilers have
        reason = " ".join(str(error).split())[:200]
        sys.exit(
            f"Nothing is compiled, so pages take two to three times as long: {reason}\n"
            f"To change that, {remedy(error)}, then: python hatch_build.py"
        )
