"""What a report and the web page say is what the index and the archive hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crawler.dedup import DedupConfig, DuplicateIndex
from crawler.dedup.archive.archived_pages import Archive
from crawler.dedup.archive.database import archive_path
from crawler.dedup.inspection import Top, read_clusters, read_top
from crawler.report import survey as survey_module
from crawler.report.content import Limits, describe_omissions, read_content
from crawler.report.s_curve import report_curve
from crawler.report.survey import KeptPairs, sample_pairs, take_survey
from crawler.wording import round_down
from tests.report.pages import fill, run
from tests.report.test_report import THREE
from tests.support.texts import article, changed, text

NO_PAIRS = KeptPairs(0, 0.0, {})


def content(config: DedupConfig, limits: Limits) -> dict[str, Any]:
    async def read() -> dict[str, Any]:
        async with DuplicateIndex.open(config) as index:
            with Archive.open(archive_path(config)) as archive:
                return await read_content(index, archive, limits)

    return run(read())


def test_on_a_server_and_on_a_cluster(index_url: str, tmp_path: Path) -> None:
    """Wherever the index lies, its clusters, their kept page and the texts come together."""
    config = DedupConfig(redis_url=index_url, data_dir=tmp_path)
    fill(config, THREE)
    found = content(config, Limits())
    assert found["near_total"] == 1
    assert [one["size"] for one in found["clusters"]] == [3]
    cluster = found["clusters"][0]
    assert cluster["kept"]["url"] == THREE[0][0]
    assert cluster["kept"]["title"] == THREE[0][2]
    assert [(page["kind"], page["comparison"]) for page in cluster["copies"]] == [
        ("near", 0),
        ("exact", None),
    ]
    (compared,) = found["comparisons"]
    rows = compared["rows"]
    assert compared["most_words"] is None
    assert [[t for t, is_changed in row[2] if is_changed] for row in rows] == [["other0"] * 5]
    assert found["near"][0]["original"] == THREE[0][0]
    assert list(describe_omissions(found)) == []


def test_hosts_are_those_of_top(index_url: str, tmp_path: Path) -> None:
    """Copies by host are the decisions that stand: a crawl that comes again changes nothing."""
    config = DedupConfig(redis_url=index_url, data_dir=tmp_path)
    fill(config, THREE)
    once = content(config, Limits())["hosts"]
    fill(config, THREE)
    assert content(config, Limits())["hosts"] == once

    async def top() -> Top:
        async with DuplicateIndex.open(config) as index:
            return await read_top(index)

    found = {one.host: (one.pages, one.exact, one.near, one.share) for one in run(top()).hosts}
    rows = {row["host"]: (row["pages"], row["exact"], row["near"], row["share"]) for row in once}
    assert found.items() <= rows.items()
    assert sum(exact + near for _, exact, near, _ in rows.values()) == 2


def test_limits(config: DedupConfig) -> None:
    """What is left out is counted and said, and what is in doubt is not left out first."""
    pages = []
    for number in range(6):
        words = article(number)
        pages += [
            (f"https://kept.example/{number}", text(words), ""),
            (f"https://copy.example/{number}", text(changed(words, 1 + number)), ""),
            (f"https://print.example/{number}", text(words), ""),
        ]
    fill(config, pages)
    found = content(config, Limits(clusters=2, members=1, comparisons=3))
    assert [one["kept"]["url"][-1] for one in found["clusters"]] == ["5", "4"]
    assert [len(one["copies"]) for one in found["clusters"]] == [1, 1]
    assert [one["comparison"] for one in found["near"]] == [0, 1, 2, None, None, None]
    said = " ".join(describe_omissions(found))
    assert "2 of 6 clusters" in said
    assert "3 pairs" in said


def test_survey(config: DedupConfig) -> None:
    """The slider's numbers are those of the index; each decision leads to the next one."""
    words = article(1, 1200)
    fill(config, [(f"https://{n}.example/", text(changed(words, n)), "") for n in (0, 2, 4, 8)])

    async def survey() -> Any:
        async with DuplicateIndex.open(config) as index:
            return await take_survey(index)

    found = run(survey())
    first, second, third = found.near
    assert first.similarity < second.similarity < third.similarity
    assert found.below_threshold(second.similarity) == [first]
    assert found.below_threshold(1.0) == [third, second, first]
    assert found.next_after(first.similarity, first.url) == second
    assert found.next_after(third.similarity, third.url) is None
    assert found.size_bins() == [("2", 0), ("3", 0), ("4", 1)]


@pytest.mark.parametrize("end", ["lost its place", "updated"])
def test_clusters_whose_page_is_kept_no_more(index_url: str, tmp_path: Path, end: str) -> None:
    """The report counts and lists the pages that the commands do, and says nothing of similarity to
    a page with which none was compared."""
    config = DedupConfig(redis_url=index_url, data_dir=tmp_path / "data", seed=1)
    words = article(1)
    urls = [f"https://{name}.example/" for name in "abcd"]
    texts = [text(changed(words, places, places)) for places in (0, 3, 0, 6)]
    fill(config, list(zip(urls, texts, urls, strict=True)))

    async def change() -> tuple[Any, Any, int]:
        async with DuplicateIndex.open(config) as index:
            old = await index.show(urls[0])
            assert old is not None
            if end == "updated":
                await index.check(urls[0], text(article(2)))
            else:
                await index.prefer(urls[1], texts[1])
            return await take_survey(index), await read_clusters(index), old.cluster

    survey, (cluster,), old = run(change())
    assert dict(survey.sizes) == {cluster.id: len(cluster.members)}
    assert survey.moved == ({} if end == "updated" else {old: cluster.id})
    (listed,) = content(config, Limits())["clusters"]
    assert listed["size"] == len(cluster.members) == (3 if end == "updated" else 4)
    assert (listed["kept"] or {"url": None})["url"] == cluster.url
    alike = {page.url: page.similarity and round_down(page.similarity) for page in cluster.members}
    assert {page["url"]: page["similarity"] for page in listed["copies"]} == {
        url: alike[url] for url in alike if url != cluster.url
    }


def test_doubt_in_a_cluster_whose_page_lost_its_place(
    config: DedupConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Near copies of the old page are in doubt, though that has the same words as the new one; and
    where no copy is listed there is no cluster to show."""
    words = article(1)
    texts = [text(changed(words, places, places)) for places in (0, 0, 6)]
    urls = [f"https://{name}.example/" for name in "abc"]
    fill(config, list(zip(urls, texts, urls, strict=True)))

    async def survey() -> Any:
        async with DuplicateIndex.open(config) as index:
            await index.prefer(urls[1], texts[1])
            return await take_survey(index)

    found = run(survey())
    (number,) = found.by_doubt()
    kinds = [(page.kind, page.cluster == number) for page in found.clusters[number]]
    assert kinds == [("near", False), ("exact", True)]
    (cluster,) = content(config, Limits())["clusters"]
    assert [page["similarity"] for page in cluster["copies"]] == [None, 1.0]
    monkeypatch.setattr(survey_module, "MOST_COPIES", 0)
    none = run(survey())
    assert (none.by_doubt(), none.unlisted, list(none.sizes.values())) == ([], 2, [3])


@pytest.mark.parametrize("method", ["fast", "simhash", "modulo", "supershingles"])
def test_curve_of_every_method(method: str) -> None:
    """A method without bands has no curve, and its similarities are drawn all the same."""
    curve = report_curve(DedupConfig(method=method), {"0.80": 3, "0.99": 6, "1.00": 1}, NO_PAIRS)
    assert bool(curve.line) == (method == "fast")
    assert [round(bar.height / curve.bars[1].height, 2) for bar in curve.bars] == [0.5, 1, 0.17]


@pytest.mark.parametrize("method", ["fast", "two-stage"])
def test_pairs_of_kept_pages(config: DedupConfig, method: str) -> None:
    """How alike kept pages are is drawn too: what the threshold keeps apart, where it shows."""
    # Which pairs share a band depends on the seed. Copies by `two-stage` are .97 similar at least.
    config = replace(config, seed=7, method=method, threshold=0.8 if method == "fast" else 1.0)
    pages = [(f"https://{n}.example/", text(article(n, 300)), "") for n in range(4)]
    pages.append(("https://alike.example/", text(changed(article(0, 300), 12)), ""))
    fill(config, pages)

    async def ask() -> KeptPairs:
        async with DuplicateIndex.open(config) as index:
            return await sample_pairs(index)

    found = run(ask())
    assert found.pages == 5
    assert sum(found.histogram.values()) == 1
    assert found.floor <= float(next(iter(found.histogram))) < config.threshold
    curve = report_curve(config, {}, found)
    assert [one.text.partition(": ")[2] for one in curve.pairs] == ["1 pair of kept pages"]
    assert content(config, Limits())["kept_pairs"] == found._asdict()
