"""Compiles `crawler/chrome/walk.pyx` for wheels; without a compiler they go without it.

For a clone, `python hatch_build.py` puts the compiled module beside its source. With NEARDUP_PURE=1
a wheel is built without it, for all platforms.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SOURCE = Path("crawler/chrome/walk.pyx")


def compiled(folder: Path) -> Path:
    """Return the compiled module, below `folder`."""
    import lxml
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    name = ".".join(SOURCE.with_suffix("").parts)
    module = Extension(
        name,
        [str(ROOT / SOURCE)],
        include_dirs=lxml.get_include(),
        extra_compile_args=["-g0", "-Wno-unused-function"],
    )
    modules = cythonize([module], build_dir=str(folder), quiet=True)
    command: Any = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath(name))


class CompiledWalk(BuildHookInterface[Any]):
    """Puts the compiled module into the wheel, which then is one for this platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        if os.environ.get("NEARDUP_PURE"):
            return
        try:
            module = compiled(Path(self._folder.name))
        except Exception as error:  # no compiler, or none that works: of many kinds
            self.app.display_warning(f"{SOURCE} is not compiled, pages take longer: {error}")
            return
        build_data["force_include"][str(module)] = f"scrapy_neardup/chrome/{module.name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


def in_place() -> Path:
    """Return the compiled module beside its source, made anew if that has changed."""
    source = ROOT / SOURCE
    place = source.with_suffix(EXTENSION_SUFFIXES[0])
    if not place.exists() or place.stat().st_mtime < source.stat().st_mtime:
        with tempfile.TemporaryDirectory() as name:
            place.write_bytes(compiled(Path(name)).read_bytes())
    return place


if __name__ == "__main__":
    try:
        print(in_place().relative_to(ROOT))
    except Exception as error:
        sys.exit(f"{SOURCE} is not compiled, pages take longer: {error}")
