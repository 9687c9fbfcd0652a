"""Items that name a scope are compared with those of the same scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawler.pipelines import ExactDuplicate, NearDuplicate
from tests.pipelines.conftest import Bench
from tests.support.texts import article, changed, text


async def test_a_field_of_items(open_bench: Callable[..., Any]) -> None:
    """Items with one value are compared; those that have none share a scope."""
    bench: Bench = await open_bench(scope="tenant")
    words = text(article(1, 300))
    near = text(changed(article(1, 300), 1))
    for number, tenant in enumerate((1, "2", ["3"], None)):
        item = {"url": f"http://a/{number}", "text": words, "tenant": tenant}
        assert (await bench.process(item))["dedup"]["kind"] == "unique"
    for number, tenant in enumerate(("1", 2, "3", None)):
        with pytest.raises(NearDuplicate):
            await bench.process({"url": f"http://b/{number}", "text": near, "tenant": tenant})
    with pytest.raises(ExactDuplicate):
        await bench.process({"url": "http://c/", "text": words})
