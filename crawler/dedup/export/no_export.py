"""Says what a file looks like that is not an exported index, and what to do with it."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ..errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_HEAD: Final = 1024  # bytes looked at
_GZIP: Final = b"\x1f\x8b"
_BEFORE_TEXT: Final = b"\xef\xbb\xbf \t\r\n"
_EXPORT: Final = "name a file that `scrapy dedup export` has written"
_LOAD: Final = "`scrapy dedup load` reads pages into an index"
_SERVER: Final = "start a server with it, and `scrapy dedup export` the index from there"

# Kinds of files: a pattern of their first bytes, what they seem to be, and what to do.
_KINDS: Final = [
    (rb"\[", "a JSON array", f"{_LOAD}, of JSON lines, which a crawl exports with -O feed.jsonl"),
    (rb"\{", "JSON lines, as a feed", _LOAD),
    (rb"WARC/", "a WARC file", _LOAD),
    (rb"PAR1", "a Parquet file", _LOAD),
    (rb"REDIS\d|VALKEY\d", "a snapshot of a Redis or Valkey server", _SERVER),
    (rb"\*\d+\r\n", "the append-only file of a Redis or Valkey server", _SERVER),
    (rb"SQLite format 3\0", "a database, as the archive of texts", _EXPORT),
    (rb"\x28\xb5\x2f\xfd", "a file compressed by zstd", f"{_EXPORT}; {_LOAD}"),
    (rb"PK\x03\x04", "a ZIP file", _EXPORT),
    (rb"<", "an HTML or XML file", _EXPORT),
]


def see_that_it_is_export(path: Path, head: bytes, name: str) -> None:
    """Raise :class:`InputError` if a file that begins with `head` is no export.

    An export has the `name` of its format in its header, the first gzip member.
    """
    if not head:
        raise InputError(f"{str(path)!r} is empty, not an exported index: {_EXPORT}")
    is_packed = head.startswith(_GZIP)
    text = _unpack_head(head[:_HEAD]) if is_packed else head[:_HEAD]
    is_ours = name.encode() in text
    if is_ours and is_packed:
        return
    text = text.lstrip(_BEFORE_TEXT)
    what, do = next(((what, do) for begins, what, do in _KINDS if re.match(begins, text)), ("", ""))
    if is_ours:
        what, do = "an export that was unpacked", "name it as `scrapy dedup export` has written it"
    if not what:
        raise InputError(
            f"{str(path)!r} is not an exported index, or damaged at its beginning: {_EXPORT}, or "
            "take another copy"
        )
    raise InputError(f"{str(path)!r} is not an exported index, but looks like {what}: {do}")


def _unpack_head(head: bytes) -> bytes:
    """Decompress the beginning of a gzip file; b"" if it is damaged."""
    with suppress(zlib.error):
        return zlib.decompressobj(wbits=31).decompress(head, _HEAD)
    return b""
