"""PDF, Word and EPUB files made of lines of text, as small as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import BytesIO
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_CONTAINER = "urn:oasis:names:tc:opendocument:xmlns:container"


def make_pdf(pages: Sequence[Iterable[str]], title: str = "") -> bytes:
    """A PDF of pages of lines, in Helvetica."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", ""]
    objects.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
    kids = []
    for lines in pages:
        shown = " ".join(f"({_quoted(line)}) Tj T*" for line in lines)
        stream = f"BT /F 10 Tf 12 TL 40 800 Td {shown} ET"
        kids.append(f"{len(objects) + 2} 0 R")
        objects.append(f"<</Length {len(stream)}>>stream\n{stream}\nendstream")
        objects.append(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {len(objects)} 0 R>>"
        )
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>"
    objects.append(f"<</Title({_quoted(title)})>>")
    body, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj{text}endobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer<</Size {size}/Root 1 0 R/Info {len(objects)} 0 R>>"
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}\nstartxref\n{len(body)}\n%%EOF"
    return body + end.encode()


def _quoted(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def make_word(paragraphs: Iterable[str]) -> bytes:
    """A Word file; of a paragraph with tabs a table's row is made."""
    body = ""
    for paragraph in paragraphs:
        first, *cells = map(_paragraph, paragraph.split("\t"))
        row = "".join(f"<w:tc>{cell}</w:tc>" for cell in (first, *cells))
        body += f"<w:tbl><w:tr>{row}</w:tr></w:tbl>" if cells else first
    relation = f'<Relationship Id="a" Type="{_DOCUMENT}" Target="word/document.xml"/>'
    return pack(
        {
            "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}">{relation}</Relationships>',
            "word/document.xml": word_body(body),
        }
    )


def word_body(body: str) -> str:
    """The main part of a Word file."""
    return f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>'


def _paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def make_epub(parts: Sequence[Sequence[str] | str], title: str) -> bytes:
    """An EPUB of parts of paragraphs, or XHTML; its archive holds them in another order."""
    root = '<rootfile full-path="in/book.opf"/>'
    items = "".join(f'<item id="p{n}" href="part%20{n}.xhtml"/>' for n in range(len(parts)))
    order = "".join(f'<itemref idref="p{n}"/>' for n in range(len(parts)))
    files = {
        "META-INF/container.xml": f'<container xmlns="{_CONTAINER}">{root}</container>',
        "in/book.opf": f"<package><metadata><title>{title}</title></metadata>"
        f"<manifest>{items}</manifest><spine>{order}</spine></package>",
    }
    for number, part in reversed(list(enumerate(parts))):
        if not isinstance(part, str):
            text = "".join(f"<p>{escape(one)}</p>" for one in part)
            part = f"<html><head><title>x</title></head><body>{text}</body></html>"
        files[f"in/part {number}.xhtml"] = part
    return pack(files)


def pack(files: dict[str, str]) -> bytes:
    """An archive of files."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()
