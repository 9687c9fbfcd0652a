"""What a second and a third crawl cost the search engine."""

from __future__ import annotations

from collections.abc import Callable

from tantivy import Index

from tests.examples.conftest import Played

EXAMPLE = "recrawl"


def test_outputs(played: Played, assert_as_shown: Callable[[Played], None]) -> None:
    """Unchanged pages are skipped, changed ones indexed again: as the README shows."""
    assert_as_shown(played)


def test_the_new_text_is_found(played: Played) -> None:
    """After the third crawl a search finds the rewritten story by its new words only."""
    index = Index.open(str(played.folder / "pages.index"))

    def found(words: str) -> int:
        return int(index.searcher().search(index.parse_query(words, ["text"])).count or 0)

    assert (found('"Petrel is fast"'), found('"large ferry goes"')) == (1, 1)
    assert found('"six times a day"') == 0
