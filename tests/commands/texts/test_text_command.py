"""``scrapy dedup text``: what is kept of a page and what is cut."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.commands.subcommands import Exit
from crawler.commands.texts import text as command
from crawler.files import can_read_files
from tests.commands.conftest import ROOT
from tests.files.made import make_pdf

Dedup = Callable[..., tuple[int, str, str]]
STORY = (
    "Tea is an aromatic drink, prepared by pouring hot water over cured leaves, and it is drunk "
    "everywhere in the world, hot or cold, with milk or without."
)
HTML = (
    "<!doctype html><title>Tea</title><nav><ul><li><a href=/>Home</a><li><a href=/shop>Shop</a>"
    f"</ul></nav><main><p>{STORY}</p></main>"
)


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(HTML)
    return str(path)


def test_the_main_text(dedup: Dedup, page: str) -> None:
    """In a pipe the text comes as it is, without anything else."""
    assert dedup("text", page) == (0, f"{STORY}\n", "")


def test_what_begins_with_comments(dedup: Dedup, tmp_path: Path) -> None:
    """Comments may stand before a page, and before what is none; to tell takes no time."""
    path = tmp_path / "page"
    for text, found in ((HTML, STORY), ("tea", "<!---->" * 200 + "tea")):
        path.write_text("<!---->" * 200 + text)
        assert dedup("text", str(path)) == (0, f"{found}\n", "")


def test_blocks(dedup: Dedup, page: str) -> None:
    """All blocks in reading order: a mark, the reason, the density, the text."""
    code, output, _ = dedup("text", page, "--blocks")
    assert code == 0
    assert [line.split("\t") for line in output.splitlines() if line] == [
        ["", "why", "density", "block"],
        ["-", "navigation", "0.00", "Home"],
        ["-", "navigation", "0.00", "Shop"],
        ["+", "main text", "1.00", STORY],
    ]


def test_json(dedup: Dedup, page: str) -> None:
    """JSON has title and text, with --blocks the blocks with all that is known of them."""
    _, output, _ = dedup("text", page, "--json")
    assert json.loads(output) == {"source": page, "title": "Tea", "text": STORY}
    _, output, _ = dedup("text", page, "--json", "--blocks")
    last = json.loads(output)["blocks"][-1]
    assert last.pop("likelihood") > 0.5
    assert last == {"text": STORY, "kept": True, "reason": "main text", "density": 1.0}


def test_a_terminal_shows_colours_and_no_control_characters(
    dedup: Dedup, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a terminal kept blocks are green and cut ones red; a page cannot act on the terminal."""
    Path(page).write_text(HTML.replace("Tea is", "Tea\x1b[2J is"))
    monkeypatch.setattr(command, "is_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    _, output, _ = dedup("text", page, "--blocks")
    shop, story = (
        next(line for line in output.splitlines() if word in line) for word in ("Shop", "aromatic")
    )
    assert "\x1b[31m" in shop
    assert "\x1b[32m" in story
    _, plain, _ = dedup("text", page)
    assert "\x1b[2J" not in output + plain
    assert r"\x1b[2J is" in plain


@pytest.mark.parametrize("word", ["می\u200cخواهم", "ශ්\u200dරී", "ភាសា\u200bខ្មែរ"])
def test_what_belongs_to_a_script_is_no_control_character(
    dedup: Dedup, page: str, word: str
) -> None:
    """Persian is full of such, and none does anything to a terminal; in ASCII they only hide."""
    Path(page).write_text(f"<p>{word}, {word} a\u200cb \u200f{word}")
    block = dedup("text", page, "--blocks")[1].split("\t")[-1]
    assert block.strip() == f"{word}, {word} a\\u200cb \\u200f{word}"


def test_a_text_is_its_own_main_text(dedup: Dedup, tmp_path: Path) -> None:
    """Of what is no HTML nothing is cut."""
    path = tmp_path / "a.txt"
    path.write_text("one\n\ntwo")
    assert dedup("text", str(path))[1] == "one\n\ntwo\n"
    assert dedup("text", str(path), "--blocks")[1].splitlines()[1].startswith("+\tno HTML\t1.00")


@pytest.mark.parametrize("body", ["", "<!doctype html><script>x</script>"])
def test_nothing_there(dedup: Dedup, tmp_path: Path, body: str) -> None:
    """A document without text is exit code 1."""
    path = tmp_path / "empty"
    path.write_text(body)
    assert dedup("text", str(path))[0] == 1


def test_a_file_that_is_not_there(dedup: Dedup) -> None:
    """What cannot be read is one line of error and exit code 2."""
    code, output, errors = dedup("text", "no-such-file")
    assert (code, output) == (2, "")
    assert errors.count("\n") == 1
    assert "no-such-file" in errors


@pytest.mark.parametrize(
    "words",
    [
        "text",
        "text --blocks",
        "show --why a --text",
        "shingles",
        "shingles --raw",
        "compare README.md",
    ],
)
def test_a_file_that_is_no_text(dedup: Dedup, tmp_path: Path, words: str) -> None:
    """A picture is one line of error and exit code 2, and nothing of it is printed; so is what is
    called a page and is none."""
    picture = ROOT / "docs" / "pictures" / "report.png"
    page = tmp_path / "page.html"
    page.write_bytes(picture.read_bytes())
    for name in map(str, (picture, page)):
        said = f"scrapy dedup: {name!r} is neither text nor HTML\n"
        assert dedup(*words.split(), name) == (2, "", said)


@pytest.mark.parametrize("encoding", ["utf-16", "koi8-r", "utf-8"])
def test_texts_in_other_encodings_are_texts(dedup: Dedup, tmp_path: Path, encoding: str) -> None:
    """The bytes of a text may be those of a binary file: in UTF-16 capitals of Russian are."""
    path = tmp_path / "a.txt"
    path.write_text("ЧАЙ ПЬЮТ ВО ВСЕХ СТРАНАХ МИРА\n" * 40, encoding)
    code, output, _ = dedup("text", str(path))
    assert (code, output.split()[0]) == (0, "ЧАЙ")


def test_a_url_that_nobody_answers(dedup: Dedup) -> None:
    """The reason is a sentence, without the number that the system has for it."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    said = f"scrapy dedup: cannot read {url!r}: Connection refused\n"
    assert dedup("text", url) == (2, "", said)


def test_an_output_that_is_not_utf_8(
    dedup: Dedup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Letters that it does not have are question marks."""
    page = tmp_path / "page.html"
    page.write_text(
        "<meta charset=utf-8><p>Tea – 茶 – is an aromatic drink, and much loved.", "utf-8"
    )
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, "latin-1", write_through=True))
    assert dedup("text", str(page))[0] == 0
    said = written.getvalue().decode("latin-1")
    assert said.strip() == "Tea ? ? ? is an aromatic drink, and much loved."


def test_a_page_without_text(dedup: Dedup, tmp_path: Path) -> None:
    """Says so, where nothing else would show that something was done."""
    page = tmp_path / "page.html"
    page.write_text("<title>Tea</title>")
    code, out, err = dedup("text", str(page))
    assert (code, out.strip()) == (1, "")
    assert "no text in" in err


@pytest.mark.parametrize("command", ["text", "find", "shingles", "compare"])
def test_a_feed_is_no_page(dedup: Dedup, tmp_path: Path, command: str) -> None:
    """Its JSON would be read as one text; what reads it is named instead."""
    feed = tmp_path / "pages.jsonl"
    feed.write_text('{"url": "/", "text": "tea"}\n')
    code, out, err = dedup(command, *[str(feed)] * (2 if command == "compare" else 1))
    assert (code, out) == (2, "")
    assert "is a feed of many pages, not one: `scrapy dedup clusters`" in err


@pytest.mark.skipif(not can_read_files(), reason="needs the extra `files`")
def test_commands_read_pdf(dedup, tmp_path):
    """As they read HTML and text."""
    (tmp_path / "tea.pdf").write_bytes(make_pdf([["Tea is a hot drink."]]))
    (tmp_path / "hurt.pdf").write_bytes(b"%PDF-1.4")
    assert dedup("text", str(tmp_path / "tea.pdf"))[:2] == (Exit.FOUND, "Tea is a hot drink.\n")
    code, _, error = dedup("text", str(tmp_path / "hurt.pdf"))
    assert code == Exit.USAGE
    assert "it is damaged" in error
