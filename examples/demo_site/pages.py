"""The pages of the demo site, as ``pages.tsv`` lists them: what stands where and copies what.

The table is the definition of the site and at the same time the expected result of a crawl: of the
pages that share a ``set`` exactly one is kept, whichever comes first; the others are duplicates of
it by the set's ``relation``. A page without a set is kept. A page whose view is ``noindex`` is
fetched for its links and never becomes an item.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
HOSTS = ("gazette", "tidewire", "coast")
EDITIONS = (1, 2)


@dataclass(frozen=True)
class DemoPage:
    """One line of the table; ``set`` and ``relation`` are None for a page without copies."""

    host: str
    path: str
    text: str
    view: str
    set: str | None
    relation: str | None
    change: str | None

    @property
    def language(self) -> str:
        """The code of the text's language."""
        folder, _, name = self.text.partition("/")
        return name if folder == "languages" else "en"

    def title_and_paragraphs(self, edition: int = 1) -> tuple[str, list[str]]:
        """The words of the page, without any chrome."""
        source = _source(f"{self.text}-{edition}" if self.text == "ferry" else self.text)
        if self.change:
            old, _, new = self.change.partition("=>")
            if old not in source:
                raise ValueError(
                    f"pages.tsv: {self.path} changes {old!r}, which is not in its text"
                )
            source = source.replace(old, new)
        title, *paragraphs = source.split("\n\n")
        return title.removeprefix("# "), [" ".join(p.split()) for p in paragraphs]


@cache
def _source(name: str) -> str:
    return (HERE / "texts" / f"{name}.txt").read_text(encoding="utf-8").strip()


@cache
def pages() -> tuple[DemoPage, ...]:
    """All pages of the table, in its order."""
    with (HERE / "pages.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            DemoPage(**{key: None if value == "-" else value for key, value in row.items()})
            for row in rows
        )


def of_host(host: str) -> list[DemoPage]:
    """The pages of one of the :data:`HOSTS`."""
    return [page for page in pages() if page.host == host]
