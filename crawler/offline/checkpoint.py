"""The progress of a load, so that an interrupted load can be resumed."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ..dedup.parsing import function_name
from ..dedup.private_files import make_private_folder, private_opener
from ..dedup.store.messages import Crawl
from ..dedup.store.parameters import seed_digest
from .records.files import File

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex
    from .load_chunks import Chunk

logger = logging.getLogger(__name__)

# Settings that decide what is read of a record, but are not parameters of the index.
_READ_BY: Final = (
    *("url_field", "text_field", "html_field", "title_field", "canonical_field", "date_field"),
    *("prefer", "extractor", "templates"),
)


class LoadPlace(NamedTuple):
    """The progress of a load: number of the last record, URL of the last page, and start time.

    ``copies`` are the numbers of records that may have to be decided again at its end.
    """

    position: int
    url: str
    start: int
    copies: Sequence[int] = ()


class Checkpoint:
    """The progress of a load, in a file beside the index's data until all files are loaded.

    It is valid for the same files, index and settings of pages, as long as the index knows the
    last page: an index that was cleared is loaded from the start. A resumed load has the start time
    of the interrupted one, so records that the latter has seen are confirmed.
    """

    def __init__(self, path: Path, files: Sequence[File], index: DuplicateIndex) -> None:
        self._path = path
        config = index.config
        # With the seed, because a later index of that name may know the page, too.
        known_by = [config.namespace, seed_digest(index.seed)]
        fields = [getattr(config, name) for name in _READ_BY]
        self._key = json.dumps([*known_by, *fields, *files], default=function_name)
        self._warned = False

    def read_place(self) -> LoadPlace | None:
        """The progress of an interrupted load of these files; None if there is none."""
        with suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(self._path.read_text(encoding="utf-8"))
            if found["files"] == self._key:
                copies = [int(one) for one in found["copies"]]
                place = int(found["position"]), str(found["url"]), int(found["start"])
                return LoadPlace(*place, copies)
        return None

    def save_place(self, chunk: Chunk, crawl: Crawl, copies: Sequence[int]) -> None:
        """Save that all is loaded up to the end of a chunk; warn once if that fails."""
        if not chunk.requests:
            return
        position, url = chunk.last, chunk.requests[-1].url
        part = self._path.with_suffix(f".{os.getpid()}")
        found = {"files": self._key, **LoadPlace(position, url, crawl.start, copies)._asdict()}
        try:
            make_private_folder(part.parent)
            with open(part, "w", encoding="utf-8", opener=private_opener) as file:
                json.dump(found, file)
            part.replace(self._path)
        except OSError as error:  # the load itself goes on
            if not self._warned:
                logger.warning("Could not save the progress of the load: %s", error)
            self._warned = True

    def remove_file(self) -> None:
        """Remove the saved progress after a complete load, so that the next one starts anew."""
        if self.read_place() is not None:  # otherwise it belongs to other files
            with suppress(OSError):
                self._path.unlink()
