"""The index against a model in memory: any sequence of visits gets the same verdicts."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from crawler.dedup import DedupConfig, DuplicateIndex, Kind
from tests.support.texts import article, changed, text

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
    seen: int  # crawls that had begun when it was checked last
    crawl: int | None  # that in which it was, if it was in one
    original: Page | None = None
    gone: bool = False
    contested: bool = False

    @property
    def standing(self) -> Kind:
        if self.original is not None:
            return Kind.EXACT if self.text == self.original.text else Kind.NEAR
        return Kind.SHORT if self.text[0] in SHORT else Kind.UNIQUE


@dataclass
class Expected:
    """What may be answered; of several kept pages with a text any may be named."""

    kind: Kind
    page: Page
    originals: list[Page]
    replaces: str | None = None


class Model:
    """What the index should answer, written for the reader and not for the machine."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.begun = 0
        self.crawl: int | None = None

    def is_unconfirmed(self, page: Page) -> bool:
        return self.crawl is not None and page.seen < self.crawl

    def is_kept(self, page: Page | None) -> bool:
        return page in self.pages.values() and page is not None and page.original is None

    def stands(self, page: Page, final: bool) -> bool:
        original = page.original
        if original is None:
            return not page.contested
        gives_way = final and self.is_unconfirmed(original)
        return self.is_kept(original) and not original.gone and not gives_way

    def check(self, url: str, text: tuple[int, int], final: bool) -> Expected:
        known = self.pages.get(url)
        is_again = known is not None and known.crawl == self.crawl is not None
        before = Kind.REPEATED if is_again else Kind.UNCHANGED
        if known is not None and known.text == text and self.stands(known, final):
            known.seen, known.crawl, known.gone = self.begun, self.crawl, False
            return Expected(before, known, [known.original] if known.original else [])
        return self.decide(url, text, final, known, before)

    def decide(
        self, url: str, text: tuple[int, int], final: bool, known: Page | None, before: Kind
    ) -> Expected:
        was_kept = known is not None and known.original is None
        same_text = known is not None and known.text == text
        self.pages.pop(url, None)
        like = [
            page
            for page in self.pages.values()
            if page.original is None and page.text[0] == text[0] != EMPTY
        ]
        beaten = [page for page in like if page.gone]
        stale = [page for page in like if self.is_unconfirmed(page) and not page.gone]
        contested = stale if was_kept or final else []
        originals = [page for page in like if page not in beaten and page not in contested]
        confirmed = [page for page in originals if not self.is_unconfirmed(page)]
        originals = confirmed or originals
        exact = [page for page in originals if page.text == text]
        page = Page(url, text, self.begun, self.crawl, (exact or originals or [None])[0])
        if page.original is not None:
            self.pages[url] = page
            kind = before if same_text and not was_kept else page.standing
            return Expected(kind, page, exact or originals)
        if known is not None and was_kept and same_text:  # the same page, for its copies
            known.seen, known.crawl = page.seen, page.crawl
            known.gone = known.contested = False
            page = known
        self.pages[url] = page
        for other in beaten:
            other.original = page
        for other in contested:
            other.contested = True
        if same_text and was_kept:
            return Expected(before, page, [])
        return Expected(Kind.UPDATED if known is not None else page.standing, page, [])


class IndexMachine(RuleBasedStateMachine):
    """Visits and forgets pages in the index and in the model, and compares what they say."""

    redis_url: str
    runner: asyncio.Runner
    namespaces = 0

    def __init__(self) -> None:
        super().__init__()
        IndexMachine.namespaces += 1
        self.model = Model()
        self.checks = self.steps = 0
        self.stack = AsyncExitStack()
        config = DedupConfig(
            redis_url=self.redis_url, shards=8, namespace=f"model{self.namespaces}"
        )
        self.index = self.run(self.stack.enter_async_context(DuplicateIndex.open(config)))

    def run(self, coroutine: Any) -> Any:
        return self.runner.run(coroutine)

    def teardown(self) -> None:
        self.run(self.stack.aclose())

    @rule()
    def begin_crawl(self) -> None:
        self.run(self.index.end_crawl())
        self.run(self.index.begin_crawl())
        self.model.begun += 1
        self.model.crawl = self.model.begun

    @rule()
    def end_crawl(self) -> None:
        self.run(self.index.end_crawl())
        self.model.crawl = None

    @rule(url=st.sampled_from(URLS), text=st.sampled_from(sorted(TEXTS)), final=st.booleans())
    def visit(self, url: str, text: tuple[int, int], final: bool) -> None:
        hosts = ["elsewhere", "host"] if final else []
        verdict = self.run(self.index.check(url, TEXTS[text], final=hosts))
        expected = self.model.check(url, text, final)
        assert verdict.kind == expected.kind
        named = {page.url: page for page in expected.originals}
        assert verdict.duplicate_of in (named or [None])
        if named:
            expected.page.original = named[verdict.duplicate_of]
            unconfirmed = self.model.is_unconfirmed(expected.page.original)
            assert verdict.unconfirmed is unconfirmed
        assert verdict.standing == expected.page.standing
        self.checks += 1

    @rule(url=st.sampled_from(URLS))
    def gone(self, url: str) -> None:
        page = self.model.pages.get(url)
        assert self.run(self.index.gone(url, 1 << 31)) is (page is not None)
        if page is not None:
            page.gone = True

    @rule()
    def originals(self) -> None:
        for url, found in self.run(self.index.originals(URLS)).items():
            page = self.model.pages.get(url)
            state = "confirmed"
            if page is None:
                state = "lost"
            elif page.original is not None:
                original = page.original
                if not self.model.is_kept(original) or original.gone:
                    state = "lost"
                elif self.model.is_unconfirmed(original):
                    state = "unconfirmed"
            assert found.state == state

    @rule(url=st.sampled_from(URLS))
    def forget(self, url: str) -> None:
        assert self.run(self.index.forget(url)) is (self.model.pages.pop(url, None) is not None)

    @rule(url=st.sampled_from(URLS))
    def show(self, url: str) -> None:
        record, page = self.run(self.index.show(url)), self.model.pages.get(url)
        assert (record is None) is (page is None)
        if page is not None:
            assert record.kind is page.standing
            still_kept = self.model.is_kept(page.original)
            assert record.duplicate_of == (page.original.url if still_kept else None)

    @invariant()
    def is_sound(self) -> None:
        audit = self.run(self.index.verify())
        assert audit.faults == []
        assert audit.urls == len(self.model.pages)
        self.steps += 1
        if self.steps % 5:  # what is counted wrongly stays so, and to ask takes longest
            return
        stats = self.run(self.index.stats())
        assert stats.urls == len(self.model.pages)
        assert stats.kept == sum(page.original is None for page in self.model.pages.values())
        assert sum(stats.verdicts.values()) == self.checks


def test_any_sequence_of_visits_gets_the_verdicts_of_the_model(
    request: pytest.FixtureRequest, index_url: str
) -> None:
    """Visits, changes and forgetting in any order: verdicts, records and counters agree."""
    IndexMachine.redis_url, IndexMachine.namespaces = index_url, 0
    # Other servers run the same scripts.
    examples = 25 if request.node.callspec.id == "server" else 8
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
