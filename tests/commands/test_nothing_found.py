"""What commands say where there is nothing: no index of that name, or nothing in it that fits."""

from __future__ import annotations

import asyncio
import json

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, DuplicateIndex
from tests.support.texts import article, text

URL = "http://a.example/1"


@pytest.mark.parametrize(
    "words",
    [
        ["clusters"],
        ["clusters", "--story", "0.5"],
        ["clusters", URL],
        ["export", "index.jsonl.gz"],
        ["find", __file__],
        ["show", "--why", URL],
        ["where"],
        ["where", "--to", "a.example"],
        ["where", "-o", "moved.json", "--json"],
        ["rethreshold", "0.9"],
        ["sample", "near"],
        ["sample", "near", "--host", "a.example"],
        ["show", URL],
        ["stats"],
        ["top"],
        ["top", "--host", "a.example"],
        ["tune", "--sample", "5"],
        ["where", URL],
    ],
    ids=" ".join,
)
def test_a_name_of_no_index_is_said(dedup, fill, words, tmp_path):
    """A misspelt name is no healthy index without results: all commands say the same of it."""
    fill([(URL, text(article(1)))])
    words = [str(tmp_path / word) if "json" in word.partition(".")[2] else word for word in words]
    code, out, err = dedup(*words, "-s", "DEDUP_NAMESPACE=misspelt")
    assert (code, err) == (
        Exit.NOTHING,
        "scrapy dedup: nothing yet in the index 'misspelt'; crawl first, or name another in "
        "DEDUP_NAMESPACE: scrapy dedup indexes lists all of the server\n",
    )
    # The one says all the same that it never saw the page, the other shows the curve.
    assert (
        not out
        or words[:2] == ["show", "--why"]
        or (words[0] == "tune" and "in the index" not in out)
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [["stats"], ["top"], ["verify"]], ids=" ".join)
def test_a_crawl_without_pages_is_said(dedup, redis_url, words):
    """Whoever has crawled is not told to crawl first."""

    async def begin() -> None:
        async with DuplicateIndex.open(DedupConfig(redis_url=redis_url)) as index:
            await index.begin_crawl()

    asyncio.run(begin())
    crawled = json.loads(dedup("stats", "--json")[1])["last_crawl"]
    assert dedup(*words)[::2] == (
        Exit.NOTHING,
        "scrapy dedup: nothing yet in the index 'dedup'; the log of its last crawl, "
        f"{crawled}, says why\n",
    )


def test_redirects_that_are_there_outlive_a_misspelt_name(dedup, fill, tmp_path):
    """A map that a web server obeys is not replaced by an empty one; of an index of pages it is."""
    fill([(URL, text(article(1)))])
    file = tmp_path / "moved.map"
    file.write_text("as it was")
    words = ["where", "--format", "nginx", "-o", str(file)]
    assert dedup(*words, "-s", "DEDUP_NAMESPACE=misspelt")[0] == Exit.NOTHING
    assert file.read_text() == "as it was"
    assert dedup(*words)[0] == Exit.NOTHING
    assert file.read_text().startswith("# 0 pages that moved")


def test_an_index_without_pages_is_exported(dedup, fill, tmp_path):
    """It is there, with its parameters, though all of its pages are forgotten."""
    fill([(URL, text(article(1)))])
    dedup("forget", URL)
    file = tmp_path / "index.jsonl.gz"
    code, out, err = dedup("export", str(file))
    assert (code, err) == (Exit.NOTHING, "scrapy dedup: the index holds no pages\n")
    assert out.startswith("0 pages are in ")
    assert file.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["clusters"], "the index holds no clusters of 2 pages"),
        (["where"], "no page of the index is gone"),
        (["where", "-o", "/dev/null"], "no page of the index is gone"),
        (["rethreshold", "0.9"], "no decision would change, as far as the index can tell"),
        (["sample", "near"], "no page of the index matches"),
        (["show", "a.example"], "does its URL begin with https:// or http://?"),
        (["top"], "the index holds no duplicates"),
        (["tune", "--sample", "5"], "the index holds no near-duplicates, and no two pages to"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else None,
)
def test_an_index_without_results_is_said(dedup, fill, words, said):
    """Of an index with pages, a command says what it has not found in it."""
    fill([(URL, text(article(1)))])
    code, _, err = dedup(*words)
    assert (code, err.count("\n")) == (Exit.NOTHING, 1)
    assert said in err
