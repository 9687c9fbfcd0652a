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


@pytest.mark.parametrize(
    ("settings", "items", "expected"),
    [
        ({"scope": "tennant"}, 2, [("WARNING", "DEDUP_SCOPE", "tennant")]),
        ({"text_field": "bdy"}, 2, [("INFO", "DEDUP_TEXT_FIELD", "bdy")]),
        ({"scope": "tenant", "url_field": "link"}, 2, [("INFO", "DEDUP_URL_FIELD", "link")]),
        ({"scope": "tenant", "text_field": "body"}, 2, []),
        ({"scope": "host"}, 2, []),
        ({"scope": "tennant"}, 0, []),
    ],
)
async def test_a_field_that_no_item_has(
    open_bench: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
    settings: dict[str, str],
    items: int,
    expected: list[tuple[str, str, str]],
) -> None:
    """It may be misspelt: pages of different tenants were copies, and no word said so."""
    caplog.set_level("INFO")
    bench: Bench = await open_bench(**settings)
    for number in range(items):
        words = text(article(number))
        item = {"url": f"http://a/{number}", "text": words, "body": words, "tenant": str(number)}
        await bench.process(item | ({"tenant": None, "body": None} if number else {}))
    await bench.pipeline.close_spider()
    told = [record for record in caplog.records if "No item has the field" in record.message]
    assert len(told) == len(expected)
    for record, (level, setting, field) in zip(told, expected, strict=True):
        assert record.levelname == level
        assert setting in record.message
        assert repr(field) in record.message
