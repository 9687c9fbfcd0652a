"""Texts of pages that the archive holds, for commands that are given an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..dedup.archive.pages import ArchivedPage
    from ..dedup.config import DedupConfig


class Document(NamedTuple):
    """A text, where it is from, and whether it is all or the beginning of a longer one."""

    text: str
    origin: str
    is_whole: bool = True


def archived_page(url: str, config: DedupConfig) -> tuple[ArchivedPage, str] | None:
    """A page of the index that `config` names, and a word on where it is from; None if the archive
    does not hold it. Raises :class:`InputError` for a damaged archive.
    """
    from ..dedup.archive.pages import Archive

    with Archive.of(config) as archive:
        stored = archive.page(url)
    if stored is None:
        return None
    part = "" if stored.is_whole else ", its beginning"
    return stored, f"archive, {stored.checked:%Y-%m-%d %H:%M} UTC{part}"


def find_document(
    source: str, config: DedupConfig, *, raw: bool = False, user_agent: str | None = None
) -> Document:
    """The text of a file, of ``-`` or of an http(s) address.

    Of an address it is what was compared when the page was crawled, if the archive holds it. What
    it does not hold, and with `raw` every address, is fetched. Else as
    :func:`~.documents.read_document`, which tells what is raised. Main text is taken from HTML as
    a crawl takes it.
    """
    from ..extractor import extractor
    from .documents import is_web_address, read_document

    is_address = is_web_address(source)
    if is_address and not raw and (found := archived_page(source, config)):
        page, origin = found
        return Document(page.text, origin, page.is_whole)
    text = read_document(source, extractor(config), raw=raw, user_agent=user_agent)
    origin = "fetched now" if is_address else "standard input" if source == "-" else "file"
    return Document(text, origin)
