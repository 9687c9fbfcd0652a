"""The records of a file, and the pages in them."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ..dedup.errors import InputError
from ..dedup.identity import identity
from .files import UNREADABLE, Format, Piece, extra, is_plain_lines, known_format, open_input

if TYPE_CHECKING:
    from ..dedup.config import DedupConfig
    from .outputs import Output

LIMIT: Final = 50 << 20  # bytes of a page, as of one that is fetched
_LINE: Final = 2 * LIMIT  # bytes of a line: JSON can write a byte in several
_ROWS: Final = 256  # of Parquet, read at a time
_GROUP, _GROUP_CHARACTERS = 256, 8 << 20
_BLANK: Final = b"\r\n\r\n"  # stands before and behind what a WARC record holds
_HTML: Final = ("text/html", "application/xhtml+xml")
# What a damaged file raises, besides ValueError, which includes what Arrow raises for bad Parquet.
DAMAGED: Final = (*UNREADABLE, ValueError)

# A line, the bytes of a WARC record, or the columns of a row of Parquet that matter.
Raw: TypeAlias = bytes | dict[str, Any]


class NothingReadable(ValueError):
    """No record of a file can be read."""


class Page(NamedTuple):
    """A page of a corpus: its address, or what else names it, and its main text."""

    url: str
    text: str


def records(
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
            from ..extractor import extractor

            self._extract = extractor(config)

    def __call__(self, raw: Raw, kind: Format) -> Page | None:
        """The page, None if the record is no page of which something can be said.

        Raises ValueError for what should be one and cannot be read.
        """
        try:
            if kind is Format.WARC:
                return self._of_warc(raw)
            return self._of_item(_json(raw) if isinstance(raw, bytes) else raw)
        except ValueError:
            raise
        except Exception as error:  # whatever a page does to a parser, the others go on
            raise ValueError(f"cannot be read: {type(error).__name__}: {error}") from error

    def _of_item(self, item: Any) -> Page | None:
        if item is None:
            return None
        config = self.config
        if not isinstance(item, dict):
            raise ValueError("not a JSON object")
        url = item.get(config.url_field)
        if not isinstance(url, (str, int)) or not str(url).strip():
            raise ValueError(f"has no field {config.url_field!r}; DEDUP_URL_FIELD names it")
        text, html = item.get(config.text_field), item.get(config.html_field)
        if isinstance(text, str) and text.strip():
            return Page(str(url), text)
        if isinstance(html, (str, bytes)):
            return Page(str(url), self._text(html, None))
        if isinstance(text, str):
            return Page(str(url), text)
        raise ValueError(f"has no field {config.text_field!r} or {config.html_field!r}")

    def _of_warc(self, raw: Any) -> Page | None:
        warc = extra("fastwarc.warc")
        record = next(iter(warc.ArchiveIterator(io.BytesIO(raw), parse_http=False)), None)
        if record is None:
            return None
        record.freeze()  # without it a chunked body that is not read to its end ends the iteration
        if record.is_http:
            record.parse_http(auto_decode="all")
        url = (record.headers.get("WARC-Target-URI") or "").strip("<> ")
        if not url:
            return None
        if record.record_type == warc.WarcRecordType.conversion:
            return Page(url, record.reader.read(LIMIT).decode("utf-8", "replace"))
        headers = record.http_headers
        if record.is_http and headers is not None and headers.status_code != 200:
            return None
        content_type = (headers if headers is not None else record.headers).get("Content-Type")
        if not (content_type or "").lower().lstrip().startswith(_HTML):
            return None
        return Page(url, self._text(record.reader.read(LIMIT), content_type))

    def _text(self, html: str | bytes, content_type: str | None) -> str:
        if not html.strip():
            return ""
        if self._extract is None:
            from ..chrome import strip_chrome

            return strip_chrome(html[:LIMIT], content_type=content_type).text
        found = self._extract(html[:LIMIT])
        return found if isinstance(found, str) else str(found.text)


class Found(NamedTuple):
    """A page in its place, its address as the index knows it.

    A record that cannot be read has no `text`, the place where a damaged file ends no `url` either.
    """

    position: int
    piece: int
    url: str | None
    text: str | None


def pages_of(piece: Piece, reader: PageReader, content: bytes | None = None) -> Iterator[Found]:
    """The pages of a piece in order; whatever is in it, nothing is raised for that."""
    kind, position = known_format(piece.path), piece.number
    config = reader.config
    try:
        for position, raw in records(piece, config, content):
            try:
                page = reader(raw, kind)
            except ValueError:
                yield Found(position, piece.number, "", None)
                continue
            if page is not None:
                url = identity(page.url, canonical=config.canonical_urls)
                yield Found(position, piece.number, url, page.text)
    except DAMAGED:
        yield Found(position + 1, piece.number, None, None)


def grouped(found: Iterable[Found]) -> Iterator[list[Found]]:
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
    piece: Piece, dropped: Container[int], output: Output, content: bytes | None = None
) -> int:
    """Write all records of a piece but those with the numbers `dropped`; return how many.

    They are written as they are. What follows a damaged place of a file cannot be. Raises
    :class:`NothingReadable` for a Parquet file that is none, in whose place nothing can stand.
    """
    offset = piece.number - piece.start
    kind = known_format(piece.path)
    if kind is Format.PARQUET:
        return _copy_rows(piece, dropped, output, content)
    written = 0
    with open_input(piece, content) as stream, _up_to_damage():
        if kind is Format.WARC:
            for place, record in _warc_records(stream):
                if offset + place not in dropped:
                    record.write(output)
                    output.end_member()
                    written += 1
        else:
            for place, line in _lines(stream, piece):
                if offset + place not in dropped:
                    output.write(line)
                    written += 1
    return written


def _json(line: bytes) -> Any:
    if not line.strip():
        return None
    try:
        return json.loads(line)
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deep") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None


def _lines(stream: IO[bytes], piece: Piece) -> Iterator[tuple[int, bytes]]:
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
    while (place < end or not line.endswith(b"\n")) and (line := stream.readline(_LINE)):
        yield place, line
        place += len(line)


def _skip_line(stream: IO[bytes]) -> int:
    skipped = 0
    while part := stream.readline(_LINE):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped


def _warc_records(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    return enumerate(extra("fastwarc.warc").ArchiveIterator(stream, parse_http=False))


def _read_lines(stream: IO[bytes], piece: Piece, config: DedupConfig) -> Iterator[tuple[int, Raw]]:
    is_begin = True
    for place, part in _lines(stream, piece):
        if is_begin:  # the others are of the same line
            yield place, part
        is_begin = part.endswith(b"\n")


def _read_warc(stream: IO[bytes], piece: Piece, config: DedupConfig) -> Iterator[tuple[int, Raw]]:
    types = extra("fastwarc.warc").WarcRecordType
    pages = (types.response, types.conversion, types.resource)
    for place, record in _warc_records(stream):
        # A file that breaks off gives a part of its last record, and no error.
        if not record.headers.get("Content-Length"):
            raise EOFError
        if record.record_type in pages and record.content_length <= LIMIT:
            raw = io.BytesIO()
            record.write(raw)
            data = raw.getvalue()
            if len(data) < data.find(_BLANK) + record.content_length + 2 * len(_BLANK):
                raise EOFError
            yield place, data
        elif record.reader.consume() < record.content_length:
            raise EOFError


def _read_rows(stream: IO[bytes], piece: Piece, config: DedupConfig) -> Iterator[tuple[int, Raw]]:
    file = extra("pyarrow.parquet").ParquetFile(stream)
    wanted = {config.url_field, config.text_field, config.html_field}
    columns = [name for name in file.schema_arrow.names if name in wanted]
    if not columns:
        raise InputError(f"{piece.path!r} has none of the columns {', '.join(sorted(wanted))}")
    place = 0
    for batch in file.iter_batches(_ROWS, columns=columns):
        for row in batch.to_pylist():
            yield place, row
            place += 1


def _copy_rows(piece: Piece, dropped: Container[int], output: Output, content: bytes | None) -> int:
    pa, parquet = extra("pyarrow"), extra("pyarrow.parquet")
    written, place = 0, piece.number
    with open_input(piece, content) as stream:
        try:
            file = parquet.ParquetFile(stream)
        except ValueError as error:
            raise NothingReadable from error
        with parquet.ParquetWriter(output.stream, file.schema_arrow) as writer, _up_to_damage():
            for batch in file.iter_batches(_ROWS):
                numbers = range(place, place + batch.num_rows)
                kept = batch.filter(pa.array([number not in dropped for number in numbers]))
                writer.write_batch(kept)
                written += kept.num_rows
                place += batch.num_rows
    return written


@contextmanager
def _up_to_damage() -> Iterator[None]:
    """End the block where the file that it reads is damaged, and go on behind it."""
    try:
        yield
    except DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk is full, or the file is gone


_READERS: Final[dict[Format, Callable[..., Iterator[tuple[int, Raw]]]]] = {
    Format.JSONL: _read_lines,
    Format.WARC: _read_warc,
    Format.PARQUET: _read_rows,
}
