"""``scrapy dedup tune``: the figures, the pictures, and what the index says about itself."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from crawler.commands.subcommands import Exit
from crawler.dedup import DedupConfig, jaccard, shingle_hashes
from crawler.dedup.analysis.tuning import list_choices, pair_similarities
from crawler.dedup.exchange.open_store import make_store
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint
from crawler.dedup.sketches.lsh import choose_bands, fewest_bands
from crawler.dedup.sketches.odd import OddSketch, estimate_odd, odd_sketch
from crawler.dedup.store.messages import CheckRequest
from crawler.dedup.store.server.connect import open_server
from tests.conftest import wait_until
from tests.support.texts import article, changed, text

NOWHERE = ["-s", "DEDUP_REDIS_URL=redis://127.0.0.1:1"]


def test_no_server_is_asked(dedup):
    """Without --sample, figures come without any server."""
    code, out, err = dedup("tune", *NOWHERE)
    assert (code, err) == (Exit.FOUND, "")
    assert out.splitlines()[0].split("\t")[:4] == ["choice", "bands", "rows", "recall"]
    assert dedup("tune", "--sample", "9", *NOWHERE)[0] == Exit.SERVER


def test_the_table_of_the_lecture(dedup):
    """20 bands of 5 give the table .006 … .9996, give or take what values of few bits add."""
    words = ["-s", "DEDUP_BANDS=20", "-s", "DEDUP_ROWS=5"]
    _, out, _ = dedup("tune", "--json", *words)
    rows = {row["similarity"]: row for row in json.loads(out)["curve"]}
    lecture = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.47, 0.6: 0.802, 0.7: 0.975, 0.8: 0.9996}
    for similarity, found in lecture.items():
        assert rows[similarity]["textbook"] == pytest.approx(found, abs=6e-4)
        assert rows[similarity]["set"] == pytest.approx(found, abs=0.07)
    assert all(row["set"] >= row["textbook"] for row in rows.values())  # see `tune -h`


def test_the_choices_are_those_of_the_index_and_of_the_weights(dedup):
    """What the index would take is marked; the weights reach the other choice."""
    weights = ["--false-positives", "3", "--false-negatives", "1"]
    _, out, _ = dedup("tune", "--threshold", ".7", "--num-hashes", "128", "--json", *weights)
    fewest, weighed = json.loads(out)["choices"]
    assert (fewest["used"], weighed["used"]) == (True, False)
    assert (fewest["bands"], fewest["rows"]) == fewest_bands(0.7, 128)
    expected = choose_bands(0.7, 128, false_positives=3, false_negatives=1, tables=True)
    assert (weighed["bands"], weighed["rows"]) == expected
    assert fewest["recall_at_threshold"] >= 0.95


def test_a_terminal_shows_the_curve(dedup, monkeypatch):
    """A person sees the curve; its mark stands below the threshold."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    _, out, _ = dedup("tune", "--threshold", "0.5")
    lines = out.splitlines()
    assert lines[0].startswith("100 % │")
    axis = next(line for line in lines if "┴" in line)
    assert axis.index("┴") - axis.index("└") - 1 == 30  # of 60 columns


@pytest.mark.parametrize("threshold", ["0.3", "0.99"])
def test_a_narrow_terminal_shows_the_curve(dedup, monkeypatch, threshold):
    """No line of it is wrapped, and all of it is there."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = dedup("tune", "--threshold", threshold)
    lines = out.split("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= 40
    assert lines[10].index("┴") == lines[11].index("▲")
    assert " ".join(" ".join(lines[12:]).split()).endswith("height: share of pairs found")


def test_a_narrow_terminal_folds_no_number(dedup, fill, monkeypatch):
    """Each figure in its tables is one that a pipe gets, too, and those of the bands are all."""
    fill([(f"http://a/{i}", text(changed(article(i // 2), i % 2))) for i in range(20)])
    words = ["tune", "--sample", "20"]
    piped = dedup(*words)[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    lines = [line for line in dedup(*words)[1].splitlines() if line.startswith("│")]
    assert max(map(len, lines)) <= 40

    def figures(cells):
        return {cell.strip() for cell in cells if re.fullmatch(r" *\d[\d.]* *", cell)}

    narrow = figures("│".join(lines).split("│"))
    assert narrow <= figures(re.split(r"[\t\n]", piped))
    assert figures(re.split(r"[\t\n]", piped.split("\n\n")[0])) <= narrow


def test_svg(dedup, tmp_path):
    """The SVG is well-formed and draws one line a choice, from no pair found to all found."""
    path = tmp_path / "curve.svg"
    assert dedup("tune", "--plot", str(path))[0] == Exit.FOUND
    root = ElementTree.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    lines = [line for line in root.iter(f"{name}polyline") if line.get("stroke-width") == "2"]
    assert len(lines) == 2
    for line in lines:
        heights = [float(pair.split(",")[1]) for pair in line.attrib["points"].split()]
        assert heights == sorted(heights, reverse=True)
    assert "threshold 0.8" in "".join(root.itertext())


def test_png(dedup, tmp_path):
    """A PNG is drawn where matplotlib is installed."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "curve.png"
    assert dedup("tune", "--plot", str(path))[0] == Exit.FOUND
    assert path.read_bytes().startswith(b"\x89PNG")


def test_png_without_matplotlib(dedup, tmp_path, monkeypatch):
    """Without matplotlib the error says what to install, and that SVG needs nothing."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = dedup("tune", "--plot", str(tmp_path / "curve.png"))
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert "pip install matplotlib" in err
    assert ".svg" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threshold", "2"], "expects a number above 0 and up to 1, not '2'"),
        (["--threshold", "nan"], "expects a number above 0 and up to 1, not 'nan'"),
        (["--num-hashes", "1e9"], "expects a whole number from 16 to 4096"),
        (["--threshold", "0.01"], "DEDUP_THRESHOLD expects more"),
        (["--false-positives", "-1"], "expects a number from 0 on"),
        (["--false-positives", "0", "--false-negatives", "0"], "weights of errors"),
        (["-s", "DEDUP_METHOD=smallest"], "DEDUP_METHOD smallest has no bands"),
        (["--plot", "curve.gif"], "expects a file.svg or a file.png"),
        (["--plot", "/nowhere/curve.svg"], "cannot write '/nowhere/curve.svg'"),
    ],
)
def test_mistakes(dedup, words, message):
    """A mistake is one line and exit code 2."""
    code, out, err = dedup("tune", *words)
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err


def test_sample(dedup, fill):
    """Near-duplicates of the index are counted where they are, and so are pairs of kept pages."""
    pages = [(f"http://a/{i}", text(article(i))) for i in range(6)]
    copies = [(f"http://b/{i}", text(changed(article(i), 4))) for i in range(5)]
    similar = jaccard(*(shingle_hashes(one[0][1]) for one in (pages, copies)))
    fill([*pages, *copies, ("http://a/short", "tea")])
    code, out, _ = dedup("tune", "--sample", "100", "--json")
    bins = json.loads(out)["sample"]
    assert code == Exit.FOUND
    assert sum(one["near_duplicates"] for one in bins) == 5
    assert sum(one["pairs"] for one in bins) == 6 * 5 // 2
    assert bins[0]["pairs"] == 15  # originals share nothing
    nearby = [b for b in bins if b["low"] - 0.05 <= similar < b["high"] + 0.05]
    assert sum(one["near_duplicates"] for one in nearby) == 5
    assert dedup("tune", "--sample", "3")[1].splitlines()[-2].startswith("0.95\t1.0000\t")


def test_sample_of_an_empty_index(dedup):
    """An index without pages has nothing to show: exit code 1."""
    assert dedup("tune", "--sample", "5")[0] == Exit.NOTHING


def test_pairs_are_estimated_as_the_index_does():
    """All pairs at once give what the index computes for one, at every level."""
    rng = np.random.default_rng(1)
    shingles = rng.integers(0, 2**64, 2000, dtype=np.uint64)
    sets = [shingles[: 900 + 50 * i] for i in range(4)]
    sketches = [odd_sketch(one, level, 512) for level in (0, 1) for one in sets]
    found = sorted(pair_similarities(sketches, 512).tolist())
    expected = []
    for level in (sketches[:4], sketches[4:]):
        for i, a in enumerate(level):
            for b in level[i + 1 :]:
                odd = (int.from_bytes(a.bits) ^ int.from_bytes(b.bits)).bit_count()
                one = estimate_odd(odd, a.members, b.members, a.level, bits=512)
                expected.append(one.similarity)
    assert found == pytest.approx(sorted(expected))
    assert pair_similarities([], 512).size == 0


@pytest.mark.parametrize(("bands", "bits"), [(4, 1024), (20, 1024), (12, 512)])
def test_bytes_a_page(server, redis_url, bands, bits):
    """What is said of memory is what a real index takes, within an eighth."""
    config = DedupConfig(redis_url=redis_url, bands=bands, rows=5, verify_bits=bits)
    # What a server takes once, such as for scripts, is no page's.
    asyncio.run(_fill_with_unlike(replace(config, namespace="first"), 500))
    # A server gives back what was deleted before when it finds the time.
    wait_until(lambda: server.ask("INFO", "memory")["lazyfree_pending_objects"] == 0)
    before = server.ask("INFO", "memory")["used_memory"]
    asyncio.run(_fill_with_unlike(config, 5_000))
    taken = (server.ask("INFO", "memory")["used_memory"] - before) / 5_000
    (used,) = (c for c in list_choices(config, false_positives=1, false_negatives=1) if c.used)
    assert used.page_bytes == pytest.approx(taken, rel=1 / 8)


async def _fill_with_unlike(config: DedupConfig, pages: int) -> None:
    rng = np.random.default_rng(1)
    bands, odd = config.banding.bands, config.verify_bits // 8
    async with open_server(config) as client:
        store = await make_store(client, config)
        await store.open()
        for start in range(0, pages, 500):
            requests = []
            for number in range(start, start + 500):
                url = f"https://www.example.com/articles/{number:027d}"
                sketch = OddSketch(0, 500, rng.bytes(odd))
                page = Fingerprint(rng.bytes(EXACT_BYTES), 500, rng.bytes(4 * bands), (sketch,))
                requests.append(CheckRequest(url, "www.example.com", rng.bytes(4), page))
            await store.check(requests)
