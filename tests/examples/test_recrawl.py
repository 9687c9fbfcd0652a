"""What a second and a third crawl cost the search engine."""

from __future__ import annotations

import re
from collections.abc import Callable

from tantivy import Index

from tests.examples.conftest import Played

EXAMPLE = "recrawl"


def test_outputs(played: Played, assert_as_shown: Callable[[Played], None]) -> None:
    """Unchanged pages are skipped, changed ones indexed again: as the README shows."""
    assert_as_shown(played)


def test_a_page_that_moved_is_found_at_its_new_address_only(played: Played) -> None:
    """The engine's index has the story once; the filter's says where it went."""
    index = Index.open(str(played.folder / "pages.index"))
    searcher = index.searcher()
    hits = searcher.search(index.parse_query('"oven that the whole street"', ["title"])).hits
    (found,) = [searcher.doc(place)["url"][0] for _, place in hits]
    assert found.endswith("/beacon/archive/bakery")
    ((_, output),) = [one for one in played.outputs if "dedup moved" in one[0].commands]
    assert re.search(r"/beacon/bakery\" .*/beacon/archive/bakery", output)


def test_the_new_text_is_found(played: Played) -> None:
    """After the third crawl a search finds the rewritten story by its new words only."""
    index = Index.open(str(played.folder / "pages.index"))

    def found(words: str) -> int:
        return int(index.searcher().search(index.parse_query(words, ["text"])).count or 0)

    assert (found('"Petrel is fast"'), found('"large ferry goes"')) == (1, 1)
    assert found('"six times a day"') == 0
