"""The records of WARC and WET files, and their bodies, decoded."""

from __future__ import annotations

import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, NamedTuple, cast

from .files import import_extra, up_to_damage

_BLANK: Final = b"\r\n\r\n"  # before and after the content of a record
_IN_MEMORY: Final = 64 << 20  # bytes of a record
_HEAD: Final = 1 << 20  # bytes in which the head of a record ends
_BROKEN_OFF: Final = "ends within a record"
_NAMING: Final = ("warc-concurrent-to", "warc-refers-to", "warc-segment-origin-id")
# Names a record by its URL and time, as revisits do that know no more of it.
_BY_URL: Final = ("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date")
_TRANSFER, _CONTENT = "Transfer-Encoding", "Content-Encoding"
# Headers whose codings are undone, tried in this order: from both headers to none.
_UNDONE: Final = ((_TRANSFER, _CONTENT), (_TRANSFER,), (_CONTENT,), ())
# What a page's type begins with, and types that say nothing: its first tag decides, as in a crawl.
_HTML: Final = ("text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml")
_NO_TYPES: Final = ("", "application/octet-stream", "binary/octet-stream")
_READERS: Final = {
    "chunked": "ChunkedReader",
    "gzip": "GzipReader",
    "x-gzip": "GzipReader",
    "br": "BrotliReader",
    "zstd": "ZstdReader",
}


class WarcPage(NamedTuple):
    """The page in a record; its URL may be empty. A text has no content type, HTML has."""

    url: str
    body: bytes
    content_type: str | None


def warc_records(stream: IO[bytes]) -> Iterator[tuple[int, Any]]:
    """Yield number and record of a file's records; raises EOFError if it breaks off in a head."""
    for place, record in enumerate(
        import_extra("fastwarc.warc").ArchiveIterator(stream, parse_http=False)
    ):
        if not record.headers.get("Content-Length"):
            raise EOFError(_BROKEN_OFF)
        yield place, record


def find_dependents(stream: IO[bytes], dropped: Container[int], offset: int = 0) -> set[int]:
    """The numbers of the records that have no meaning without the `dropped` ones.

    They refer to a dropped record, and to none that stays: the request of a response, its metadata,
    further segments and revisits, and what belongs to these (ISO 28500). Numbers count from
    `offset`.
    """
    gone: set[str] = set()
    staying: set[str] = set()
    named: dict[int, tuple[set[str], set[str]]] = {}
    types = import_extra("fastwarc.warc").WarcRecordType
    pages = (types.response, types.conversion, types.resource)
    with up_to_damage():
        for place, record in warc_records(stream):
            number = offset + place
            own = _names_in(record, ("WARC-Record-ID",))
            heads = ((name.lower(), value.strip("<> ")) for name, value in record.headers)
            others = {value for name, value in heads if name in _NAMING}
            others |= _names_in(record, _BY_URL)
            if number not in dropped and record.record_type not in pages:
                named[number] = own, others
                continue
            own |= _names_in(record, ("WARC-Target-URI", "WARC-Date"))
            (gone if number in dropped else staying).update(own | others)
    found: set[int] = set()
    while new := {
        number
        for number, (own, others) in named.items()
        if own & gone - staying or (others & gone - staying and not others & staying)
    }:
        found |= new
        gone = set[str]().union(*(named.pop(number)[0] for number in new))
    return found


def _names_in(record: Any, headers: Iterable[str]) -> set[str]:
    """The name of a record that these headers give; nothing if one of them is missing."""
    values = [(record.headers.get(name) or "").strip("<> ") for name in headers]
    return {" ".join(values)} if all(values) else set()


def pages_in(stream: IO[bytes], limit: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of all records; no bytes of those that cannot be pages.

    These are of another type, or longer than `limit` bytes. Raises EOFError where the file breaks
    off.
    """
    types = import_extra("fastwarc.warc").WarcRecordType
    pages = (types.response, types.conversion, types.resource)
    for place, record in warc_records(stream):
        if record.record_type in pages and record.content_length <= limit:
            with open_whole(record) as file:
                yield place, file.read()
        elif record.reader.consume() < record.content_length:
            raise EOFError(_BROKEN_OFF)
        else:
            yield place, b""


@contextmanager
def open_whole(record: Any) -> Iterator[IO[bytes]]:
    """Open the bytes of a record as a file; raises EOFError if they break off.

    FastWARC gives part of the last record of such a file, without an error.
    """
    with SpooledTemporaryFile(_IN_MEMORY) as file:
        record.write(file)
        size = file.tell()
        file.seek(0)
        if size < file.read(_HEAD).find(_BLANK) + record.content_length + 2 * len(_BLANK):
            raise EOFError(_BROKEN_OFF)
        file.seek(0)
        yield cast(IO[bytes], file)


def record_in(raw: bytes) -> Any:
    """Parse the bytes of a record; None if there is none. The body stays encoded."""
    found = import_extra("fastwarc.warc").ArchiveIterator(io.BytesIO(raw), parse_http=False)
    record = next(iter(found), None)
    if record is not None:
        record.freeze()
        is_response = record.record_type == import_extra("fastwarc.warc").WarcRecordType.response
        if is_response and raw.startswith(b"HTTP/", raw.find(_BLANK) + len(_BLANK)):
            record.is_http = True  # also without a type, or with one in capitals
        if record.is_http:
            # Otherwise the whole body would be decoded at once, to a thousand times its size.
            record.parse_http(auto_decode="none")
    return record


def page_in(raw: bytes, limit: int) -> WarcPage | None:
    """The page in a record, up to `limit` bytes of it; None if the record holds no page.

    Raises ValueError for a response without an HTTP head, or with one that cannot be read, and
    OSError for a body that cannot be decoded.
    """
    from ...chrome.page.encoding import begins_as_html

    record = record_in(raw)
    if record is None:
        return None
    headers = record.http_headers if record.is_http else None
    if headers is not None:
        if headers.status_code is None:
            raise ValueError("has no HTTP head")
        if headers.status_code // 100 != 2:
            return None
        if "\n" in headers.status_line:  # the whole head was parsed as one line
            raise ValueError("the lines of its HTTP head end with LF, not CRLF")
    url = (record.headers.get("WARC-Target-URI") or "").strip("<> ")
    content_type = (record.headers if headers is None else headers).get("Content-Type") or ""
    kind = content_type.partition(";")[0].strip().lower()
    is_conversion = record.record_type == import_extra("fastwarc.warc").WarcRecordType.conversion
    if is_conversion and kind in ("", "text/plain"):
        return WarcPage(url, record.reader.read(limit), None)
    if not kind.startswith(_HTML) and kind not in _NO_TYPES:
        return None
    body = body_in(record, limit)
    is_page = kind.startswith(_HTML) or begins_as_html(body)
    return WarcPage(url, body, content_type) if is_page else None


def body_in(record: Any, limit: int) -> bytes:
    """The HTML in a record, at most `limit` bytes of it.

    Many archives, such as those of Common Crawl until 2018, hold bodies without the chunks or the
    compression that their headers still name. Such a body is recognised by its first tag. Raises
    OSError for any other body that cannot be decoded.
    """
    fault: OSError | None = None
    sent = bytes(record.reader.read())
    for undone in _UNDONE:
        body = sent
        try:
            for header in undone if record.is_http else ():
                codings = (record.http_headers.get(header) or "").lower().split(",")
                for coding in reversed([one.strip() for one in codings]):
                    body = _undo_coding(coding, body, limit)
        except OSError as error:
            fault = fault or error
            continue
        body = body[:limit]
        if fault is None or body.removeprefix(BOM_UTF8).lstrip().startswith(b"<"):
            return body
    assert fault is not None
    raise fault


def _undo_coding(coding: str, data: bytes, limit: int) -> bytes:
    """Decode at most `limit` bytes; raises OSError for an unknown coding, or wrong data."""
    if coding in ("", "identity"):
        return data
    if coding == "deflate":
        for bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):  # as specified, and as some servers send it
            with suppress(zlib.error):
                return zlib.decompressobj(bits).decompress(data, limit)
        raise OSError("no body that was deflated")
    if coding not in _READERS:
        raise OSError(f"unknown coding {coding}")
    reader = getattr(import_extra("fastwarc.stream_io"), _READERS[coding])
    return bytes(reader(io.BytesIO(data)).read(limit))
