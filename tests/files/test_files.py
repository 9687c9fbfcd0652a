"""Texts of PDF, Word and EPUB files, and what files do that are made to hurt."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.files import FileError, can_read_files, is_file, read_file, reading_process
from tests.files.made import make_epub, make_pdf, make_word, pack, word_body

FOLDER = Path(reading_process.__file__).parent
LINES = ["Tea is a drink (a hot one).", "It came from China.", "Water is poured on its leaves."]

pytestmark = pytest.mark.skipif(not can_read_files(), reason="needs the extra `files`")


def test_a_pdf_has_no_running_heads() -> None:
    """What stands at the top and bottom of its pages is none of its text; numbers do not matter."""
    pages = [["All of tea", line, f"Page {n} of 3"] for n, line in enumerate(LINES, 1)]
    assert read_file(make_pdf(pages, "Tea")) == ("\n".join(LINES), "Tea")
    assert read_file(make_pdf(pages[:2])).text.count("All of tea") == 2  # too few to tell


def test_rows_of_numbers_are_no_running_heads() -> None:
    """Otherwise two timetables would have the same text, and one of them would be dropped."""
    times = [" ".join(f"{hour:02}:{n * 7:02}" for hour in range(6, 20)) for n in range(9)]
    pages = [[*times[n : n + 2], LINES[0], times[n + 2], f"{n} / 9"] for n in (0, 3, 6)]
    assert read_file(make_pdf(pages)).text.count(":") == 9 * 14


def test_word_and_epub() -> None:
    """Paragraphs, cells of tables and parts of books come in the order in which they are read."""
    assert read_file(make_word([*LINES, "a\tb"])).text.splitlines() == [*LINES, "a", "b"]
    assert read_file(make_epub([LINES[:2], LINES[2:]], "Tea")) == ("\n".join(LINES), "Tea")


ENTITIES = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(9))
LAUGHS = f'<!DOCTYPE a [<!ENTITY a0 "tea">{ENTITIES}]><a>&a9;</a>'
WORD, BOOK = "word/document.xml", "META-INF/container.xml"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: b"%PDF-1.4 and nothing else", "damaged"),
        (lambda: make_pdf([[]]), "no text"),
        (lambda: make_pdf([["Tea"]] * 2001), "more than 2000 pages"),
        (lambda: make_word(LINES)[:-30], "damaged"),
        (lambda: pack({"a.txt": "Tea"}), "neither PDF, Word nor EPUB"),
        (lambda: pack({WORD: "<w:document"}), "damaged"),
        (lambda: pack({WORD: LAUGHS}), "damaged"),
        (lambda: pack({BOOK: LAUGHS}), "damaged"),
        (lambda: pack({BOOK: "<a/>"}), "damaged"),
        (lambda: pack({WORD: " " * 201_000_000}), "unpacked"),
        (lambda: make_epub([["tea " * 1_000_000]] * 6, "Tea"), "more than 20 million characters"),
    ],
)
def test_a_file_without_a_text_says_why(make: Callable[[], bytes], reason: str) -> None:
    """Each is a file by its first bytes; what it does ends with the process that reads it."""
    file = make()
    assert is_file(file)
    with pytest.raises(FileError, match=reason):
        read_file(file)


def test_a_file_that_takes_too_long_is_left() -> None:
    """Whatever library reads it."""
    rows = "<w:p><w:r><w:t>tea</w:t></w:r></w:p>" * 500_000
    with pytest.raises(FileError, match="more than 1 second"):
        read_file(pack({WORD: word_body(rows)}), seconds=1)


def test_a_process_that_reads_a_file_has_bounds() -> None:
    """Memory, CPU and files: what a library would take beyond them, it does not get."""
    program = (
        f"import sys; sys.path.insert(0, {str(FOLDER)!r}); import file_text, resource as r\n"
        "file_text.bound_process(7)\n"
        "print(r.getrlimit(r.RLIMIT_CPU)[0], r.getrlimit(r.RLIMIT_FSIZE)[0])\n"
        "bytes(2 * file_text.MEMORY)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout == "7 0\n"
    assert run.stderr.endswith("MemoryError\n")
