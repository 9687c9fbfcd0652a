"""Gzip files of many members, as WARC files are: a damaged member costs that member."""

from __future__ import annotations

import io
import zlib
from typing import IO, Any, Final

from ...wording import counted

_MAGIC: Final = b"\x1f\x8b\x08"
_FORMAT: Final = 16 + zlib.MAX_WBITS  # gzip's
_READ: Final = 1 << 18
_MOST_HELD: Final = 128 << 20  # bytes of a member that are held until it is complete
_MOST_DAMAGED: Final = 1000  # damaged parts after which reading ends


class MemberReader(io.RawIOBase):
    """The decompressed members of a gzip file, one after the other, without damaged ones.

    A damaged member is left out. If it holds ``lines``, or more than 128 MB, the content before the
    damage is read. At the end of a damaged file, ``OSError`` is raised once.
    """

    def __init__(self, source: IO[bytes], *, lines: bool) -> None:
        self._source = source
        self._lines = lines
        self._packed = b""
        self._unpacker: Any = None  # of the member that is being read
        self._begin: int | None = None  # of that member in the file
        self._held = bytearray()
        self._ready = memoryview(b"")
        self._damaged = 0
        self._breaks_off = False
        self._at_end = False
        self._place = 0

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read some bytes; 0 at the end."""
        while not self._ready and not self._at_end:
            self._read_on()
        if not self._ready and self._damaged:
            number, self._damaged = self._damaged, 0
            if self._begin is None:
                raise OSError("it is not compressed by gzip: name it without .gz")
            parts = counted(number, "damaged part", "damaged parts")
            raise OSError(
                "it breaks off" if number == 1 and self._breaks_off else f"it has {parts}"
            )
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        self._place += size
        return size

    def tell(self) -> int:
        """The number of bytes that were read; FastWARC asks for it."""
        return self._place

    def close(self) -> None:
        """Close the file."""
        self._source.close()
        super().close()

    def _read_on(self) -> None:
        self._packed = self._packed or self._source.read(_READ)
        if not self._packed:
            self._end()
            return
        if self._unpacker is None and not self._find_member():
            return
        known = len(self._held)
        try:
            self._held += self._unpacker.decompress(self._packed, _READ)
        except zlib.error:
            self._give_up_member()
            return
        is_whole = self._unpacker.eof
        self._packed = self._unpacker.unused_data if is_whole else self._unpacker.unconsumed_tail
        if is_whole:
            self._unpacker = None
        if len(self._held) > _MOST_HELD or (is_whole and not self._lines):
            self._give(len(self._held))
        elif self._lines:  # what was held before is the beginning of a line
            self._give(self._held.rfind(b"\n", known) + 1)

    def _find_member(self) -> bool:
        """Go to the next beginning of a member; bytes before it, except zeros, count as damage."""
        passed = False
        while (place := self._packed.find(_MAGIC)) < 0 and (more := self._source.read(_READ)):
            kept = len(self._packed) - len(_MAGIC) + 1  # the rest may begin a member
            passed = passed or bool(self._packed[:kept].strip(b"\0"))
            self._packed = self._packed[kept:] + more
        head = self._packed[:place] if place >= 0 else self._packed
        if (passed or head.strip(b"\0")) and not self._damaged:
            self._damaged = 1
        self._packed = self._packed[len(head) :]
        if place >= 0:
            self._begin = self._source.tell() - len(self._packed)
            self._unpacker = zlib.decompressobj(_FORMAT)
        return place >= 0

    def _give_up_member(self) -> None:
        """Look for the next member from the second byte of this one on: it may be inside."""
        assert self._begin is not None
        self._damaged += 1
        self._unpacker = None
        self._held.clear()
        self._source.seek(self._begin + 1)
        self._packed = b""
        self._at_end = self._damaged == _MOST_DAMAGED

    def _end(self) -> None:
        if self._unpacker is not None:
            self._breaks_off = True
            self._give_up_member()
            return
        self._at_end = True
        # The error that follows would cost a last line without an end.
        self._give(len(self._held), b"\n" if self._held and self._damaged else b"")

    def _give(self, size: int, end: bytes = b"") -> None:
        self._ready = memoryview(bytes(self._held[:size]) + end)
        del self._held[:size]
