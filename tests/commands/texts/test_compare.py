"""``scrapy dedup compare`` and ``shingles``: the lecture's tools, on files, pipes and addresses."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from crawler.commands import documents
from crawler.commands.subcommands import Exit
from crawler.dedup import (
    DedupConfig,
    DuplicateIndex,
    Kind,
    Verdict,
    containment,
    jaccard,
    shingle_hashes,
)
from crawler.dedup.analysis.comparison import compare_texts, smallest_shingles
from crawler.dedup.archive.writer import ArchiveWriter
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.shingles import Shingler
from crawler.wording import percent_similar
from tests.commands.conftest import ROOT
from tests.support.texts import article, changed, text

PAGE = "<!DOCTYPE html><nav><a href=/>Home</a></nav><main><p>{}</p></main>"


@pytest.fixture
def files(tmp_path):
    """Writes texts into files and gives their names."""

    def write(*texts: str | bytes) -> list[str]:
        names = []
        for i, content in enumerate(texts):
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}-{i}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            names.append(str(path))
        return names

    return write


@pytest.fixture
def web(monkeypatch) -> Iterator[str]:
    """A site with a page, a text, and answers of the unpleasant kinds."""
    monkeypatch.setattr(documents, "_TIMEOUT", 0.5)
    monkeypatch.setattr(documents, "LIMIT", 1 << 20)  # 50 MB may take longer on a busy machine
    over = threading.Event()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind = "page" if self.path == "/stra%C3%9Fe" else self.path.strip("/")
            self.send_response(302 if kind == "ftp" else 404 if kind == "gone" else 200)
            self.send_header("Content-Type", "text/html" if kind == "page" else "text/plain")
            if kind == "ftp":
                self.send_header("Location", "ftp://127.0.0.1/etc/passwd")
            if kind == "gzip":
                self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            if kind == "page":
                self.wfile.write(PAGE.format("one two three " * 9).encode())
            elif kind == "text":
                self.wfile.write(f"<p>{self.headers['User-Agent']}".encode())
            while kind == "drip" and not over.wait(0.1):
                self.wfile.write(b"x")
            if kind == "large":
                self.wfile.write(b"x" * (documents.LIMIT + 1))

        def log_message(self, *words: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        over.set()
        server.shutdown()
        thread.join()


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


def test_a_terminal_shows_the_words_that_differ(dedup, files, monkeypatch):
    """A person sees the changed words in their place, and no control sequence of the texts."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    names = files(
        "one two three four five six seven", "one two three \u202e4 five six\x1b[31m seven"
    )
    _, out, _ = dedup("compare", *names)
    assert "… one two three [-four-] {+4+} five six" in out
    assert "\u202e" not in out
    assert "\x1b[31m" not in out


def test_a_word_of_thousands_of_characters_floods_no_terminal(dedup, files, monkeypatch):
    """A person is shown its two ends; a pipe and JSON get all of it."""
    long = "a" * 5000
    names = files(f"one two {long}".encode(), f"one two {long}b".encode())
    assert f"{long}\t{long}b" in dedup("compare", *names)[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.setenv("NO_COLOR", "1")
    out = dedup("compare", *names)[1]
    half = "a" * 49
    assert f"[-{half}…{half}a-] {{+{half}…{half}b+}}" in out
    assert len(max(out.split(), key=len)) < 500


def test_html_is_stripped(dedup, files):
    """Of HTML the main text is compared, whatever the file is called; --raw takes the tags too."""
    content = (ROOT / "examples/demo_site/texts/lighthouse.txt").read_text()
    names = files(content, PAGE.format(content.replace("\n\n", "<p>")))
    assert json.loads(dedup("compare", "--json", *names)[1])["verdict"] == "exact"
    assert json.loads(dedup("compare", "--json", "--raw", *names)[1])["verdict"] != "exact"
    named = [*files(content), *files("about <html> in a text\n" + content)]
    assert json.loads(dedup("compare", "--json", *named)[1])["words"] == [297, 302]


def test_html_is_read_by_the_extractor_of_the_settings(dedup, files):
    """DEDUP_EXTRACTOR takes the text from HTML, not from a text."""
    names = files("<html><p>tea</p>", "&lt;html&gt;&lt;p&gt;tea&lt;/p&gt;")
    for words, verdict in (["-s", "DEDUP_EXTRACTOR=html.escape"], "exact"), ([], "unique"):
        assert json.loads(dedup("compare", "--json", *names, *words)[1])["verdict"] == verdict


def test_standard_input(dedup, files, monkeypatch):
    """A dash is standard input, once."""
    stdin = SimpleNamespace(buffer=io.BytesIO(b"a rose is a rose"))
    monkeypatch.setattr("sys.stdin", stdin)
    found = json.loads(dedup("compare", "--json", "-", *files("a rose is a rose"))[1])
    assert found["verdict"] == "exact"
    code, _, err = dedup("compare", "-", "-")
    assert (code, err.count("\n")) == (Exit.USAGE, 1)


def test_urls(dedup, web):
    """An address is fetched with the project's user agent; its content type says what it is."""
    _, out, _ = dedup("shingles", f"{web}/page", "--unit", "word", "--json")
    assert {one["text"] for one in json.loads(out)} >= {"one two three one two"}
    assert "Home" not in out
    _, out, _ = dedup(
        "shingles", f"{web}/text", "--size", "3", "--step", "1", "-s", "USER_AGENT=Ours"
    )
    assert "\tour" in out
    assert "\tp o" in out  # text/plain is no HTML
    assert dedup("shingles", f"{web}/straße")[0] == Exit.FOUND


def test_urls_of_the_index_are_read_from_the_archive(dedup, redis_url, tmp_path, web):
    """The text is what was checked when the page was crawled; what is not there is fetched."""
    words = article(1, 300)
    known = [("http://a.example/1?y=2&x=1", words), (f"{web}/page", changed(words, 2, seed=4))]
    config = DedupConfig(redis_url=redis_url, data_dir=tmp_path)

    async def crawl() -> None:
        async with DuplicateIndex.open(config) as index:
            writer = ArchiveWriter.of(config, index.digest)
            for url, one in known:
                writer.add(text(one), "Title", await index.check(url, text(one)), [])
        writer.close()

    asyncio.run(crawl())
    names = ["http://a.example/1?x=1&y=2#top", f"{web}/page"]
    found = json.loads(dedup("compare", *names, "--json")[1])
    assert found["a_from"].startswith("archive, ")
    assert found["b_from"].startswith("archive, ")
    assert (found["a"], found["b"]) == tuple(names)
    assert [change["added"] for change in found["changes"]] == ["other4"] * 2
    assert "\tarchive, " in dedup("compare", *names)[1]
    listed = json.loads(dedup("shingles", names[0], "--unit", "word", "--all", "--json")[1])
    assert len(listed) == 296
    other = json.loads(dedup("compare", names[0], f"{web}/text", "--json")[1])
    assert other["b_from"] == "fetched now"
    # The archive has no tags.
    other = json.loads(dedup("compare", names[1], f"{web}/text", "--raw", "--json")[1])
    assert (other["a_from"], other["b_from"]) == ("fetched now", "fetched now")
    # The page of today, not what was archived of it:
    today = json.loads(dedup("compare", names[1], names[1], "--raw", "--json")[1])
    assert today["words"] != found["words"]
    code, _, err = dedup("compare", "http://127.0.0.1:1/", names[0])
    assert (code, err.count("\n")) == (Exit.USAGE, 1)


def test_the_end_of_what_is_archived_is_no_difference(dedup, fill, files, tmp_path):
    """Of a text that the archive has cut, nothing is said to be missing behind that place."""
    words = article(1, 12_000)
    pages = [
        ("http://a.example/1", text(words)),
        ("http://b.example/1", text(["early", "words", *words])),
        ("http://c.example/1", text([*words[:100], "other", *words[101:]])),
    ]
    writer = ArchiveWriter.of(DedupConfig(data_dir=tmp_path), fill(pages))
    for url, one in pages:
        writer.add(one, "", Verdict(Kind.NEAR, url), [])
    writer.close()
    first, second, third = (url for url, _ in pages)
    [file] = files(pages[0][1].encode())
    for a, b, differing in (
        (first, second, ["early words"]),
        (second, first, [""]),
        (first, third, ["other"]),
        (file, first, []),
        (third, file, [f"{words[100]}"]),
    ):
        found = json.loads(dedup("compare", a, b, "--json")[1])
        assert [change["added"] for change in found["changes"]] == differing, (a, b)
        assert found["whole"] == [a == file, b == file]
    found = json.loads(dedup("show", "--why", second, "--json")[1])
    assert [change["added"] for change in found["changes"]] == ["early words"]
    assert found["whole"] == [False, False]
    assert (
        "\nJaccard of what is archived of the two texts\t0.9" in dedup("show", "--why", second)[1]
    )
    out = dedup("compare", first, file)[1]
    assert "\ncompared\tof A the beginning, all that is archived" in out
    assert "\nverdict on B\tunique, of the beginning of A\n" in out
    out = dedup("compare", first, first)[1]
    assert "\nverdict on B\texact, of their beginnings\n" in out
    assert "\nJaccard\t100.00%\t–\t–\texact, of all shingles, of their beginnings\n" in out
    out = dedup("compare", file, file)[1]
    assert "\nverdict on B\texact\n" in out
    assert "\ncompared" not in out


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone", "404 Not Found"),
        ("ftp", "unknown url type: ftp"),
        ("gzip", "compressed"),
        ("drip", "did not arrive within 0.5 seconds"),
        ("large", "larger than 1 MB"),
    ],
)
def test_unpleasant_urls(dedup, web, path, message):
    """What a server does ends in one line and exit code 2, and soon."""
    start = time.monotonic()
    code, out, err = dedup("shingles", f"{web}/{path}")
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err
    assert time.monotonic() - start < 60


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("/nowhere", "cannot read '/nowhere': No such file"),
        ("/", "cannot read '/': Is a directory"),
        ("a\0b", "cannot read"),
        ("", "expects a file, - or an http(s) URL, not an empty name"),
        ("http://127.0.0.1:1/", "cannot read 'http://127.0.0.1:1/'"),
        ("http://[", "cannot read 'http://['"),
        ("http://a b/", "cannot read"),
    ],
)
def test_unreadable(dedup, source, message):
    """What cannot be read is one line that names it."""
    code, out, err = dedup("compare", source, source)
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err


def test_bytes_of_a_text_are_compared_and_others_refused(dedup, files):
    """Lone surrogates and NULs are compared like any other text; a binary file has none."""
    binary, torn = files(bytes(range(256)) * 40, b"\xff\xfe\x00\xd8" * 100 + b"\0" * 1000)
    code, out, _ = dedup("compare", torn, torn)
    assert code == Exit.FOUND
    assert "verdict on B" in out
    assert dedup("compare", torn, binary)[0] == Exit.USAGE
    assert dedup("shingles", binary, "--all")[0] == Exit.USAGE


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
