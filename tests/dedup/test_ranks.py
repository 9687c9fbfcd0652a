"""DEDUP_PREFER is an order: of several copies the best is kept, however they come."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedup import DedupConfig, DuplicateIndex, Kind, ParameterMismatch
from crawler.dedup.exchange.requests import request_of
from crawler.dedup.export.page_lines import from_line, to_line
from crawler.dedup.ranks import CriteriaValues, is_better, rank_of
from crawler.dedup.store.records import parse_record, split_block
from tests.support.indexes import opened
from tests.support.ranked_copies import NEWS, draw_pages, key_of
from tests.support.texts import article, changed, text

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
FIRST, SECOND, THIRD = (text(changed(article(1), 1, seed=seed)) for seed in range(3))
ORDERS = [
    ("score",),
    ("later",),
    ("earlier",),
    ("https", "score"),
    ("canonical", "earlier"),
    ("earlier", "canonical"),
    ("longest", "shortest-url"),
    ("shortest-url", "later", "score"),
    ("canonical", "https", "earlier", "later", "longest", "shortest-url", "score", "field:https"),
]


@pytest.mark.parametrize(
    "word", ["longst", "earliest", "HTTPS", "shortest_url", "Canonical", "date"]
)
def test_a_misprint_is_no_field(word: str) -> None:
    """The error names the setting, the criterion that was meant, and how a field is told apart."""
    with pytest.raises(ValueError, match=rf"DEDUP_PREFER expects [\w -]+, or field:{word} for an"):
        DedupConfig(prefer=["score", word])
    assert DedupConfig(prefer=f"score,field:{word}").prefer == ("score", f"field:{word}")


@pytest.mark.parametrize("value", [{"https", "score"}, [1], "field:", 5, list(map(str, range(99)))])
def test_what_is_no_order(value: Any) -> None:
    with pytest.raises(ValueError, match="DEDUP_PREFER expects"):
        DedupConfig(prefer=value)


numbers = st.none() | st.floats(allow_nan=False) | st.integers(-(1 << 53), 1 << 53)


@given(numbers, numbers)
def test_ranks_are_in_the_order_of_a_field(one: float | None, other: float | None) -> None:
    """The larger number is the better, to the last bit of a float; none is the worst."""
    ranks = [
        rank_of(["score"], CriteriaValues("", fields={"score": value})) for value in (one, other)
    ]
    if one is None or other is None:
        assert is_better(*ranks) is (one is not None)
    else:
        assert is_better(*ranks) is (one > other)


claims = st.builds(
    CriteriaValues,
    url=st.sampled_from(["http://a/", "https://a/", "https://a/b", "a"]),
    names_other=st.booleans(),
    words=st.sampled_from([0, 7, 300]),
    date=st.none() | st.sampled_from([NEWS, NEWS + timedelta(seconds=1), datetime(1969, 1, 1)]),
    fields=st.fixed_dictionaries({"score": st.sampled_from([None, -1.5, 0, "7", True])}),
)


@given(st.sampled_from(ORDERS), claims, claims)
def test_ranks_are_in_the_order_of_the_criteria(
    order: Sequence[str], one: CriteriaValues, other: CriteriaValues
) -> None:
    """The first criterion that differs decides, whatever comes behind it."""
    ranks = [rank_of(order, page) for page in (one, other)]
    assert is_better(*ranks) is (key_of(order, one) < key_of(order, other))


async def assert_best_kept(config: DedupConfig, shuffles: int, *, at_once: bool = False) -> None:
    """See that of groups of copies the best is kept, whether they come in turn or `at_once`."""
    order = config.prefer
    chooser = random.Random(",".join(order))
    async with DuplicateIndex.open(config) as index:
        words = [changed(article(1), n, seed=n)[: 600 - n] for n in range(4)]
        variants = [index.fingerprint(text(one)) for one in words]
        groups = [draw_pages(chooser, number, len(variants)) for number in range(shuffles)]
        requests = [
            request_of(
                index.config,
                page.values.url,
                index.fingerprint.scoped(variants[page.variant], str(number)),
                canonical="http://other/" if page.values.names_other else None,
                date=page.values.date,
                fields=page.values.fields,
            )
            for number, group in enumerate(groups)
            for page in group
        ]
        if not at_once:
            requests = [one for turn in range(5) for one in requests[turn::5]]
        for start in range(0, len(requests), index.store.exchange):
            await index.store.check(requests[start : start + index.store.exchange])
        for group in groups:
            pages = [one.values._replace(words=variants[one.variant].words) for one in group]
            best = min(pages, key=lambda page: key_of(order, page))
            shown = await index.store.show(best.url)
            assert shown is not None
            assert (shown.answer.standing, shown.answer.duplicate_of) == ("unique", None), pages
        assert (await index.stats()).kept == shuffles
        assert (await index.verify()).faults == []


@pytest.mark.parametrize("order", ORDERS, ids=",".join)
async def test_the_best_copy_is_kept_in_whatever_order_they_come(
    redis_url: str, order: tuple[str, ...]
) -> None:
    """Of copies in 1,000 orders in all; the first of the best where they tie."""
    await assert_best_kept(DedupConfig(redis_url=redis_url, prefer=order), 1000 // len(ORDERS) + 1)


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("at_once", [False, True])
async def test_the_best_copy_is_kept_on_a_cluster(
    cluster_url: str, shards: int, at_once: bool
) -> None:
    """In one slot and spread, also of copies that are being checked at the same time."""
    config = DedupConfig(redis_url=cluster_url, shards=shards, prefer=ORDERS[-1])
    await assert_best_kept(config, 25, at_once=at_once)


async def test_a_copy_that_comes_again_with_a_better_rank(index_url: str) -> None:
    """Takes the place, and so does another when the page that is kept comes with a worse one."""
    async with opened(index_url, prefer="score") as index:
        await index.check(A, FIRST, fields={"score": 5})
        assert (await index.check(B, SECOND, fields={"score": 3})).duplicate_of == A
        assert (await index.check(C, THIRD, fields={"score": 4})).duplicate_of == A
        again = await index.check(B, SECOND, fields={"score": 6})
        assert (again.kind, again.replaces) == (Kind.UPDATED, A)
        assert (await index.check(B, SECOND, fields={"score": 1})).kind is Kind.UNCHANGED
        assert (await index.check(A, FIRST, fields={"score": 5})).replaces == B
        again = await index.check(C, THIRD, fields={"score": 4})
        assert (again.kind, again.duplicate_of) == (Kind.UNCHANGED, A)


async def test_what_a_person_decides_goes_before_ranks(index_url: str) -> None:
    """A preferred page keeps its place, one to be kept stays, one to be dropped takes none."""
    async with opened(index_url, prefer="score") as index:
        await index.check(A, FIRST, fields={"score": 5})
        await index.check(B, SECOND, fields={"score": 3})
        assert (await index.prefer(B, SECOND)).replaces == A
        assert (await index.check(B, SECOND, fields={"score": 3})).kind is Kind.UNCHANGED
        for _ in range(2):
            again = await index.check(A, FIRST, fields={"score": 9})
            assert (again.kind, again.duplicate_of) == (Kind.UNCHANGED, B)
        assert (await index.check(C, THIRD, fields={"score": 9})).duplicate_of == B
        await index.override(A, "keep")
        assert (await index.check(A, FIRST)).kind is Kind.UPDATED
        await index.override(A, None)
        assert (await index.check(A, FIRST, fields={"score": 9})).duplicate_of == B
        await index.override(C, "drop")
        await index.gone(B)
        assert (await index.check(C, THIRD, fields={"score": 9})).replaces is None
        assert (await index.check(A, FIRST, fields={"score": 1})).replaces == B


async def test_a_page_that_somebody_keeps_loses_no_place(index_url: str) -> None:
    """Beside it the best of the others is kept, in both orders."""
    async with opened(index_url, prefer="score") as index:
        await index.check(A, FIRST, fields={"score": 5})
        await index.override(B, "keep")
        assert (await index.check(B, SECOND, fields={"score": 3})).kind is Kind.UNIQUE
        best = await index.check(C, THIRD, fields={"score": 9})
        assert (best.kind, best.replaces) == (Kind.UNIQUE, A)
        assert (await index.check(A, FIRST, fields={"score": 4})).duplicate_of == C
        assert (await index.check(B, SECOND, fields={"score": 3})).kind is Kind.UNCHANGED
        assert (await index.stats()).kept == 2


async def test_pages_that_name_each_other_as_canonical_stay(index_url: str) -> None:
    """Each would give its place away; alone, `canonical` lets nobody else take it."""
    async with opened(index_url, prefer="canonical") as index:
        await index.check(A, FIRST, canonical=B)
        assert (await index.check(C, THIRD)).duplicate_of == A
        for _ in range(2):
            assert (await index.check(B, SECOND, canonical=A)).duplicate_of == A
        assert (await index.check(B, SECOND)).replaces == A


async def test_an_index_says_which_order_it_has(redis_url: str) -> None:
    """Another order is an error that says what to set; those of the first versions have none."""
    for order, hint in (("score,later", "DEDUP_PREFER to 'score,later'"), ("", "to canonical, e")):
        config = DedupConfig(redis_url=redis_url, prefer=order, namespace=order or "no")
        async with DuplicateIndex.open(config):
            pass
        other = DedupConfig(redis_url=redis_url, prefer="https", namespace=order or "no")
        with pytest.raises(ParameterMismatch, match=hint):
            async with DuplicateIndex.open(other):
                pass
    for order in ("canonical", "earlier", "canonical,earlier", "earlier,canonical"):
        config = DedupConfig(redis_url=redis_url, prefer=order, namespace="no")
        async with DuplicateIndex.open(config) as index:
            assert (await index.stats()).kept == 0


@pytest.mark.parametrize("before", ["earlier", "canonical,earlier", "earlier,canonical"])
@pytest.mark.parametrize("after", ["earlier", "canonical,earlier", "earlier,canonical"])
async def test_orders_that_replace_each_other_compare_dates(
    index_url: str, before: str, after: str
) -> None:
    """The kept page has the rank of another order until it is checked again."""
    day = timedelta(days=1)
    async with opened(index_url, prefer=before) as index:
        await index.check(A, FIRST, date=NEWS)
    async with opened(index_url, prefer=after) as index:
        assert (await index.check(B, SECOND, date=NEWS + day)).duplicate_of == A
        assert (await index.check(C, THIRD, date=NEWS - day)).replaces == A


async def test_dates_of_earlier_versions_are_ranks(redis_url: str) -> None:
    """A record that has a date in its old place loses it to an earlier one alone."""
    async with opened(redis_url, prefer="earlier") as index:
        await index.check(A, FIRST, date=NEWS)
        ((_, packed),) = split_block((await index.store.packed_blocks([(0, 0)]))[0])
        own, rank = parse_record(1, packed, 128).own, int(NEWS.timestamp()).to_bytes(4)
        assert parse_record(1, packed, 128).rank == rank
        said = packed[3:40] + rank + bytes(12) + (own if any(own) else b"")
        assert packed[40:45] == b"\4" + rank
        beginning = packed[0] // 64 * 64
        old = bytes([beginning + len(said)]) + packed[1:3] + said + packed[45:]
        record = parse_record(1, packed, 128)
        assert parse_record(1, old, 128) == record
        line = to_line(record)
        assert from_line(line, 128).rank == rank
        del line["rank"]
        assert from_line({**line, "date": int(NEWS.timestamp())}, 128).rank == rank
        await index.store._client.lset(index.store.keys.numbered("page", 0), 1, old)
        assert (await index.check(B, SECOND, date=NEWS)).duplicate_of == A
        day = timedelta(days=1)
        assert (await index.check(C, THIRD, date=NEWS - day)).replaces == A
