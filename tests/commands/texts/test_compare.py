"""`scrapy dedup compare` says what the library says, by the settings."""

from __future__ import annotations

import json

import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
    Kind,
    containment,
    jaccard,
    shingle_hashes,
)
from crawler.dedup.analysis.comparison import compare_texts, smallest_shingles
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.shingles import Shingler
from crawler.wording import percent_similar
from tests.support.texts import article, changed, text


def test_compare_says_what_the_library_says(dedup, files):
    """All measures agree with those of the library, the estimates hold them in their interval."""
    a, b = text(article(1)), text(changed(article(1), 5))
    code, out, _ = dedup("compare", "--json", *files(a, b))
    found = json.loads(out)
    sets = shingle_hashes(a, seed=1), shingle_hashes(b, seed=1)
    assert code == Exit.FOUND
    assert found["jaccard"] == jaccard(*sets)
    assert found["a_in_b"] == containment(*sets)
    assert found["b_in_a"] == containment(*reversed(sets))
    for sketch in ("sketch", "odd"):
        assert found[sketch]["low"] <= found["jaccard"] <= found[sketch]["high"]
    assert found["verdict"] == "near"
    assert found["found"] > 0.95
    assert [change["added"] for change in found["changes"]] == ["other0"] * 5
    assert [change["removed"] for change in found["changes"]] == [
        word for word, other in zip(a.split(), b.split(), strict=True) if word != other
    ]
    lines = dedup("compare", *files(a, b))[1].splitlines()
    assert f"Jaccard\t{percent_similar(jaccard(*sets), 2)}%\t–\t–\texact, of all shingles" in lines
    assert "verdict on B\tnear" in lines
    assert sum("\tother0\t" in line for line in lines) == 5


def test_the_level_of_the_intervals_is_chosen_and_told(dedup, files):
    """A higher confidence has wider intervals around the same estimates, by every method."""
    names = files(text(article(1)), text(changed(article(1), 5)))
    for method in sorted(METHODS):
        options = ["-s", f"DEDUP_METHOD={method}"]
        said = [
            json.loads(dedup("compare", "--json", *names, *options, *level)[1])
            for level in (["--level", "0.5"], [], ["--level", "0.99"])
        ]
        assert [one["level"] for one in said] == [0.5, 0.95, 0.99]
        for sketch in ("sketch", "odd"):
            few, usual, most = (one[sketch] for one in said)
            assert few["similarity"] == usual["similarity"] == most["similarity"]
            assert few["error"] == usual["error"] == most["error"]
            if usual["low"] < usual["high"]:  # else it was compared exactly
                assert most["low"] <= usual["low"] <= few["low"] < few["high"] <= usual["high"]
                assert most["low"] < few["low"]
                assert most["low"] < usual["low"] or usual["low"] == 0
    assert "confidence level\t99.00%" in dedup("compare", *names, "--level", "0.99")[1]
    assert "confidence level\t95.00%" in dedup("compare", *names)[1]


@pytest.mark.parametrize("level", ["0", "1", "95", "x"])
def test_levels_that_are_none(dedup, files, level):
    """One line says which levels there are."""
    code, out, err = dedup("compare", *files("one", "two"), "--level", level)
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert "from 0.5 to 0.9999" in err


def test_too_few_shingles_give_a_false_match():
    """The lecture's warning: one shingle of each may be the same where whole texts differ."""
    config = DedupConfig(shingle_unit="char", shingle_size=25)
    common = text(article(97, 25))
    texts = [f"{text(article(i, 60))} {common}" for i in range(60)]
    least = [smallest_shingles(one, Shingler("char", 25, seed=1), 1)[0].hash for one in texts]
    a, b, *_ = (i for i, one in enumerate(least) if one == max(least, key=least.count))
    found = compare_texts(texts[a], texts[b], config, smallest=1)
    assert found.smallest.similarity == 1
    assert found.jaccard < 0.2
    assert found.verdict is Kind.UNIQUE
    assert compare_texts(texts[a], texts[b], config, smallest=50).smallest.similarity < 0.5


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        ("One, two! Three four five", "one two three four FIVE", "exact"),
        ("one two three four five", "one two", "short"),
        ("one two", "one two three four five", "unique"),
        ("", "", "short"),
        (text(article(1)), text(article(2)), "unique"),
        (text(article(1, 5000)), text(article(1, 100)), "unique"),
    ],
)
def test_verdicts(dedup, files, a, b, verdict):
    """The verdict is that of an index which has A and is given B; no text is too odd for it."""
    found = json.loads(dedup("compare", "--json", *files(a, b))[1])
    assert found["verdict"] == verdict
    assert dedup("compare", *files(a, b))[0] == Exit.FOUND


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_method_is_that_of_the_settings(dedup, files, method):
    """Its sketch estimates, and its keys say whether an index would find the pair."""
    a, b, c = text(article(1)), text(changed(article(1), 1)), text(article(2))
    options = ["-s", f"DEDUP_METHOD={method}"]
    if method == "two-stage":  # three bits of its simhash are a J of 0.98, that of the texts
        options += ["-s", 'DEDUP_METHOD_OPTIONS={"distance": 8}']
    near = json.loads(dedup("compare", "--json", *files(a, b), *options)[1])
    far = json.loads(dedup("compare", "--json", *files(a, c), *options)[1])
    assert near["sketch"]["low"] <= near["jaccard"] <= near["sketch"]["high"]
    assert (near["verdict"], far["verdict"]) == ("near", "unique")
    assert near["found"] > 0.9
    assert far["found"] < 0.01
    assert f"\n{method} sketch\t" in dedup("compare", *files(a, b), *options)[1]


def test_an_odd_sketch_says_nothing_of_long_texts_that_are_unlike(dedup, files):
    """It has too few bits for all that differs; of texts that are alike it tells how much."""
    pages = [text(article(1, 2000)), text(article(2, 2000)), text(changed(article(1, 2000), 3))]
    names = files(*pages)
    (unlike,), (like,) = (
        [line for line in dedup("compare", *two)[1].splitlines() if line.startswith("odd sketch")]
        for two in (names[:2], names[::2])
    )
    assert unlike.startswith(
        "odd sketch\t–\t–\t–\testimate from 1024 bits, which cannot tell below"
    )
    assert "cannot" not in like


def test_an_odd_sketch_tells_of_short_texts(dedup, files):
    """However few shingles there are: they are in each other's way less than those of long ones."""
    names = files("a b c d e f g h i j k l", "a b c d e f g h i j k z")
    assert "\nodd sketch\t77." in dedup("compare", *names)[1]


def test_the_limit_of_a_simhash_decides_with_two_stages(dedup, files):
    """The row beside the method's is its simhash; more differing bits than its limit are unlike."""
    names = files(text(article(1)), text(changed(article(1), 1)))
    said = {}
    for distance in (0, 8):
        options = ["-s", "DEDUP_METHOD=two-stage"]
        options += ["-s", f'DEDUP_METHOD_OPTIONS={{"distance": {distance}}}']
        said[distance] = json.loads(dedup("compare", "--json", *names, *options)[1])
    assert (said[0]["verdict"], said[8]["verdict"]) == ("unique", "near")
    assert said[0]["odd"] == said[8]["odd"]
    assert 0.9 < said[8]["odd"]["similarity"] < 1
    out = dedup("compare", *names, *options)[1]
    assert "\nsimhash\t" in out
    assert "estimate from 64 bits" in out


def test_containment_decides_where_it_is_the_score(dedup, files):
    """A post is near to the page that quotes it, and not the page to the post."""
    post, page = text(article(1, 100)), text(article(2, 100) + article(1, 100) + article(3, 100))
    options = ["-s", "DEDUP_METHOD=modulo", "-s", 'DEDUP_METHOD_OPTIONS={"modulus": 1}']
    names = files(page, post)
    found = json.loads(dedup("compare", "--json", *names, *options)[1])
    assert (found["verdict"], found["sketch"]["similarity"]) == ("near", 1.0)
    found = json.loads(dedup("compare", "--json", *reversed(names), *options)[1])
    assert found["verdict"] == "unique"


@pytest.mark.parametrize("score", ["containment", "resemblance"])
async def test_a_text_without_a_sampled_shingle_is_short(redis_url, score):
    """It has no key to be found by: what is said of it is what an index says."""
    said = set()
    for number in range(6):
        config = DedupConfig(
            redis_url=redis_url,
            namespace=f"{score}{number}",
            seed=number,
            method="modulo",
            method_options={"score": score},
        )
        a, b = (f"a b c d e {last}" for last in "fg")
        async with DuplicateIndex.open(config) as index:
            _, verdict = await index.check_many([("http://a/1", a), ("http://a/2", b)])
        assert compare_texts(a, b, config).verdict is verdict.kind
        said.add(verdict.kind)
    assert Kind.SHORT in said


def test_settings_say_what_makes_no_difference(dedup, files):
    """With numbers ignored, pages that differ in a counter are equal, and have equal shingles."""
    names = files("seen 12 times on this very day", "seen 315 times on this very day")
    ignored = ["-s", "DEDUP_IGNORE=case,punctuation,numbers"]
    for words, verdict in (([], "unique"), (ignored, "exact")):
        found = json.loads(dedup("compare", "--json", *names, *words)[1])
        assert found["verdict"] == verdict
    lists = [dedup("shingles", name, *ignored)[1] for name in names]
    assert lists[0] == lists[1]
    assert dedup("shingles", names[0])[1] != lists[0]


def test_typos_are_corrected_on_demand(dedup, files):
    """--correct compares what an index with that DEDUP_CORRECT would."""
    clean = "We have come to dedicate a portion of that field as a final resting place for those"
    names = files(clean.encode(), clean.replace("portion", "portoin").encode())
    plain, corrected = (
        json.loads(dedup("compare", *names, "--json", *more)[1])
        for more in ([], ["--correct", "typos"])
    )
    assert plain["jaccard"] < 0.5
    assert corrected["jaccard"] == 1
    assert (plain["uncorrected"], corrected["uncorrected"]) == (None, plain["jaccard"])
    assert "\nJaccard, uncorrected\t" in dedup("compare", *names, "--correct", "typos")[1]
    assert dedup("compare", *names, "--correct", "typo")[0] == Exit.USAGE


def test_the_hybrid_of_the_dsound_paper(dedup, files):
    """--correct dsound also corrects B against A, which is right, whatever words it has."""
    clean = "Kzurmar came to dedicate a portion of that field as a final resting place for those"
    names = files(clean.encode(), clean.replace("resting", "ressting").encode())
    found = json.loads(dedup("compare", *names, "--json", "--correct", "dsound")[1])
    assert found["hybrid"] == 1
    assert "\nhybrid\t100.00%" in dedup("compare", *names, "--correct", "dsound")[1]
    backwards = json.loads(dedup("compare", *reversed(names), "--json", "--correct", "dsound")[1])
    assert backwards["hybrid"] <= 0.5
    assert json.loads(dedup("compare", *names, "--json", "--correct", "typos")[1])["hybrid"] is None
