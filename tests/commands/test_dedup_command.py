"""The command line: what it prints, its exit codes, and how it takes mistakes."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys

import pytest
from scrapy.settings import default_settings

from crawler.commands.subcommands import ALIASES, USES, Exit, find_subcommand, list_names
from tests.commands.conftest import ROOT
from tests.support.texts import article, changed, text

TEXT = "the leaves of an evergreen shrub give an aromatic drink when hot water is poured over them "
PAGES = [
    ("http://a.example/", TEXT * 2),
    ("http://b.example/", TEXT * 2),
    ("http://b.example/near", TEXT * 2 + "today"),
    ("http://b.example/short", "tea"),
]


def test_stats(dedup, fill):
    """The tables hold every verdict, host and parameter, in lines that a pipe can cut."""
    fill(PAGES)
    code, out, err = dedup("stats")
    lines = out.splitlines()
    assert (code, err) == (Exit.FOUND, "")
    assert lines[:5] == [
        "verdict\tchecks\tshare",
        "unique\t1\t25.0%",
        "exact\t1\t25.0%",
        "near\t1\t25.0%",
        "short\t1\t25.0%",
    ]
    assert "b.example\t0\t1\t1\t1" in lines
    assert "from\tchecks\t" in lines
    assert "threshold\t0.8" in lines


def test_stats_json(dedup, fill):
    """The keys of the JSON are stable and its counts add up."""
    fill(PAGES)
    code, out, _ = dedup("stats", "--json")
    stats = json.loads(out)
    assert code == Exit.FOUND
    assert stats.keys() == {
        "namespace",
        "verdicts",
        "hosts",
        "histogram",
        "urls",
        "kept",
        "memory_bytes",
        "bytes_per_page",
        "parameters",
        "last_check",
        "last_crawl",
        "errors",
    }
    assert sum(stats["verdicts"].values()) == len(PAGES)
    assert stats["hosts"]["a.example"] == {"unique": 1}
    assert sum(stats["histogram"].values()) == 1


def test_memory_is_told_as_an_estimate(dedup, fill):
    """A sample of keys is weighed; the keys of the JSON stay what they are."""
    fill(PAGES)
    _, out, _ = dedup("stats")
    rows = dict(line.split("\t", 1) for line in out.splitlines() if line.count("\t") == 1)
    assert int(rows["memory, bytes (estimate)"]) > 0
    assert float(rows["bytes per page kept (estimate)"]) > 0


def test_show(dedup, fill):
    """A page is shown with what it duplicates, how similar and since when."""
    fill(PAGES)
    code, out, _ = dedup("show", "http://b.example/near")
    fields = dict(line.split("\t") for line in out.strip().splitlines())
    assert code == Exit.FOUND
    assert fields["kind"] == "near"
    assert fields["duplicate_of"] == "http://a.example/"
    assert 0.8 <= float(fields["low"]) <= float(fields["similarity"]) <= 1
    code, out, _ = dedup("show", "--json", "http://b.example/near")
    record = json.loads(out)
    assert f"{record['similarity']:.4f}" == fields["similarity"]
    assert record["first_seen"] == fields["first_seen"]
    code, _, err = dedup("show", "b.example/near")
    assert (code, err.count("\n")) == (Exit.NOTHING, 1)
    assert "begin with https://" in err


@pytest.mark.parametrize(
    ("words", "output"),
    [(["stats"], ""), (["show", "/x"], ""), (["show", "/x", "--json"], "null\n")],
)
def test_nothing_there(dedup, words, output):
    """Nothing found is exit code 1 and a word on standard error."""
    code, out, err = dedup(*words)
    assert (code, out) == (Exit.NOTHING, output)
    assert err.startswith("scrapy dedup: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stast"], "there is no subcommand 'stast'; did you mean stats?"),
        (["zzz"], "there is no subcommand 'zzz'; known: "),
        (["--json"], "name a subcommand before '--json': "),
        (["stats", "--jso"], "there is no option '--jso'; did you mean --json?"),
        (["--jso", "stats"], "there is no option '--jso'; did you mean --json?"),
        (["stats", "-j"], "there is no option '-j'"),
        (["stats", "more"], "there is no place for the argument 'more'"),
        (["where", "--format", "nginx", "--json"], "--json: not allowed with argument --format"),
        (["export", "-"], "expects a file, not '-'"),
        (["export", "x.jsonl"], "the file is compressed, as 'x.jsonl.gz', not 'x.jsonl'"),
        (["where", "-o", "-"], "expects a file, not '-'"),
        (["show"], "the following arguments are required: URL"),
        (["stats", "--set", "DEDUP_THRESHOLD=2"], "DEDUP_THRESHOLD expects a number"),
        (["stats", "-s", "DEDUP_TRESHOLD=1"], "DEDUP_TRESHOLD is not a setting; did you mean"),
    ],
)
def test_wrong_usage(dedup, words, message):
    """A mistake is one line that says what was meant, and exit code 2."""
    code, out, err = dedup(*words)
    assert (code, out, err.count("\n")) == (Exit.USAGE, "", 1)
    assert message in err


@pytest.mark.parametrize(
    "words",
    [
        ["stats", "-s", "DEDUP_REDIS_URL=redis://127.0.0.1:1"],
        ["-s", "DEDUP_REDIS_URL=redis://127.0.0.1:1", "stats"],
        ["show", "/", "-s", "DEDUP_THRESHOLD=0.7"],
    ],
)
def test_no_index(dedup, fill, words):
    """No server, or an index with other parameters, is one line and exit code 3."""
    fill(PAGES)
    code, out, err = dedup(*words)
    assert (code, out, err.count("\n")) == (Exit.SERVER, "", 1)


def test_terminal(dedup, fill, monkeypatch):
    """A person gets tables, in which an address can be neither markup nor a control sequence."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    url = "http://a.example/[bold]\x1b[31m"
    fill([(url, TEXT)])
    _, out, _ = dedup("show", url)
    assert "[bold]" in out
    assert "\x1b[31m" not in out
    code, out, _ = dedup("stats")
    assert code == Exit.FOUND
    assert "Verdicts" in out


@pytest.mark.parametrize("term", ["xterm", "dumb"])
@pytest.mark.parametrize(("columns", "longest"), [(40, 20), (100, 40)])
def test_bars(dedup, fill, monkeypatch, columns, longest, term):
    """A bar takes one line, as long as its share of the longest, in a narrow terminal too."""
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    pages = [(f"http://a.example/{n}", text(changed(article(1), n))) for n in (0, 1, 1, 2, 2, 12)]
    fill([(f"{url}/{place}", words) for place, (url, words) in enumerate(pages)])
    found = json.loads(dedup("stats", "--json")[1])["histogram"]
    assert len(set(found.values())) > 1
    lines = [line for line in dedup("stats")[1].splitlines() if "█" in line]
    assert len(lines) == len(found)
    assert max(map(len, lines)) <= columns
    most = max(found.values())
    for line, number in zip(lines, found.values(), strict=True):
        assert line.count("█") == math.ceil(number * longest / most)


def test_help(dedup):
    """The help lists every subcommand, and every subcommand explains its exit codes."""
    code, out, _ = dedup("-h")
    assert code == 0
    for name in list_names():
        assert f"  {name} " in out
        assert find_subcommand(name).HELP in out
        assert "Exit codes:" in dedup(name, "--help")[1]


def test_help_without_subcommand(dedup):
    """Without a subcommand there is the help, and exit code 2."""
    code, out, _ = dedup()
    assert code == Exit.USAGE
    assert "Subcommands" in out


def test_an_index_that_is_named_needs_no_project(dedup, monkeypatch, tmp_path):
    """One on a server can be asked from anywhere."""
    monkeypatch.chdir(tmp_path)
    code, _, err = dedup("stats")
    assert code == Exit.NOTHING
    assert "nothing yet in the index" in err


def test_light_import():
    """Scrapy loads the command for each of its own: that costs no numpy, Redis or rich."""
    words = "from scrapy.utils.misc import walk_modules as w; import sys; w('crawler.commands')"
    check = "assert not {'numpy', 'redis', 'rich'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{words}; {check}"], check=True)


_INTERRUPTED = """
import os, signal, sys
from scrapy.cmdline import execute

class Interrupting:
    def find_spec(self, name, *arguments):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
for module in sys.argv[1:]:
    if not os.fork():
        sys.meta_path.insert(0, Interrupting())
        execute(["scrapy", "dedup", "stats", "-s", "DEDUP_REDIS_URL=redis://127.0.0.1:1"])
    print(module, os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""


def test_ctrl_c_while_it_begins_is_no_traceback():
    """What it imports takes a while, in which it ends as quietly as later on."""
    modules = ["crawler.dedup.errors", "numpy", "redis"]
    words = [sys.executable, "-c", _INTERRUPTED, *modules]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [f"{name} {Exit.INTERRUPTED}" for name in modules]


def test_settings_are_listed(dedup):
    """Each setting comes with its value in the project, its default and its meaning."""
    code, out, _ = dedup("settings", "--json", "-s", "DEDUP_THRESHOLD=0.7")
    found = json.loads(out)
    assert code == Exit.FOUND
    assert found["DEDUP_THRESHOLD"]["value"] == 0.7
    assert found["DEDUP_THRESHOLD"]["default"] == 0.8
    assert all(row["doc"] for row in found.values())


def test_meanings_of_settings_have_room(dedup, monkeypatch):
    """In a terminal of 80 columns they take a third: a default stands only beside what differs."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    _, out, _ = dedup("settings", "-s", "DEDUP_THRESHOLD=0.7", "-s", "DEDUP_TTL=90")
    rows = [line.split("│")[1:-1] for line in out.splitlines() if line.startswith("│")]
    assert len(rows[0][-1]) >= 27
    values = {row[0].strip(): row[1].strip() for row in rows}
    assert values["DEDUP_THRESHOLD"] == "0.7 (default: 0.8)"
    assert values["DEDUP_TTL"] == "90.0 (default: unset)"
    assert values["DEDUP_NUM_HASHES"] == "0"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_secrets_are_not_listed(dedup, form):
    """Whoever shows others the list gives away neither the password nor a secret seed."""
    secret = ["-s", "DEDUP_REDIS_URL=redis://me:hush@example.com/2", "-s", "DEDUP_SEED=918273645"]
    code, out, _ = dedup("settings", *form, *secret)
    assert code == Exit.FOUND
    assert "redis://***@example.com/2" in out
    assert "hush" not in out
    assert "918273645" not in out


def test_the_settings_reference_is_the_code(dedup):
    """docs/reference/settings.md has the table that `scrapy dedup settings --markdown` writes."""
    _, out, _ = dedup("settings", "--markdown")
    assert out.strip() in (ROOT / "docs" / "reference" / "settings.md").read_text()


def test_every_setting_that_is_read_is_documented():
    """Those of neither the filter nor Scrapy stand above the table, with their defaults."""
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    read = set()
    for path in (ROOT / "crawler").rglob("*.py"):
        read |= set(re.findall(r'settings\.get\w*\("(\w+)"', path.read_text()))
    own = {name for name in read if not hasattr(default_settings, name)}
    assert own == set(re.findall(r"`([A-Z_]+)` \(`\w+`: ", page))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["cluster", "http://a.example/"], ["clusters", "http://a.example/"]),
        (["copies", "--json"], ["clusters", "--urls", "--json"]),
        (["explain", "http://b.example/near"], ["show", "--why", "http://b.example/near"]),
        (["moved", "--json"], ["where", "--json"]),
        (
            ["prefer", "http://a.example/", "--json"],
            ["override", "http://a.example/", "prefer", "--json"],
        ),
    ],
)
def test_names_that_are_going_do_the_same(dedup, fill, old, new):
    """A script goes on working, and is told once what to write."""
    fill(PAGES)
    code, out, err = dedup(*old)
    assert (code, out) == dedup(*new)[:2]
    use = USES.get(old[0], new[0])
    hint = f"scrapy dedup: '{old[0]}' is deprecated and will be removed in 0.3: use '{use}' (-h)\n"
    assert err.startswith(hint)
    assert old[0] not in list_names()


def test_names_that_are_going_are_in_the_reference():
    page = (ROOT / "docs" / "reference" / "commands.md").read_text()
    names = page.partition("**Old names:**")[2].partition(" stand for ")[0]
    assert re.findall(r"`(\w+)`", names) == list(ALIASES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["clusters", "7", "--threshold", ".5"], "--threshold needs a FILE.jsonl"),
        (["clusters", "7", "--csv", "x.csv"], "--csv lists several clusters"),
        (["clusters", "7", "--story", ".5"], "name nothing else"),
        (["clusters", "--urls", "--csv", "x.csv"], "--urls has no --csv"),
        (["clusters", "x.jsonl", "--urls"], "--urls lists clusters of the index"),
        (["where", "http://a/", "--to", "a"], "--to is for the list"),
        (["override", "http://a/", "keep", "--fetch"], "--scope and --fetch are for prefer"),
        (["override", "http://a/", "keep", "--scope", "s"], "--scope and --fetch are for prefer"),
        (["show", "http://a/", "--fetch"], "--scope and --fetch are for --why"),
        (["show", "http://a/", "--scope", "s"], "--scope and --fetch are for --why"),
    ],
)
def test_options_of_another_question(dedup, words, message):
    """Where one command answers several, an option of another one is no part of it."""
    code, out, err = dedup(*words)
    assert (code, out) == (Exit.USAGE, "")
    assert message in err
