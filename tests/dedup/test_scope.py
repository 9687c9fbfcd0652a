"""Pages of different scopes are no copies of each other, though one index has them all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch, Verdict
from crawler.dedup.errors import InputError
from crawler.dedup.fingerprint import Fingerprinter
from crawler.dedup.sketches import METHODS
from crawler.offline import columns, load_chunks
from crawler.offline.records.files import cut_pieces, local_files, piece_size
from crawler.offline.records.input_pages import InputReader
from tests.support.texts import article, changed, text

HOSTS = ("a.example", "www.b.example", "shop.b.example:8080")
TEXTS = [
    text(changed(article(number, 300), places, places))
    for number in range(5)
    for places in (0, number, 0, 2 * number + 1)
]
TEXTS += ["three words only", "", "Three words, only!", text(article(9, 9000)), text(article(1, 5))]
TEXTS += [text(article(9, 9000)[:8500])]
PAGES = [(f"http://{host}/{n}", one) for n, one in enumerate(TEXTS) for host in HOSTS]


def decided(verdicts: list[Verdict]) -> list[tuple[Any, ...]]:
    return [(one.url, one.kind, one.duplicate_of, one.similarity) for one in verdicts]


async def checked(config: DedupConfig, pages: list[tuple[str, str]]) -> list[tuple[Any, ...]]:
    async with DuplicateIndex.open(config) as index:
        verdicts = await index.check_many(pages)
        assert (await index.verify()).faults == []
        return decided(verdicts)


def config_of(url: str, name: str, **options: Any) -> DedupConfig:
    return DedupConfig(redis_url=url, namespace=name, seed=1, **options)


@pytest.mark.parametrize("method", METHODS)
async def test_a_scope_is_like_an_index_of_its_own(redis_url: str, method: str) -> None:
    """Each host's pages get the verdicts that an index without the others gives them."""
    together = await checked(config_of(redis_url, "all", method=method, scope="host"), PAGES)
    for host in HOSTS:
        own = [(url, one) for url, one in PAGES if f"//{host}/" in url]
        alone = await checked(config_of(redis_url, host, method=method), own)
        assert [one for one in together if f"//{host}/" in one[0]] == alone
    assert len({one[1] for one in together}) >= 3  # among them copies


@pytest.mark.parametrize("word", ["hosts", "Host", "domians"])
def test_a_misprint_is_no_field(word: str) -> None:
    """All pages would share a scope, as no item has such a field; one that has can be named."""
    with pytest.raises(ValueError, match=rf"DEDUP_SCOPE expects (host|domain), or field:{word} "):
        DedupConfig(scope=word)
    assert DedupConfig(scope=f"field:{word}").scope_field == word
    assert DedupConfig(scope="field:tenant") == DedupConfig(scope="tenant")


async def test_a_spread_index_has_scopes_too(cluster_url: str, redis_url: str) -> None:
    """The server knows nothing of them, whichever it is."""
    one = await checked(config_of(redis_url, "one", scope="domain"), PAGES)
    spread = await checked(config_of(cluster_url, "spread", scope="domain", shards=8), PAGES)
    assert spread == one
    assert {kind for _, kind, *_ in one if kind is not Kind.UNIQUE} > {Kind.NEAR}
    pairs = {(url.split("/")[2], known.split("/")[2]) for url, _, known, _ in one if known}
    assert ("shop.b.example:8080", "www.b.example") in pairs  # two hosts of one domain
    assert not {pair for pair in pairs if ("a.example" in pair) and pair[0] != pair[1]}


async def test_scopes_are_a_parameter(redis_url: str) -> None:
    """An index that was made without them refuses them; without them it has none."""
    async with DuplicateIndex.open(config_of(redis_url, "dedup")) as index:
        assert "scope" not in (await index.stats()).parameters
    with pytest.raises(ParameterMismatch, match="scope: index –, settings host"):
        async with DuplicateIndex.open(config_of(redis_url, "dedup", scope="host")):
            pass


async def test_what_is_asked_names_its_scope(redis_url: str) -> None:
    """By a URL, or by name; without either it is an error that says so."""
    async with DuplicateIndex.open(config_of(redis_url, "dedup", scope="host")) as index:
        await index.check_many(PAGES[:6])
        for options in ({"url": "http://a.example/new"}, {"scope": "a.example"}):
            found = await index.find(TEXTS[0], **options)
            assert [one.url for one in found] == ["http://a.example/0", "http://a.example/1"]
        with pytest.raises(InputError, match="--scope"):
            await index.find(TEXTS[0])
    async with DuplicateIndex.open(config_of(redis_url, "field", scope="tenant")) as index:
        with pytest.raises(InputError, match="'tenant'"):
            await index.check(*PAGES[0])
        assert (await index.check(*PAGES[0], scope="red")).kind is Kind.UNIQUE
        assert (await index.check(*PAGES[1], scope="blue")).kind is Kind.UNIQUE
        assert (await index.check(*PAGES[2], scope="red")).kind is Kind.EXACT
        verdict = await index.prefer(PAGES[2][0], PAGES[2][1], scope="red")
        assert verdict.replaces == PAGES[0][0]


async def test_files_have_scopes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A load, and a job on Spark, compare what a crawl compares."""
    path = tmp_path / "pages.jsonl"
    rows = [
        {"url": url, "text": one, "tenant": number % 2} for number, (url, one) in enumerate(PAGES)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = local_files(str(path))
    config = DedupConfig(scope="tenant", data_dir=tmp_path)
    fingerprinter = Fingerprinter(config, seed=1)
    expected = [
        fingerprinter.scoped(fingerprinter(row["text"]), str(row["tenant"])) for row in rows
    ]
    monkeypatch.setattr(load_chunks, "_reader", InputReader(config), raising=False)
    monkeypatch.setattr(load_chunks, "_fingerprinter", fingerprinter, raising=False)
    monkeypatch.setattr(load_chunks, "_crawl", None, raising=False)
    batches = load_chunks.RecordSource(files, config, -1).read_batches()
    loaded = [one for batch in batches for one in load_chunks._make_requests(batch).requests]
    assert [one.fingerprint for one in loaded] == expected
    pieces = [{**one._asdict(), "content": None} for one in cut_pieces(files, piece_size(files))]
    (read,) = columns.read_pages([pa.RecordBatch.from_pylist(pieces)], config, 1)
    for row, page, cells in zip(rows, expected, read.to_pylist(), strict=True):
        told = tuple(cells[name] for name in ("exact", "words", "bands", "odd"))
        assert told == columns.cells_of(page, row["url"])[:4]
