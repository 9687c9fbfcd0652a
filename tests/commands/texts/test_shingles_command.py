"""`scrapy dedup shingles` lists what the library computes."""

from __future__ import annotations

import json

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import (
    shingle_hashes,
)
from crawler.dedup.analysis.comparison import smallest_shingles
from crawler.dedup.sketches.shingles import Shingler
from tests.support.texts import article, text


def test_the_smallest_shingles_are_sorted_and_are_those_of_the_library(dedup, files):
    """Hashes come smallest first; each stands beside the characters it was made of."""
    content = text(article(1))
    _, out, _ = dedup("shingles", *files(content), "--json")
    found = json.loads(out)
    hashes = [one["hash"] for one in found]
    expected = shingle_hashes(content, unit="char", size=25)
    assert hashes == expected[:10].tolist()
    assert all(len(one["text"]) == 25 and one["text"] in content for one in found)
    _, out, _ = dedup("shingles", *files(content), "--unit", "word", "--all")
    lines = [line.split("\t") for line in out.strip().splitlines()[1:]]
    assert [int(number) for number, _ in lines] == shingle_hashes(content).tolist()
    assert {len(words.split()) for _, words in lines} == {5}


def test_shingles_begin_at_each_unit(dedup, files):
    """Of the slides' abcdabd, characters give five different shingles of two."""
    words = [*files("abcdabd"), "--size", "2", "--all", "--json"]
    found = {one["text"] for one in json.loads(dedup("shingles", *words)[1])}
    assert found == {"ab", "bc", "cd", "da", "bd"}


def test_words_sound_alike(dedup):
    """The paper's example, whose DSound codes are one and whose Soundex codes are not."""
    code, out, _ = dedup("code", "Rodgers", "Rojers", "--json")
    found = json.loads(out)
    assert code == Exit.FOUND
    assert [found[word]["dsound"] for word in ("Rodgers", "Rojers")] == ["602062", "602062"]
    assert [found[word]["soundex"] for word in ("Rodgers", "Rojers")] == ["R326", "R262"]
    assert found["Rodgers"].keys() == {"dsound", "soundex", "phonex", "phonix", "metaphone"}
    assert dedup("code", "Rodgers")[1].startswith("word\tdsound\t")
    assert dedup("code", "茶")[0] == Exit.NOTHING


def test_what_is_ignored_is_said(dedup, files):
    """Texts of the same words are exact; whoever sees them differ is told why."""
    _, out, _ = dedup("compare", *files("To be, or not to be?", "to be or not to be"))
    assert out.endswith("What differs is ignored: case, marks, typography (DEDUP_IGNORE).\n")
    _, out, _ = dedup("compare", *files("to be or not to be", "to be  or not to be"))
    assert "DEDUP_IGNORE" not in out


def test_repeats_are_listed_on_demand(dedup, files):
    """A rose is a rose is a rose: three shingles of four words, five with repeats."""
    words = ["--unit", "word", "--size", "4", *files("a rose is a rose is a rose")]
    assert dedup("shingles", *words)[1].count("rose is a rose") == 1
    code, out, _ = dedup("shingles", *words, "--repeats", "--json")
    assert code == Exit.FOUND
    assert len(json.loads(out)) == 5
    assert len({one["hash"] for one in json.loads(out)}) == 3


@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.parametrize("step", [1, 3])
def test_the_text_beside_a_shingle_has_its_hash(unit, step):
    """Also where letters stand alone, marks vanish or the text is shorter than a shingle."""
    shingler = Shingler(unit, 4, step)
    for content in (
        "Caf\u00e9 cre\u0301me, \u6771\u4eac\u30bf\u30ef\u30fc  is\u200b a  Tower!",
        "a",
        "",
    ):
        for one in smallest_shingles(content, shingler):
            assert shingler.of_encoded(one.text.encode()).tolist() == [one.hash]
        assert len(smallest_shingles(content, shingler)) == shingler(content).size


@pytest.mark.parametrize("content", ["", "()"])
def test_a_text_without_words_has_no_shingles(dedup, files, content):
    """Nothing to list is exit code 1, and a line that says so."""
    (name,) = files(content)
    code, out, err = dedup("shingles", name)
    said = f"scrapy dedup: there are no words in {name!r}\n"
    assert (code, out.strip(), err) == (Exit.NOTHING, "hash\tshingle", said)
    assert json.loads(dedup("shingles", "--json", name)[1]) == []
    assert json.loads(dedup("shingles", "--json", *files(b""))[1]) == []
