"""The text that JSON-LD gives an article, where the page has it."""

from __future__ import annotations

import json
import operator
from typing import Any

import numpy as np
import pytest

from crawler.chrome import parse, strip_chrome
from crawler.chrome.page.json_ld import in_body, with_body

MENU = "".join(f"<li><a href=/{n}>Shop aisle {n}</a>" for n in range(12))
NOTES = [
    "Two litres, and it boils in three minutes",
    "Of beech",
    "Oiled by hand in a small workshop",
    "Made in Leeds since 1901, as its lid says",
]


def page(*things: Any, notes: list[str] = NOTES) -> str:
    """A page whose text stands where others have what is related."""
    data = "".join(
        f'<script type="application/ld+json">{json.dumps(thing)}</script>' for thing in things
    )
    lines = "".join(f"<p>{note}</p>" for note in notes)
    return f"{data}<ul>{MENU}</ul><h1>Kettle</h1><div class='related sidebar'>{lines}</div>"


def likelihoods(html: str) -> list[float]:
    return [block.likelihood for block in strip_chrome(html).blocks if block.text in NOTES]


@pytest.mark.parametrize(
    "body",
    ["\n".join(NOTES), "<p>" + "</p><p>".join(NOTES), " ".join(NOTES).upper().replace(",", " –")],
)
@pytest.mark.parametrize("wrap", [lambda one: [one], lambda one: {"@graph": [one, "x"]}])
def test_what_json_ld_calls_the_text_is_likelier(body: str, wrap: Any) -> None:
    """Whatever its classes say: all of it, a short line between others too, and nothing else."""
    before = strip_chrome(page()).blocks
    after = strip_chrome(page(wrap({"@type": "Article", "articleBody": body}))).blocks
    for one, two in zip(before, after, strict=True):
        assert (two.likelihood > one.likelihood) == (one.text in NOTES), one.text


def test_a_text_in_a_sidebar_is_kept() -> None:
    """Beside long running text elsewhere, for which it would be cut."""
    others = "<p>Read what others like best, and why they do. " * 20
    beside = f"<div class=promo>{others}</div>"
    alone, told = (
        {block.text: block.kept for block in strip_chrome(html + beside).blocks}
        for html in (page(), page({"articleBody": " ".join(NOTES)}))
    )
    assert not any(alone[note] for note in NOTES)
    assert all(told[note] for note in NOTES)


@pytest.mark.parametrize(
    "body",
    [
        "The story of another page, which is far longer than that line. " * 3 + NOTES[0],
        "Of beech",
        "",
        7,
        None,
        {"text": "\n".join(NOTES)},
    ],
)
def test_a_text_that_the_page_has_not_is_no_hint(body: Any) -> None:
    """It may be an old one, or a teaser of another page."""
    assert likelihoods(page({"articleBody": body})) == likelihoods(page())


def test_broken_data_is_no_hint() -> None:
    """Nor what is too much to look through."""
    broken = page() + '<script type="application/ld+json">{"articleBody": "x'
    assert likelihoods(broken) == likelihoods(page())
    for many in (100, 30_000):
        notes = [f"{note}, {n}" for n in range(many // 4) for note in NOTES]
        body = {"articleBody": " ".join(notes)}
        told, alone = (strip_chrome(page(*some, notes=notes)).blocks for some in ([body], []))
        assert (told[20].likelihood > alone[20].likelihood) == (many == 100)


@pytest.mark.parametrize("start", ["<nav>", "<footer>", "<div class='cookie-consent'>"])
def test_what_stands_on_each_page_is_no_text(start: str) -> None:
    """Though some sites give it as the text of all."""
    html = page().replace("<div class='related sidebar'>", f"{start}<div>")
    data = page({"articleBody": " ".join(NOTES)}).split("<ul>")[0]
    assert likelihoods(data + html) == likelihoods(html)


def test_each_text_agrees_by_itself() -> None:
    """Those of other articles, which a page may give as well, stand elsewhere."""
    others = [
        {"articleBody": f"The story of page {n}, which stands on that page. " * 9} for n in "ab"
    ]
    told = likelihoods(page(*others, {"articleBody": " ".join(NOTES)}))
    assert all(map(operator.gt, told, likelihoods(page(*others))))


def test_a_likelihood_stays_one() -> None:
    """What is certain is not divided by nothing; half a character is none."""
    flat = parse("<p>a b c d" * 4).flat
    likely = np.array([0, 1e-9, 0.5, 1], np.float32)
    hinted = with_body(likely, in_body(flat, [json.dumps({"articleBody": "a b c d \ud800"})]))
    assert hinted.dtype == np.float32
    assert (hinted[[0, 3]] == likely[[0, 3]]).all()
    assert (hinted[1:3] > likely[1:3]).all()
