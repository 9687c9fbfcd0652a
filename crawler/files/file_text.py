"""``python file_text.py SECONDS < FILE``: the text of a PDF, Word or EPUB file, as JSON.

Imports nothing of this package, so that it starts in a few hundredths of a second.
"""

from __future__ import annotations

import json
import posixpath
import re
import resource
import sys
from collections import Counter
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile

from lxml import etree, html

MEMORY: Final = 1 << 30  # bytes of address space beyond what Python has at its start
PAGES: Final = 2000
TEXT: Final = 20_000_000  # characters
TOO_LONG: Final = f"it has more than {TEXT // 1_000_000} million characters"
UNPACKED: Final = 200_000_000  # bytes of an archive's members
# A line at the top or bottom of so many pages, and of this share of them, is a running head.
REPEATED: Final = 3
RUNNING: Final = 0.4
EDGE: Final = 2  # lines
NUMBERS: Final = 8  # in a running head: a date, a time, and page 3 of 12
_BLOCK_TAGS: Final = (
    "address article aside blockquote br dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol p pre section table td th title tr ul"
)
_BLOCKS: Final = frozenset(_BLOCK_TAGS.split())
_UNSHOWN: Final = "script", "style", "template", "head"
_CONTAINER: Final = "META-INF/container.xml"


class Unreadable(Exception):
    """A file has no readable text; the message says why."""


def read_text(data: bytes) -> tuple[str, str]:
    """Return text and title of a file."""
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return read_pdf(data)
    try:
        with ZipFile(BytesIO(data)) as archive:
            names = set(archive.namelist())
            if sum(member.file_size for member in archive.infolist()) > UNPACKED:
                raise Unreadable(f"unpacked it has more than {UNPACKED // 1_000_000} MB")
            if "word/document.xml" in names:
                return read_word(data)
            if _CONTAINER in names:
                return read_epub(archive)
    except BadZipFile:
        raise Unreadable("it is damaged") from None
    raise Unreadable("it is neither PDF, Word nor EPUB")


def read_pdf(data: bytes) -> tuple[str, str]:
    """Return text and title of a PDF, without its running heads and page numbers."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).lower()
        raise Unreadable("it is encrypted" if locked else "it is damaged") from None
    if len(document) > PAGES:
        raise Unreadable(f"it has more than {PAGES} pages")
    pages: list[list[str]] = []
    size = 0
    for number in range(len(document)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded(errors="ignore")
            page.close()
        except pypdfium2.PdfiumError:
            continue  # the others may be whole
        size += len(text)
        if size > TEXT:
            raise Unreadable(TOO_LONG)
        # PDFium writes U+FFFE where a word is divided at the end of a line.
        lines = text.replace("\ufffe\r\n", "").replace("\ufffe", "").splitlines()
        pages.append([line.strip() for line in lines if line.strip()])
    return join_pages(pages), document.get_metadata_value("Title") or ""


def join_pages(pages: list[list[str]]) -> str:
    """Return the lines of all pages, without those that most pages have at their top or bottom.

    Digits do not count, because a running head may contain a page number. In lines of more numbers
    they do: these are rows of a table.

    >>> texts = "leaves", "stems", "roots"
    >>> pages = [["Tea today", text, f"Page {n} of 3"] for n, text in enumerate(texts, 1)]
    >>> join_pages(pages).split(chr(10))
    ['leaves', 'stems', 'roots']
    """
    least = max(REPEATED, RUNNING * len(pages))

    def edges(lines: list[str]) -> set[int]:
        return {*range(min(EDGE, len(lines))), *range(max(len(lines) - EDGE, 0), len(lines))}

    def folded(line: str) -> str:
        if len(re.findall(r"\d+", line)) > NUMBERS:
            return line
        return "".join(char for char in line if not char.isdecimal()).strip()

    counts = Counter(name for page in pages for name in {folded(page[at]) for at in edges(page)})
    kept = []
    for page in pages:
        running = {at for at in edges(page) if counts[folded(page[at])] >= least}
        # A chapter may consist of such lines; a page must not lose all its lines.
        running = set() if len(running) == len(page) > EDGE else running
        kept += [line for at, line in enumerate(page) if at not in running]
    return "\n".join(kept)


def read_word(data: bytes) -> tuple[str, str]:
    """Return text and title of a Word file: body, tables, notes and text boxes."""
    import mammoth

    no_images = mammoth.images.img_element(lambda image: {})
    try:
        found = mammoth.convert_to_html(BytesIO(data), convert_image=no_images).value
    except MemoryError:
        raise
    except Exception as error:
        raise Unreadable(f"it is damaged: {type(error).__name__}") from None
    return text_of(html.fragment_fromstring(found, create_parent="body")), ""


def read_epub(archive: ZipFile) -> tuple[str, str]:
    """Return text and title of an EPUB file, with its parts in reading order."""
    try:
        container = parse_xml(archive.read(_CONTAINER))
        place = container.xpath("string(//*[local-name()='rootfile']/@full-path)")
        book = parse_xml(archive.read(place))
        hrefs = {item.get("id"): item.get("href") for item in book.iter("{*}item")}
        order = [hrefs[part.get("idref")] for part in book.iter("{*}itemref")]
        folder = posixpath.dirname(place)
        parts = [archive.read(posixpath.join(folder, unquote(href))) for href in order]
        title = book.xpath("string(//*[local-name()='title'])")
        text = "\n".join(text_of(html.fromstring(part)) for part in parts if part.strip())
    except MemoryError:
        raise
    except Exception as error:  # errors of etree, and for names missing in the archive
        raise Unreadable(f"it is damaged: {type(error).__name__}") from None
    return text, title


def parse_xml(data: bytes) -> Any:
    """Return the root of XML, without expanding entities."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))


def text_of(root: Any) -> str:
    """Return the text of a tree, each block on a line of its own."""
    etree.strip_elements(root, *_UNSHOWN, with_tail=False)
    pieces: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if not isinstance(element.tag, str):
            pieces.append(element.tail or "" if event == "end" else "")
            continue
        tag = etree.QName(element).localname
        pieces.append("\n" if tag in _BLOCKS else "")
        pieces.append((element.text if event == "start" else element.tail) or "")
    lines = (" ".join(line.split()) for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in lines if line)


def bound_process(seconds: int) -> None:
    """Limit the process to so many seconds of CPU, limited memory, and no file to write."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with suppress(OSError):  # not on Linux
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def main() -> None:
    """Read a file from standard input, and write its text, or the reason why it has none."""
    bound_process(int(sys.argv[1]))
    try:
        text, title = read_text(sys.stdin.buffer.read())
        if len(text) > TEXT:
            raise Unreadable(TOO_LONG)
        found = {"text": text, "title": title} if text.strip() else {"error": "it has no text"}
    except Unreadable as error:
        found = {"error": str(error)}
    except MemoryError:
        found = {"error": "it takes too much memory"}
    except Exception as error:  # any error of the libraries
        found = {"error": f"{type(error).__name__} while reading it"}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
