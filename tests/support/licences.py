"""The licences of all that the package can install, as their own metadata states them.

``python -m tests.support.licences`` writes them into docs/project/licences.md.
"""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement

from tests.support.lowest import project

PAGE = Path(__file__).parents[2] / "docs" / "project" / "licences.md"
HEAD = """# Licences

The package itself is under the BSD-3-Clause licence. None of the libraries below is part of it; pip
installs them separately. All of them allow free and commercial use. The table lists what their own
metadata says, for all libraries that the package and its extras need, directly or indirectly.

| library | licence |
|---|---|
"""
# What may stand beside a BSD-licensed package that imports it, and asks nothing of its users' code.
# (LGPL and MPL ask for changes of the library itself to be shared.)
COMPATIBLE = re.compile(
    r"^(\(?("
    r"MIT(-CMU|-0)?|BSD(-[23]-Clause)?|0BSD|Apache-2\.0|ISC|Zlib|Unlicense|CC0-1\.0|HPND|BSL-1\.0|"
    r"PSF-2\.0|Python-2\.0|CNRI-Python|ZPL-2\.1|Artistic-2\.0|Unicode-3\.0|OFL-1\.1|MPL-2\.0|"
    r"LGPL(-2\.1|-3\.0)?(-or-later|-only|\+)?"
    r")\)?( (AND|OR|WITH [\w-]+) )?)+$"
)
# Free texts and old classifiers, by the names of the licences they mean.
NAMES = (
    (r"^mit\b|mit license|\bmit$", "MIT"),
    (r"apache", "Apache-2.0"),
    (r"3-clause|bsd-3|new bsd|modified bsd", "BSD-3-Clause"),
    (r"2-clause|simplified bsd", "BSD-2-Clause"),
    (r"\bbsd\b", "BSD"),
    (r"mozilla|mpl", "MPL-2.0"),
    (r"lesser general public|lgpl", "LGPL"),
    (r"zope", "ZPL-2.1"),
    (r"python software foundation|^psf", "PSF-2.0"),
    (r"artistic license 2", "Artistic-2.0"),
    (r"^isc\b", "ISC"),
)


class Library(NamedTuple):
    """An installed library and its licence; ``licence`` is as in SPDX where that can be told."""

    name: str
    licence: str


def installed_libraries() -> list[Library]:
    """All that the project's dependencies and extras need, as far as it is installed here."""
    found: dict[str, Library] = {}
    waiting = [Requirement(line) for line in project_requirements()]
    while waiting:
        needed = waiting.pop()
        name = re.sub(r"[-_.]+", "-", needed.name).lower()
        if name in found:
            continue
        try:
            about = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        found[name] = Library(name, licence_of(about))
        for line in about.requires or ():
            further = Requirement(line)
            extras = needed.extras or {""}
            if not further.marker or any(further.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(further)
    return [found[name] for name in sorted(found)]


def project_requirements() -> list[str]:
    """The lines of pyproject.toml, those of the extras too."""
    extras = project()["optional-dependencies"].values()
    return [*project()["dependencies"], *(line for lines in extras for line in lines)]


def licence_of(about: metadata.Distribution) -> str:
    """The licence of a library: its expression, its classifiers, its free text or its file."""
    if expression := about.metadata.get("License-Expression"):
        return str(expression)
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in about.metadata.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    files = [path for path in about.files or () if re.search("licen|copying", path.name, re.I)]
    texts = [" AND ".join(classifiers), (about.metadata.get("License") or "").strip()]
    texts += [path.read_text()[:200].strip() for path in files]
    for text in texts:
        for pattern, name in NAMES:
            if re.search(pattern, text.split("\n")[0], re.IGNORECASE):
                return name
    return "not stated"


def main() -> None:
    """Write the page."""
    rows = [f"| {one.name} | {one.licence} |" for one in installed_libraries()]
    PAGE.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
