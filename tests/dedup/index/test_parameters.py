"""Who makes an index fixes its parameters and its seed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.dedup import (
    ConfigError,
    DedupConfig,
    DuplicateIndex,
    Kind,
    ParameterMismatch,
    ServerError,
)
from tests.conftest import Server
from tests.support.texts import article, text


async def test_other_parameters_are_refused(config: DedupConfig, index: DuplicateIndex) -> None:
    """An index is not opened with parameters that it was not made with; the error names them."""
    other = DedupConfig(redis_url=config.redis_url, shards=8, threshold=0.9, seed=7)
    with pytest.raises(
        ParameterMismatch, match=r"seed.*secret.*threshold: index 0.8, settings 0.9; bands"
    ):
        async with DuplicateIndex.open(other):
            pass
    apart = DedupConfig(redis_url=config.redis_url, shards=8, threshold=0.9, namespace="apart")
    async with DuplicateIndex.open(apart) as opened:
        await opened.check("http://a/1", text(article(1)))
        assert (await opened.stats()).kept == 1
    assert (await index.stats()).kept == 0


async def test_another_format_is_no_matter_of_settings(server: Server, redis_url: str) -> None:
    """An index of an earlier version is refused for its format; no setting would open it."""
    config = DedupConfig(redis_url=redis_url)
    async with DuplicateIndex.open(config):
        pass
    server.ask("HSET", "{dedup}:params", "format", "2", "bands", "10", "digest", "another")
    with pytest.raises(ParameterMismatch, match=r"has format 2, .* as the changelog") as caught:
        async with DuplicateIndex.open(config):
            pass
    assert "settings" not in str(caught.value)


async def test_who_only_reads_makes_none(index_url: str) -> None:
    """An index that is not there has no pages, and whoever makes it has settings of their own."""
    asked = DedupConfig(redis_url=index_url, threshold=0.7)
    async with DuplicateIndex.open(asked, make=False) as index:
        assert await index.show("http://a/") is None
        assert (await index.stats()).urls == 0
        assert (await index.verify()).faults == []
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url)) as other:
            assert (await other.check("http://a/", text(article(1)))).kind is Kind.UNIQUE
    with pytest.raises(ParameterMismatch, match="threshold"):
        async with DuplicateIndex.open(asked, make=False):
            pass
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url), make=False) as index:
        assert await index.show("http://a/") is not None


@pytest.mark.parametrize("seed", [None, 5])
async def test_an_index_that_is_made_while_it_is_read(index_url: str, seed: int | None) -> None:
    """Who opened it before finds its pages, by the seed that it has drawn, and checks with it."""
    config = DedupConfig(redis_url=index_url, shards=8, seed=seed)
    url, words = "http://a/", text(article(1))
    for number, first in enumerate(("show", "gone", "forget", "verify", "check")):
        named = replace(config, namespace=f"n{number}")
        async with DuplicateIndex.open(named, make=False) as index:
            assert not await index.gone(url)
            assert not await index.forget(url)
            assert await index.show(url) is None
            with pytest.raises(ServerError, match="there is no index"):
                await index.check(url, words)
            async with DuplicateIndex.open(named) as other:
                await other.check(url, words)
            if first == "verify":
                assert (await index.verify()).faults == []
            elif first == "check":
                assert (await index.check("http://b/", words)).duplicate_of == url
                assert (await index.verify()).faults == []
            else:
                assert await getattr(index, first)(url)


async def test_an_index_that_was_made_anew_forgets_nothing_for_who_had_the_old_one(
    index_url: str,
) -> None:
    """Its URLs are looked up by another seed: that a page is not there would be wrong."""
    config, url = DedupConfig(redis_url=index_url, shards=8), "http://a/"
    async with DuplicateIndex.open(config) as old:
        for keys in (old.store.head, *old.store.shards):  # all that there is of one without pages
            await old.store._client.delete(keys.params)
        async with DuplicateIndex.open(config) as new:
            await new.check(url, text(article(1)))
            with pytest.raises(ServerError, match="deleted or replaced"):
                await old.forget(url)
            assert await new.show(url) is not None


async def test_an_index_that_is_made_otherwise_while_it_is_read(index_url: str) -> None:
    """It is refused, as when it is opened."""
    asked = DedupConfig(redis_url=index_url, shards=8, threshold=0.7)
    async with DuplicateIndex.open(asked, make=False) as index:
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)):
            pass
        for _ in range(2):
            with pytest.raises(ParameterMismatch, match="threshold"):
                await index.show("http://a/")


async def test_an_index_draws_its_seed(index_url: str, config: DedupConfig) -> None:
    """Indexes hash differently, so that nobody can prepare pages that collide in all of them."""
    seeds = set()
    for namespace in ("a", "b"):
        for _ in range(2):
            named = DedupConfig(redis_url=index_url, shards=8, namespace=namespace)
            async with DuplicateIndex.open(named) as index:
                seeds.add((await index.stats()).parameters["seed"])
    assert len(seeds) == 2


async def test_a_secret_seed_is_not_stored(index_url: str) -> None:
    """A seed that is set stands in no key of the server; without it the index does not open."""
    config = DedupConfig(redis_url=index_url, shards=8, seed=123456789012345)
    async with DuplicateIndex.open(config) as index:
        await index.check("http://a/1", text(article(1)))
        assert "123456789012345" not in str(await index.stats())
    async with DuplicateIndex.open(config) as index:
        assert (await index.check("http://b/1", text(article(1)))).kind is Kind.EXACT
    with pytest.raises(ParameterMismatch, match=r"seed: index secret:.* DEDUP_SEED to the number"):
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)):
            pass


async def test_a_seed_that_was_drawn_stands_in_no_error(index_url: str) -> None:
    """Errors are logged, and who knows the seed can prepare pages that collide."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)) as index:
        seed = str((await index.stats()).parameters["seed"])
    with pytest.raises(ParameterMismatch, match="seed: index drawn:") as refused:
        async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8, seed=1)):
            pass
    assert seed not in str(refused.value)


async def test_an_index_deleted_in_use_is_an_error(index_url: str) -> None:
    """Nothing is decided against an index whose keys somebody has deleted."""
    async with DuplicateIndex.open(DedupConfig(redis_url=index_url, shards=8)) as index:
        await index.check("http://a/1", text(article(1)))
        async for key in index.store._client.scan_iter():
            await index.store._client.delete(key)
        with pytest.raises(ServerError, match="deleted or replaced"):
            await index.check("http://a/2", text(article(2)))
        with pytest.raises(ServerError, match="deleted or replaced"):  # and it is kept for later
            await index.gone("http://a/1")


def test_settings_that_do_not_fit_each_other_are_refused() -> None:
    """Bands must fit the sketch; the error names the settings."""
    with pytest.raises(ConfigError, match="DEDUP_BANDS"):
        DedupConfig(bands=50, rows=10)
