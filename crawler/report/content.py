"""The content of a report as plain values, for the file and for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..wording import counted, round_down
from .survey import kept_pages, sample_pairs, take_survey
from .tables import host_rows, verdict_rows
from .texts import MOST_WORDS, side_by_side, spell_out

if TYPE_CHECKING:
    from ..dedup.archive.archived_pages import Archive
    from ..dedup.index import DuplicateIndex
    from .survey import ClusterPage

_MOST_DECISIONS = 50


class Limits(NamedTuple):
    """The limits of a report: clusters, copies of each, pairs of texts."""

    clusters: int = 500
    members: int = 30
    comparisons: int = 200


async def read_content(index: DuplicateIndex, archive: Archive, limits: Limits) -> dict[str, Any]:
    """Read the index and the archive. Invisible characters in texts and URLs are escaped.

    Raises :class:`ServerError` for the index, and :class:`InputError` for the archive.
    """
    stats, survey = await index.stats(), await take_survey(index)
    numbers = survey.by_doubt()[: limits.clusters]
    decisions = survey.near[:_MOST_DECISIONS]
    kept = await kept_pages(index, {*numbers, *(page.cluster for page in decisions)})
    comparisons = _Comparisons(archive, kept, index.config.ignore, limits.comparisons)
    listed = {number: survey.clusters[number][: limits.members] for number in numbers}
    urls = [page.url for page in kept.values()]
    urls += [page.url for pages in (decisions, *listed.values()) for page in pages]
    titles = archive.titles(urls)
    near = [_decision_row(page, kept, titles, comparisons) for page in decisions]
    clusters = [
        {
            "number": number,
            "size": survey.sizes[number],
            "kept": _page_row(kept[number], titles) if number in kept else None,
            "copies": [_copy_row(page, number, titles, comparisons) for page in listed[number]],
        }
        for number in numbers
    ]
    hosts, other_hosts = host_rows(survey.hosts.values())
    pairs = await sample_pairs(index)
    return {
        "namespace": spell_out(stats.namespace),
        "made": survey.taken.isoformat(timespec="seconds"),
        "threshold": index.config.threshold,
        "stats": stats.to_dict(),
        "overrides": len(await index.overrides()),
        "verdicts": verdict_rows(stats.verdicts),
        "hosts": hosts,
        "other_hosts": other_hosts,
        "kept_pairs": pairs._asdict(),
        "sizes": survey.size_bins(),
        "near": near,
        "near_total": len(survey.near),
        "clusters": clusters,
        "clusters_total": len(survey.clusters),
        "unlisted_copies": survey.unlisted,
        "archived": len(archive),
        "limits": limits._asdict(),
        "comparisons": comparisons.found,
    }


class _Comparisons:
    """The pairs of texts in a report, each compared once, up to a limit."""

    def __init__(
        self, archive: Archive, kept: dict[int, ClusterPage], ignore: frozenset[str], limit: int
    ) -> None:
        self.found: list[dict[str, Any]] = []
        self._archive = archive
        self._kept = kept
        self._ignore = ignore
        self._limit = limit
        self._places: dict[str, int] = {}

    def place_of(self, page: ClusterPage) -> int | None:
        """The index of a copy's comparison in ``found``; None if there is none."""
        original = self._kept.get(page.cluster)
        if page.kind != "near" or original is None:
            return None
        if page.url not in self._places and len(self.found) < self._limit:
            compared = compare_pages(self._archive, original.url, page.url, self._ignore)
            if compared is not None:
                self._places[page.url] = len(self.found)
                self.found.append(compared)
        return self._places.get(page.url)


def compare_pages(
    archive: Archive, kept: str, copy: str, ignore: frozenset[str]
) -> dict[str, Any] | None:
    """The differences of two pages' texts; None if the archive lacks one of them.

    ``rows`` is None if they differ too much. ``most_words`` is the number of words of each text
    that were compared; None if all were.
    """
    left, right = archive.page(kept), archive.page(copy)
    if left is None or right is None:
        return None
    whole = left.is_whole, right.is_whole
    rows, is_whole = side_by_side(left.text, right.text, ignore=ignore, whole=whole)
    return {
        "titles": [spell_out(left.title), spell_out(right.title)],
        "rows": rows and [[skipped, *map(_list_sides, sides)] for skipped, *sides in rows],
        "most_words": None if is_whole else MOST_WORDS,
    }


def _list_sides(segments: list[Any]) -> list[list[Any]]:
    return [[text, int(changed)] for text, changed in segments]


def _decision_row(
    page: ClusterPage,
    kept: dict[int, ClusterPage],
    titles: dict[str, str],
    comparisons: _Comparisons,
) -> dict[str, Any]:
    original = kept.get(page.cluster)
    return {
        **_page_row(page, titles),
        "original": spell_out(original.url) if original else None,
        "comparison": comparisons.place_of(page),
    }


def _copy_row(
    page: ClusterPage, number: int, titles: dict[str, str], comparisons: _Comparisons
) -> dict[str, Any]:
    row = {**_page_row(page, titles), "comparison": comparisons.place_of(page)}
    if page.cluster != number:  # its similarity is to an earlier original
        row |= dict.fromkeys(("similarity", "low", "high"))
    return row


def _page_row(page: ClusterPage, titles: dict[str, str]) -> dict[str, Any]:
    return {
        "url": spell_out(page.url),
        "title": spell_out(titles.get(page.url, "")),
        "kind": page.kind,
        "similarity": round_down(page.similarity),
        "low": round_down(page.low),
        "high": round_down(page.high),
        "words": page.words,
        "first_seen": page.first_seen.date().isoformat(),
        "last_seen": page.last_seen.date().isoformat(),
    }


def describe_omissions(content: dict[str, Any]) -> Iterator[str]:
    """Sentences about what the report leaves out."""
    clusters, total = len(content["clusters"]), content["clusters_total"]
    if clusters < total:
        yield (
            f"This report lists {clusters:,} of {total:,} clusters, those in doubt first; "
            "--clusters lists more."
        )
    if content["unlisted_copies"]:
        unlisted = counted(content["unlisted_copies"], "further copy is", "further copies are")
        yield f"{unlisted} counted but cannot be listed."
    if len(content["comparisons"]) == content["limits"]["comparisons"]:
        yield (
            f"Texts are shown for {counted(len(content['comparisons']), 'pair')}, those in doubt "
            "first; --texts shows more."
        )
    if not content["archived"] and total:
        yield "The archive has no texts: DEDUP_ARCHIVE is 0, or another machine crawled the pages."
