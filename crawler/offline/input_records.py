"""The records of a file, and the pages in them."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ..dedup.scopes import field_scope, scope_of
from .files import (
    DAMAGED,
    Format,
    Piece,
    import_extra,
    is_plain_lines,
    known_format,
    open_input,
    up_to_damage,
)
from .parquet import SIZE_FIELD, copy_rows, rows_in
from .warc import body_in, open_whole, pages_in, record_in, warc_records

if TYPE_CHECKING:
    from ..chrome import MainText
    from ..dedup.config import DedupConfig
    from ..dedup.fingerprint import Fingerprint, Fingerprinter
    from .outputs import Output

LIMIT: Final = 50 << 20  # bytes of a page, as of one that is fetched
LINE: Final = 2 * LIMIT  # bytes of a line: JSON can write a byte in several
_GROUP, _GROUP_CHARACTERS = 256, 8 << 20
_SAID: Final = 200  # characters of an error, which may hold the page that it is about
_HTML: Final = ("text/html", "application/xhtml+xml")

# A line, the bytes of a WARC record, or the columns of a row of Parquet that matter.
Raw: TypeAlias = bytes | dict[str, Any]


class Page(NamedTuple):
    """A page of a corpus: its address, or what else names it, and its main text.

    ``heading``, ``own_words`` and ``learnt`` are as :meth:`~..dedup.index.DuplicateIndex.check`
    takes them. ``is_cut`` tells that the text came as such: the template of its site may have been
    cut of it. ``scope`` is what the record has in the field that ``DEDUP_SCOPE`` names, if it names
    one.
    """

    url: str
    text: str
    heading: str = ""
    own_words: int | None = None
    learnt: int | None = None
    is_cut: bool = False
    scope: str | None = None

    def complete(
        self, page: Fingerprint, fingerprinter: Fingerprinter, config: DedupConfig
    ) -> Fingerprint:
        """The fingerprint of the page's text with all that its other fields tell."""
        own = fingerprinter.own(self.heading, self.own_words, self.learnt)
        scope = scope_of(config, config.identity(self.url), self.scope)
        return fingerprinter.scoped(replace(page, own=own), scope)


class Left(StrEnum):
    """Why a record is no page of which something can be said: nothing is wrong with it."""

    BINARY = "binary"  # a PDF, say, that a server called a page
    SKIPPED = "skipped"  # an empty line, another kind of record, an answer that is no page


def read_records(
    piece: Piece, config: DedupConfig, content: bytes | None = None
) -> Iterator[tuple[int, Raw]]:
    """The number of each record of a piece that may be a page, and the record.

    Raises one of :data:`DAMAGED` where the file cannot be read further.
    """
    offset = piece.number - piece.start
    with open_input(piece, content) as stream:
        for place, raw in _READERS[known_format(piece.path)](stream, piece, config):
            yield offset + place, raw


class PageReader:
    """Finds the page in a record with the fields and the extractor of a configuration.

    Raises :class:`ConfigError` if there is no such extractor.
    """

    def __init__(self, config: DedupConfig) -> None:
        self.config = config
        self._extract: Callable[[str | bytes], Any] | None = None
        if config.extractor is not None:
            from ..extractor import load_extractor

            self._extract = load_extractor(config)

    def __call__(self, raw: Raw, kind: Format) -> Page | Left:
        """The page, or why the record is no page of which something can be said.

        Raises ValueError for what should be one and cannot be read.
        """
        try:
            item = None if kind is Format.WARC else json_in(raw) if isinstance(raw, bytes) else raw
            page = self._of_warc(raw) if kind is Format.WARC else self._of_item(item)
            field = self.config.scope_field
            if field is None or isinstance(page, Left):
                return page
            return page._replace(scope=field_scope(item.get(field) if item else None))
        except ValueError:
            raise
        except Exception as error:  # whatever a page does to a parser, the others go on
            said = str(error)[:_SAID]
            raise ValueError(f"cannot be read: {type(error).__name__}: {said}") from error

    def _of_item(self, item: Any) -> Page | Left:
        if item is None:
            return Left.SKIPPED
        config = self.config
        if not isinstance(item, dict):
            raise ValueError("not a JSON object")
        url = _decode_cell(item.get(config.url_field))
        if not isinstance(url, (str, int)) or not str(url).strip():
            raise ValueError(f"has no field {config.url_field!r}; DEDUP_URL_FIELD names it")
        text, html = _decode_cell(item.get(config.text_field)), item.get(config.html_field)
        if isinstance(text, str) and text.strip():
            return Page(str(url), text, is_cut=True)
        if isinstance(html, (str, bytes)):
            return self._make_page(str(url), html, None)
        if isinstance(text, str):
            return Page(str(url), text)
        raise ValueError(f"has no field {config.text_field!r} or {config.html_field!r}")

    def _of_warc(self, raw: Any) -> Page | Left:
        types = import_extra("fastwarc.warc").WarcRecordType
        record = record_in(raw)
        if record is None:
            return Left.SKIPPED
        url = (record.headers.get("WARC-Target-URI") or "").strip("<> ")
        if not url:
            return Left.SKIPPED
        if record.record_type == types.conversion:
            return Page(url, record.reader.read(LIMIT).decode("utf-8", "replace"))
        headers = record.http_headers
        if record.is_http and headers is not None:
            if headers.status_code != 200:
                return Left.SKIPPED
            if "\n" in headers.status_line:  # all of the head was taken for its first line
                raise ValueError("the lines of its HTTP head end with LF, not CRLF")
        content_type = (headers if headers is not None else record.headers).get("Content-Type")
        if not (content_type or "").lower().lstrip().startswith(_HTML):
            return Left.SKIPPED
        return self._make_page(url, body_in(raw, LIMIT), content_type)

    def _make_page(self, url: str, html: str | bytes, content_type: str | None) -> Page | Left:
        if not html.strip():
            return Page(url, "")
        if self._extract is None:
            from ..chrome import parse, strip_chrome

            document = parse(html[:LIMIT], content_type=content_type)
            # What a server calls a page may be a PDF.
            return Left.BINARY if document.is_binary else _page_of(url, strip_chrome(document))
        return _page_of(url, self._extract(html[:LIMIT]))


def _page_of(url: str, found: MainText | str) -> Page:
    if isinstance(found, str):
        return Page(url, found)
    return Page(url, found.text, found.heading, found.own_words, found.learnt)


class Found(NamedTuple):
    """A page in its place, its address as the index knows it.

    A record that cannot be read has no `page` but a `fault`, the reason; the place where a damaged
    file ends has no `url` either. A record that is no page has neither page nor fault, and
    :class:`Left` in place of the address.
    """

    position: int
    piece: int
    url: str | None
    page: Page | None
    fault: str | None = None

    @property
    def text(self) -> str | None:
        """The main text of the page."""
        return self.page.text if self.page is not None else None


def pages_of(piece: Piece, reader: PageReader, content: bytes | None = None) -> Iterator[Found]:
    """The pages of a piece in order; whatever is in it, nothing is raised for that."""
    kind, position = known_format(piece.path), piece.number
    config = reader.config
    try:
        for position, raw in read_records(piece, config, content):
            try:
                page = reader(raw, kind)
            except ValueError as error:
                yield Found(position, piece.number, "", None, _describe_error(error))
                continue
            if isinstance(page, Left):
                yield Found(position, piece.number, str(page), None)
            else:
                url = config.identity(page.url)
                yield Found(position, piece.number, url, page)
    except DAMAGED as error:
        yield Found(position + 1, piece.number, None, None, _describe_error(error))


def _decode_cell(value: Any) -> Any:
    """A cell of Parquet as text: not all who write it say which of their bytes are UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _describe_error(error: Exception) -> str:
    """What is wrong, as it can be written: an extractor may quote halves of characters."""
    return (str(error) or type(error).__name__).encode(errors="replace").decode()


def json_in(line: bytes) -> Any:
    """What a line holds, of which no more than :data:`LINE` bytes were read; None if it is empty.

    Raises ValueError, in a few words, for what is no JSON or too long.
    """
    if not line.strip():
        return None
    if len(line) == LINE and not line.endswith(b"\n"):
        raise ValueError(f"longer than {LINE >> 20} MB")
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deep") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None


def group_pages(found: Iterable[Found]) -> Iterator[list[Found]]:
    """Pages in groups that are worth to be fingerprinted together and do not fill the memory."""
    group: list[Found] = []
    characters = 0
    for one in found:
        group.append(one)
        characters += len(one.text or "")
        if len(group) == _GROUP or characters > _GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def copy_records(
    piece: Piece,
    dropped: Container[int],
    output: Output,
    content: bytes | None = None,
    copies: Mapping[int, int] | None = None,
) -> int:
    """Write all records of a piece but those with the numbers `dropped`; return how many.

    They are written as they are; with `copies`, how many copies some numbers have, rows and objects
    get a field ``cluster_size``. What follows a damaged place of a file cannot be. Raises
    :class:`~.parquet.NothingReadable` for a Parquet file that is none, in whose place nothing can
    stand.
    """
    offset = piece.number - piece.start
    kind = known_format(piece.path)
    written = 0
    with open_input(piece, content) as stream:
        if kind is Format.PARQUET:
            return copy_rows(stream, piece.number, dropped, output.stream, copies)
        with up_to_damage():
            if kind is Format.WARC:
                for place, record in warc_records(stream):
                    if offset + place not in dropped:
                        with open_whole(record) as file:
                            shutil.copyfileobj(file, output)
                        output.end_member()
                        written += 1
            else:
                for place, line in _split_lines(stream, piece):
                    if offset + place not in dropped:
                        if copies is not None:
                            line = _with_size(line, copies.get(offset + place, 0) + 1)
                        output.write(line)
                        written += 1
    return written


def _with_size(line: bytes, size: int) -> bytes:
    """A line with one more field, if it is an object."""
    try:
        if not isinstance(json_in(line), dict):
            return line
    except ValueError:
        return line
    body = line.rstrip()
    comma = b"" if body[:-1].rstrip().endswith(b"{") else b", "
    return b'%s%s"%s": %d}%s' % (body[:-1], comma, SIZE_FIELD.encode(), size, line[len(body) :])


def _split_lines(stream: IO[bytes], piece: Piece) -> Iterator[tuple[int, bytes]]:
    """Lines that begin in the piece, each with the place of its first byte.

    A line that is too long comes in parts.
    """
    place = 0
    if piece.start:
        # The line that begins before this piece belongs to the one before.
        place = stream.seek(piece.start - 1)
        place += _skip_line(stream)
    # A compressed file is one piece, whose end says nothing of what is in it.
    end = piece.end if is_plain_lines(piece.path) else sys.maxsize
    line = b"\n"
    while (place < end or not line.endswith(b"\n")) and (line := stream.readline(LINE)):
        yield place, line
        place += len(line)


def _skip_line(stream: IO[bytes]) -> int:
    skipped = 0
    while part := stream.readline(LINE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _read_lines(stream: IO[bytes], piece: Piece, config: DedupConfig) -> Iterator[tuple[int, Raw]]:
    is_begin = True
    for place, part in _split_lines(stream, piece):
        if is_begin:  # the others are of the same line
            yield place, part
        is_begin = part.endswith(b"\n")


def _read_warc(stream: IO[bytes], piece: Piece, config: DedupConfig) -> Iterator[tuple[int, Raw]]:
    return pages_in(stream, LIMIT)


def _read_rows(stream: IO[bytes], piece: Piece, config: DedupConfig) -> Iterator[tuple[int, Raw]]:
    names = {config.url_field, config.text_field, config.html_field}
    return rows_in(stream, names | {config.scope_field or config.url_field})


_READERS: Final[dict[Format, Callable[..., Iterator[tuple[int, Raw]]]]] = {
    Format.JSONL: _read_lines,
    Format.WARC: _read_warc,
    Format.PARQUET: _read_rows,
}
