"""What is found in a file, and files of a few pages."""

from __future__ import annotations

from pathlib import Path

from crawler.dedup import DedupConfig
from crawler.offline.records.files import (
    Piece,
    cut_pieces,
    local_files,
)
from crawler.offline.records.input_pages import (
    InputReader,
    InputRecord,
    pages_of,
)
from tests.offline import corpora

PAGES = corpora.pages(6)


def whole(path: Path) -> Piece:
    (piece,) = cut_pieces(local_files(str(path)), 1 << 40)
    return piece


def found_in(path: Path, size: int = 1 << 40, **settings: object) -> list[InputRecord]:
    reader = InputReader(DedupConfig(**{"templates": False, **settings}))
    found = [
        one for piece in cut_pieces(local_files(str(path)), size) for one in pages_of(piece, reader)
    ]
    return [one for one in found if one.text is not None or one.fault is not None]
