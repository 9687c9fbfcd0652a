"""What is no export, or was damaged, is refused before anything is written."""

from __future__ import annotations

import asyncio
import gzip
import os
from dataclasses import replace

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, Kind, ParameterMismatch, inspection
from crawler.dedup.errors import InputError
from crawler.dedup.export import transfer
from crawler.dedup.export.file import Writer, read_blocks
from crawler.dedup.export.transfer import import_index
from tests.commands.conftest import ROOT
from tests.commands.index.exported import PAGES, opened, written
from tests.conftest import free_port
from tests.support.texts import article, text


def test_damage_is_refused_before_anything_is_written(config, server, tmp_path, monkeypatch):
    """Every cut and every changed byte is noticed, and the block is named."""
    monkeypatch.setattr(transfer, "_RECORDS", 2)
    opened(config, lambda index: index.stats(), PAGES)
    data = written(config, tmp_path / "x.gz").read_bytes()
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    keys = server.ask("DBSIZE")
    broken = tmp_path / "broken.gz"
    cuts = [data[: len(data) * part // 17] for part in range(17)]
    flips = [data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :] for at in range(12, len(data), 997)]
    for damaged in [*cuts, *flips, data + data[-100:], data + b"x"]:
        broken.write_bytes(damaged)
        with pytest.raises(InputError, match=r"block|byte|no exported index|not an exported index"):
            asyncio.run(import_index(target, broken))
    assert server.ask("DBSIZE") == keys


def test_damaged_records_are_left_out(config, server, tmp_path):
    """What an audit names does not keep the others from being read, nor from being taken along."""
    opened(config, lambda index: index.stats(), PAGES[:8])
    for number, damage in (
        (1, lambda r: r[:-9]),
        (2, lambda r: r[:3] + b"?" + r[4:]),
        (3, lambda r: r[:4] + b"?" + r[5:]),
        (4, lambda r: r[:-130]),
    ):
        record = server.ask("LINDEX", "{dedup}:page:0", number)
        server.ask("LSET", "{dedup}:page:0", number, damage(record))

    async def read(index):
        await inspection.read_stories(index, 0.5)
        await inspection.read_top(index)
        await inspection.find_nearest(index, index.fingerprint(PAGES[0][1]))
        return (await index.verify()).faults

    faults = opened(config, read)
    assert {f"the record of page {number} is incomplete" for number in range(1, 5)} <= set(faults)
    target = DedupConfig(redis_url=config.redis_url, namespace="new")
    found = asyncio.run(import_index(target, written(config, tmp_path / "x.gz")))
    assert (found.pages, found.new, found.audit.faults) == (4, 4, [])


def test_lines_that_are_no_pages_are_refused(config, server, tmp_path):
    """Also where all checksums are right: the error names block and line."""
    path = written(config, tmp_path / "x.gz")
    header = next(read_blocks(path)).lines[0]
    opened(config, lambda index: index.stats(), PAGES[:2])
    good = list(read_blocks(written(config, tmp_path / "y.gz")))[1].lines
    counters = {"stats": {}, "hosts": {}, "histogram": {}, "overrides": {}}
    target = DedupConfig(redis_url=config.redis_url, namespace="new")

    def crafted(lines, header=header, counters=counters):
        file = tmp_path / "crafted.gz"
        with file.open("wb") as out:
            writer = Writer(out)
            writer.write_header(header)
            writer._write_lines(lines, {"block": 0})
            writer.blocks, writer.pages = 1, len(lines)
            writer.write_end(counters)
        return file

    for change in (
        {"n": -1},
        {"n": 2**32},
        {"words": "many"},
        {"standing": "other"},
        {"url": None},
        {"url": "x" * 5000},
        {"exact": "00"},
        {"exact": "x" * 32},
        {"bands": "AAA="},
        {"odd": "*"},
        {"odd": ""},
        {"standing": "near"},
        {"standing": "unchanged"},
        {"standing": []},
        {"last": {}},
        {"url": "http://a/\ud800"},  # half of a character
    ):
        with pytest.raises(InputError, match=r"block 0.*, line 2"):
            asyncio.run(import_index(target, crafted([good[0], {**good[1], **change}])))
    for lines in ([3], [[]], [None]):
        with pytest.raises(InputError, match="block 0, line 1"):
            asyncio.run(import_index(target, crafted(lines)))
    parameters = [
        {**header["parameters"], **wrong}
        for wrong in ({"seed": "9" * 20}, {"verify_bits": "9" * 5000})
    ]
    for wrong in (
        {"version": 2},
        {"format": "x"},
        {"next": [0]},
        {"parameters": 1},
        {"state": "\ud800"},
        *({"parameters": one} for one in parameters),
    ):
        with pytest.raises(InputError):
            asyncio.run(import_index(target, crafted(good, header={**header, **wrong})))
    for wrong in (
        {"stats": {"unique": "many"}},
        {"hosts": {"a.example unique": "1.5"}},
        {"histogram": {"0.95": "9" * 30}},
        {"overrides": {"http://a/": "bury"}},
    ):
        with pytest.raises(InputError, match="counters"):
            asyncio.run(import_index(target, crafted(good, counters={**counters, **wrong})))
    with pytest.raises(InputError, match="counters"):
        asyncio.run(import_index(target, crafted(good, counters={})))
    assert not server.ask("EXISTS", "{new}:params")
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b'{"format":"scrapy-neardup index"' + bytes(300 << 20), 1))
    with pytest.raises(InputError, match="too long"):
        asyncio.run(import_index(target, bomb))


@pytest.mark.parametrize(
    ("begins", "seems", "do"),
    [
        (b"", "is empty, not an exported index", "`scrapy dedup export`"),
        (b'{"url": "http://a/", "text": "x"}\n', "looks like JSON lines, as a feed", "dedup load`"),
        (b'\xef\xbb\xbf\n[\n{"url": ', "looks like a JSON array", "-O feed.jsonl"),
        (b"WARC/1.0\r\nWARC-Type: warcinfo\r\n", "looks like a WARC file", "dedup load`"),
        (b"PAR1\x15\x04", "looks like a Parquet file", "dedup load`"),
        (b"REDIS0011\xfa", "looks like a snapshot of a Redis or Valkey server", "start a server"),
        (b"*2\r\n$6\r\nSELECT\r\n", "looks like the append-only file of a", "start a server"),
        (b"SQLite format 3\0", "looks like a database, as the archive of texts", "dedup export`"),
        (b"\x28\xb5\x2f\xfd\x24", "looks like a file compressed by zstd", "dedup load`"),
        (b"<!doctype html>", "looks like an HTML or XML file", "dedup export`"),
        (b"some words", "or damaged at its beginning", "dedup export`"),
        (bytes(1000), "or damaged at its beginning", "another copy"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_what_is_no_export_is_told_what_it_seems(config, server, tmp_path, begins, seems, do, pack):
    """The error says in one line what was taken for an export, and what can be done with it."""
    path = tmp_path / "pages"
    path.write_bytes(pack(begins))
    if not begins and pack is gzip.compress:
        seems = "or damaged at its beginning"  # there is something, but nothing in it
    keys = server.ask("DBSIZE")
    with pytest.raises(InputError) as caught:
        asyncio.run(import_index(config, path))
    said = str(caught.value)
    assert said.startswith(f"{str(path)!r} is")
    assert seems in said
    assert do in said
    assert "\n" not in said
    assert server.ask("DBSIZE") == keys


def test_an_export_that_was_unpacked_is_told_so(config, tmp_path):
    """What `zcat` makes of an export has no members to check; it is no feed either."""
    path = tmp_path / "index.jsonl"
    path.write_bytes(gzip.decompress(written(config, tmp_path / "x.gz").read_bytes()))
    with pytest.raises(InputError, match="looks like an export that was unpacked: name it as"):
        asyncio.run(import_index(config, path))


def test_what_is_no_file(dedup, redis_url, tmp_path):
    """Nobody is told to remove a device; a pipe, which can be read once, is not called damaged."""
    config = DedupConfig(redis_url=redis_url)
    opened(config, lambda index: index.stats(), PAGES)
    for special in ("/dev/null", str(tmp_path)):
        code, _, err = dedup("export", special)
        assert (code, err.count("name a new file"), err.count("remove")) == (Exit.USAGE, 1, 0)
    path = written(config, tmp_path / "x.gz")
    pipe, end = os.pipe()
    with os.fdopen(end, "wb") as file:
        file.write(path.read_bytes())
    code, _, err = dedup("import", f"/dev/fd/{pipe}", "-s", "DEDUP_NAMESPACE=new")
    os.close(pipe)
    assert (code, err.count("is a pipe")) == (Exit.USAGE, 1)


def test_the_permissions_that_are_documented_suffice(start_server, tmp_path):
    """The permissions in docs/howto/server.md suffice to export, import and query an index."""
    server = start_server(port=free_port())
    lines = (ROOT / "docs" / "howto" / "server.md").read_text(encoding="utf-8").splitlines()
    rule = next(line.split() for line in lines if "ACL SETUSER crawl" in line)
    server.ask(*rule, "~{new}:*")
    url = f"redis://crawl:password@127.0.0.1:{server.port}"
    opened(DedupConfig(redis_url=url), lambda index: inspection.read_top(index), PAGES)
    path = written(DedupConfig(redis_url=url), tmp_path / "x.gz")
    found = asyncio.run(import_index(DedupConfig(redis_url=url, namespace="new"), path))
    assert found.audit.faults == []


def test_an_index_that_ignores_what_earlier_ones_did(config, tmp_path):
    """Under the default of DEDUP_IGNORE it is refused by an error that says what to set."""
    old = replace(config, ignore="case,punctuation")
    opened(old, lambda index: index.check("http://a.example/", text(article(1))))
    path = written(old, tmp_path / "index.jsonl.gz")
    said = r"ignore: (?:index|\S+) case, punctuation, settings case, marks, typography"
    with pytest.raises(ParameterMismatch, match=said):
        opened(config, lambda index: index.stats())
    with pytest.raises(ParameterMismatch, match=said):
        asyncio.run(import_index(replace(config, namespace="new"), path))
    assert asyncio.run(import_index(replace(old, namespace="new"), path)).new == 1
    for namespace in (config.namespace, "new"):
        again = opened(
            replace(old, namespace=namespace),
            lambda index: index.check("http://b.example/", text(article(1)).replace(" ", ", ")),
        )
        assert again.kind is Kind.EXACT
