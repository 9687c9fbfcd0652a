"""The index against a model in memory: any sequence of visits gets the same verdicts."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from tests.texts import article, changed, text

# Families of texts: near-duplicates within (J about .93), nothing in common between. So at most one
# text of a family is kept, and no estimate falls near the threshold. A short text and the lack of
# one are families of their own.
TEXTS = {
    (family, variant): text(changed(article(family), 1, seed=variant))
    for family in range(3)
    for variant in range(3)
} | {(3, 0): "only four words here", (4, 0): "another four words here", (5, 0): ""}
SHORT, EMPTY = (3, 4, 5), 5
URLS = [f"http://host/{n}" for n in range(6)]


@dataclass(eq=False)
class Page:
    url: str
    text: tuple[int, int]
    original: Page | None = None

    @property
    def standing(self) -> Kind:
        if self.original is not None:
            return Kind.EXACT if self.text == self.original.text else Kind.NEAR
        return Kind.SHORT if self.text[0] in SHORT else Kind.UNIQUE


class Model:
    """What the index should answer, written for the reader and not for the machine."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}

    def check(self, url: str, text: tuple[int, int]) -> tuple[Kind, str | None]:
        known = self.pages.get(url)
        same_text = known is not None and known.text == text
        stands = known and (known.original is None or known.original in self.pages.values())
        if known and same_text and stands:
            return Kind.UNCHANGED, known.original and known.original.url
        self.pages.pop(url, None)
        page = self.pages[url] = Page(url, text)
        for other in self.pages.values():
            kept = other is not page and other.original is None
            if kept and other.text[0] == text[0] != EMPTY:
                page.original = other
        if page.original is not None:
            return Kind.UNCHANGED if same_text else page.standing, page.original.url
        return Kind.UPDATED if known is not None else page.standing, None


class IndexMachine(RuleBasedStateMachine):
    """Visits and forgets pages in the index and in the model, and compares what they say."""

    redis_url: str
    runner: asyncio.Runner
    namespaces = 0

    def __init__(self) -> None:
        super().__init__()
        IndexMachine.namespaces += 1
        self.model = Model()
        self.checks = 0
        self.stack = AsyncExitStack()
        config = DedupConfig(
            redis_url=self.redis_url, shards=8, namespace=f"model{self.namespaces}"
        )
        self.index = self.run(self.stack.enter_async_context(DuplicateIndex.open(config)))

    def run(self, coroutine: Any) -> Any:
        return self.runner.run(coroutine)

    def teardown(self) -> None:
        self.run(self.stack.aclose())

    @rule(url=st.sampled_from(URLS), text=st.sampled_from(sorted(TEXTS)))
    def visit(self, url: str, text: tuple[int, int]) -> None:
        verdict = self.run(self.index.check(url, TEXTS[text]))
        assert (verdict.kind, verdict.duplicate_of) == self.model.check(url, text)
        assert verdict.standing == self.model.pages[url].standing
        self.checks += 1

    @rule(url=st.sampled_from(URLS))
    def forget(self, url: str) -> None:
        assert self.run(self.index.forget(url)) is (self.model.pages.pop(url, None) is not None)

    @rule(url=st.sampled_from(URLS))
    def show(self, url: str) -> None:
        record, page = self.run(self.index.show(url)), self.model.pages.get(url)
        assert (record is None) is (page is None)
        if page is not None:
            assert record.kind is page.standing
            still_kept = page.original in self.model.pages.values()
            assert record.duplicate_of == (page.original.url if still_kept else None)

    @invariant()
    def is_sound(self) -> None:
        stats, audit = self.run(self.index.stats()), self.run(self.index.verify())
        assert audit.faults == []
        assert stats.urls == len(self.model.pages)
        assert stats.kept == sum(page.original is None for page in self.model.pages.values())
        assert sum(stats.verdicts.values()) == self.checks


def test_any_sequence_of_visits_gets_the_verdicts_of_the_model(index_url: str) -> None:
    """Visits, changes and forgetting in any order: verdicts, records and counters agree."""
    IndexMachine.redis_url, IndexMachine.namespaces = index_url, 0
    examples = 10 if "cluster" in index_url else 25
    with asyncio.Runner() as runner:
        IndexMachine.runner = runner
        run_state_machine_as_test(
            IndexMachine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=25,
                deadline=None,
            ),
        )
    assert IndexMachine.namespaces >= examples
