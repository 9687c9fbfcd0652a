"""Addresses of hostile length: nothing takes them apart."""

from __future__ import annotations

from crawler.dedup.config import DedupConfig
from crawler.dedup.identity import LONGEST_URL, identity, resolved
from crawler.pipelines.page import PageFields
from crawler.spiders.links import NewLinks

LONG = "http://a/" + "../" * LONGEST_URL


def test_an_endless_address_is_a_name_as_it_stands() -> None:
    """It is cut and hashed, without being brought into canonical form first."""
    short, long = ("http://a/?b=2&a=1" + "x" * count for count in (9, LONGEST_URL))
    assert identity(short, canonical=True).startswith("http://a/?a=1x")
    assert identity(long, canonical=True).startswith("http://a/?b=2")
    assert identity(long, canonical=True) != identity(f"{long}x", canonical=True)
    assert len(identity(long, canonical=True)) < 3000


def test_an_endless_address_is_no_link() -> None:
    """Neither as the address that a page names as canonical nor in its text."""
    assert resolved("http://a/b", LONG) is None
    fields = PageFields(DedupConfig(), lambda name: None)
    assert fields.canonical({"canonical": LONG}, "http://a/b") is None
    assert list(NewLinks(lambda url: True).resolve([LONG, "c"], "http://a/b")) == ["http://a/c"]
