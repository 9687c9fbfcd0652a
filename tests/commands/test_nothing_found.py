"""What commands say where there is nothing: no index of that name, or nothing in it that fits."""

from __future__ import annotations

import pytest

from crawler.commands.subcommands import Exit
from tests.texts import article, text

URL = "http://a.example/1"


@pytest.mark.parametrize(
    "words",
    [
        ["clusters"],
        ["clusters", "--story", "0.5"],
        ["cluster", URL],
        ["explain", URL],
        ["moved"],
        ["moved", "--to", "a.example"],
        ["rethreshold", "0.9"],
        ["sample", "near"],
        ["sample", "near", "--host", "a.example"],
        ["show", URL],
        ["stats"],
        ["top"],
        ["top", "--host", "a.example"],
        ["where", URL],
    ],
    ids=" ".join,
)
def test_a_name_of_no_index_is_said(dedup, fill, words):
    """A misspelt name is no healthy index without results: all commands say the same of it."""
    fill([(URL, text(article(1)))])
    code, out, err = dedup(*words, "-s", "DEDUP_NAMESPACE=misspelt")
    assert (code, err) == (
        Exit.NOTHING,
        "scrapy dedup: nothing yet in the index 'misspelt'; crawl first\n",
    )
    assert not out or words[0] == "explain"  # which says all the same that it never saw the page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["clusters"], "the index holds no clusters of 2 pages"),
        (["moved"], "no page of the index is gone"),
        (["rethreshold", "0.9"], "no decision that the index can tell of would change"),
        (["sample", "near"], "no page of the index fits that"),
        (["show", "a.example"], "does its address begin with https:// or http://?"),
        (["top"], "the index holds no duplicates"),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else None,
)
def test_an_index_without_results_is_said(dedup, fill, words, said):
    """Of an index with pages, a command says what it has not found in it."""
    fill([(URL, text(article(1)))])
    code, _, err = dedup(*words)
    assert (code, err.count("\n")) == (Exit.NOTHING, 1)
    assert said in err
