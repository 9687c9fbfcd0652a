"""What class names say of the text inside them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.chrome.judge import model
from crawler.chrome.judge.features import describe_blocks, describe_names
from crawler.chrome.page import document, signs

WORDS = {"post": 2.0, "menu": -3.0, "box": 0.5}


scores = signs.look_up(WORDS)


def score(name: str) -> float:
    return float(scores.mean_values([name])[0])


def test_a_class_says_what_its_words_say_on_average() -> None:
    """Words are told apart by what is no letter and by capitals; unknown ones count as nothing."""
    assert score("") == 0
    assert score("post") == 2
    assert score("postMenu") == score("post-menu") == -0.5
    assert score("POST gradient7") == 1


@given(st.lists(st.tuples(st.sampled_from(["", "post", "menu box", "x"]), st.integers(0, 6))))
def test_elements_know_the_classes_around_them(rows: list[tuple[str, int]]) -> None:
    """An element's own class, the nearest, and sum, highest and lowest of all from the page on."""
    html, depth = "", 0
    for name, closed in rows:
        for _ in range(min(closed, depth)):
            html += "</div>"
            depth -= 1
        html += f'<div class="{name}">text ' if name else "<div>text "
        depth += 1
    flat = document.parse(html).flat
    names = [flat.names[kind] for kind in flat.kinds]
    for element, found in enumerate(describe_names(flat, scores)):
        chain, at = [element], element
        while at:
            at = int(flat.outer[at])
            chain.append(at)
        said = [score(names[i]) for i in chain]
        nearest = next((score(names[i]) for i in chain if names[i]), 0)
        wanted = [said[0], nearest, np.clip(sum(said), -15, 15), max(said), min(said)]
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_tags_of_a_site_are_named_for_what_they_hold() -> None:
    """Angular and web components write `<site-footer>` where others write a class."""
    html = (
        "<site-footer><p>a</site-footer><site-footer class=dark><p>b</site-footer><div class='x'>c"
    )
    flat = document.parse(html).flat
    names = [flat.names[kind] for kind in flat.kinds]
    assert [name for name in names if name] == ["site-footer", "site-footer dark", "x"]
    footers = (flat.signs[flat.around] & signs.BIT["c_footer"]) > 0
    assert footers.tolist() == [True, True, False]


def test_classes_decide_where_nothing_else_does() -> None:
    """Of two blocks alike in all else, that in a class known from main texts is likelier."""
    page = document.parse("<div class=alpha>Tea is a drink.</div><div class=beta>Tea is hot.</div>")
    shipped = model.load_model()
    words = {"alpha": 3.0, "beta": -3.0}
    for said in (words, {name: -score for name, score in words.items()}):
        fitted = shipped._replace(names=signs.look_up(said))
        first, second = fitted.probabilities(describe_blocks(page.flat, "", fitted.names))
        assert (first > second) == (said["alpha"] > 0)


@given(st.lists(st.sampled_from(["post", "Nav", "HTML", "é", "-", " ", "x9", "\ud800", "a" * 40])))
def test_compiled_words(parts: list[str]) -> None:
    """The compiled words, where they can be had, say of names what those of Python say."""
    names, values = "".join(parts), {"post": 5, "nav": 8, "html": 2, "x": 1}
    plain, compiled = signs.Words(values), signs.look_up(values)
    assert compiled.bits(names) == plain.bits(names)
    assert compiled.mean_values([names, ""]) == pytest.approx(plain.mean_values([names, ""]))


def test_what_typedoc_names_a_comment_is_documentation() -> None:
    """Its pages put what the source says of each member into such a class."""
    member = (
        "<section class='tsd-panel tsd-member'><h3>{0}</h3><div class='tsd-signature'>{0}(): {1}"
    )
    member += "</div><div class='tsd-comment tsd-typography'><p>{2}</p></div></section>"
    said = [f"Whether the {part} of the ferry is sound." for part in ("hull", "mast", "keel")]
    members = "".join(member.format(f"check{at}", "boolean", text) for at, text in enumerate(said))
    page = f"<h1>Class Ferry</h1>{members}"
    signs_of = document.parse(page).flat.signs_of_blocks
    assert not (signs_of & (signs.BIT["c_comment"] | signs.BIT["thread"])).any()
    other = document.parse(page.replace("tsd-comment", "ts-comment")).flat.signs_of_blocks
    assert (other & signs.BIT["c_comment"]).any()
