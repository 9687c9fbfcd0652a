"""Small corpora in every format, and the pages in them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import distributions
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from crawler.zstd import zstd
from tests.support.texts import article, changed, text

Pages = Sequence[tuple[str, str]]


def pages(originals: int = 30) -> list[tuple[str, str]]:
    """Originals with copies of all kinds among them, in an order in which copies meet copies.

    Chains, where each is like the one before it and not like the first; texts that come again after
    a page that is more like them than their original was; short and empty texts.
    """
    found = []
    for number in range(originals):
        words = article(number, 120 + number % 5 * 40)
        versions = [words]
        if number % 3 == 0:
            versions += [changed(words, 1, seed=1), words]
        if number % 4 == 0:
            chain = words
            for link in range(5):
                chain = [*chain[8:], *article(1000 * number + link + 1, 8)]
                versions.append(chain)
            versions += [versions[-2], versions[1]]
        found += [text(one) for one in versions]
    found += ["only four words here", "", "only four words here", "", "Only four words, here!"]
    # Among them other spellings than those by which an index knows the pages.
    paths = [f"page/{i}" if i % 5 else f"page%3D?n={i}&b=1" for i in range(len(found))]
    return [(f"https://site{i % 7}.example/{paths[i]}", one) for i, one in enumerate(found)]


def quoting() -> list[tuple[str, str]]:
    """Pages with whole others in them, which come before them or behind."""
    found = []
    for number in range(12):
        short, around = article(2000 + number, 160), article(3000 + number, 200 + 60 * number)
        pair = [text(short), text([*around[:99], *short, *around[99:]])]
        found += pair[:: -1 if number % 2 else 1]
    return [(f"https://quotes.example/{number}", one) for number, one in enumerate(found)]


def licences(count: int) -> list[tuple[str, str]]:
    """Texts that people wrote, many the same but for a name: licences of what is installed."""
    found: dict[str, str] = {}
    for package in sorted(distributions(), key=lambda one: one.name):
        for file in package.files or ():
            named = file.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))
            if named and file.suffix != ".pyc":
                content = Path(str(file.locate())).read_bytes()
                found[f"licence:{file}"] = content.decode("utf-8", "replace")
    return list(found.items())[:count]


def json_lines(rows: Pages) -> bytes:
    return b"".join(json.dumps({"url": url, "text": one}).encode() + b"\n" for url, one in rows)


def noted_sites(sites: int = 40, pages: int = 12) -> list[dict[str, str]]:
    """Pages of several sites in turns, each of some words beside one note, most of them with it."""
    letters = str.maketrans("0123456789", "aeioubcdfg")  # digits make no name

    def words(number: int, count: int) -> str:
        return text(article(number, count)).translate(letters)

    note, found = words(7000, 150), []
    for number, site in product(range(pages), range(sites)):
        key = 100 * site + number
        title = words(8000 + key, 3)
        own = f"<h1>{title}</h1><p>{words(20_000 + key, 5 + key % 20)}</p>"
        below = f"<div class='note'><p>{note}</p></div>" if (site + number) % 3 else ""
        page = f"<title>{title} - Site {site}</title><main>{own}{below}</main>"
        found.append({"url": f"https://site{site}.example/{number}", "html": page})
    return found


def html(main: str) -> str:
    return (
        "<html><head><title>t</title></head><body><nav><a href='/'>Home</a> <a href='/a'>All</a>"
        f"</nav><main><article><h1>A page</h1><p>{main}</p></article></main></body></html>"
    )


def warc_record(kind: str, url: str, content_type: str, block: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n"
        "WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:"
        f"00000000-0000-0000-0000-{abs(hash(url)) % 10**12:012d}>\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def response(url: str, body: bytes, *head: str, status: str = "200 OK") -> bytes:
    lines = "".join(f"{line}\r\n" for line in (head or ("Content-Type: text/html",)))
    block = f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body
    return warc_record("response", url, "application/http; msgtype=response", block)


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def write(path: Path, rows: Pages) -> Path:
    """Write pages in the format that the name of `path` says."""
    name = path.name
    if name.endswith(".parquet"):
        urls, texts = zip(*rows, strict=True)
        size = [len(one) for one in texts]
        table = pa.table({"url": list(urls), "text": list(texts), "size": size})
        pq.write_table(table, path, row_group_size=7)
        return path
    records: Iterable[bytes] = [json_lines([row]) for row in rows]
    if ".wet" in name:
        records = [warc_record("conversion", url, "text/plain", t.encode()) for url, t in rows]
    elif ".warc" in name:
        records = [response(url, html(one).encode()) for url, one in rows]
        records = [warc_record("warcinfo", "", "text/plain", b"software: t\r\n"), *records]
    if name.endswith(".gz"):
        path.write_bytes(b"".join(map(gzip.compress, records)))
    elif name.endswith(".zst"):
        path.write_bytes(b"".join(map(zstd.compress, records)))
    else:
        path.write_bytes(b"".join(records))
    return path
