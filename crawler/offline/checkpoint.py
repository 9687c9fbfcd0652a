"""How far a load has come, so that the next one goes on there."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..dedup.private_files import make_private_folder, private_opener
from ..dedup.store.messages import Crawl
from ..dedup.store.parameters import seed_digest
from .records.files import File

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex
    from .load_chunks import Chunk

logger = logging.getLogger(__name__)


class Place(NamedTuple):
    """How far a load is: the number of the last record, a page before it, and when it began."""

    position: int
    url: str
    start: int


class Checkpoint:
    """How far the files were loaded, in a file beside the index's data until they all are.

    It counts for the same files, fields and index, and as long as that knows the last page that it
    names: an index that was cleared is loaded from the start. A load that goes on began when the
    one did that broke off: what that has seen is confirmed.
    """

    def __init__(self, path: Path, files: Sequence[File], index: DuplicateIndex) -> None:
        self._path = path
        config = index.config
        # Another index of that name, which a crawl has filled since, may know the page, too.
        known_by = [config.namespace, seed_digest(index.seed)]
        fields = [config.url_field, config.text_field, config.html_field]
        self._key = json.dumps([*known_by, *fields, *files])
        self._warned = False

    def read_place(self) -> Place | None:
        """How far a load was that broke off; None if there was none of these files."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if found["files"] == self._key:
                return Place(int(found["position"]), str(found["url"]), int(found["start"]))
        return None

    def save_place(self, chunk: Chunk, crawl: Crawl) -> None:
        """Note that all is loaded up to the end of a chunk; warn once where that cannot be done."""
        if not chunk.requests:
            return
        position, url = chunk.last, chunk.requests[-1].url
        part = self._path.with_suffix(f".{os.getpid()}")
        found = {"files": self._key, **Place(position, url, crawl.start)._asdict()}
        try:
            make_private_folder(part.parent)
            with open(part, "w", encoding="utf-8", opener=private_opener) as file:
                json.dump(found, file)
            part.replace(self._path)
        except OSError as error:  # what is loaded is loaded
            if not self._warned:
                logger.warning("Could not save the progress of the load: %s", error)
            self._warned = True

    def remove_file(self) -> None:
        """All is loaded: done again, the files are read from their start."""
        if self.read_place() is not None:  # else it is of other files
            with suppress(OSError):
                self._path.unlink()
