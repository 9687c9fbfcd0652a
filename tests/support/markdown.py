"""The code blocks of markdown files, what marks them, and a terminal that runs them.

``<!-- not run: reason -->`` before a block says that the tests cannot run it, and why;
``<!-- varies -->`` before an output, that its figures differ from run to run;
``<!-- given: code -->`` before a block of Python runs that code first.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# Documents whose blocks are looked at; reports of changes are no instructions.
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)

_STYLES = re.compile(r"\x1b\[[\d;?]*[a-zA-Z]")
_PROGRESS = re.compile(
    r"^scrapy dedup: [\d,]+ (?:pages · |documents read|of [\d,]+ ).*\n", re.MULTILINE
)
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>not run|given): (?P<why>(?:(?!-->).)*) -->\n+"
    r"|<!-- (?P<varies>varies) -->\n+)?"
    r"^```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A code block: its language, the mark before it and the reason in that.

    ``follows`` tells whether it stands directly below the block before it.
    """

    language: str
    code: str
    mark: str | None
    why: str
    line: int
    follows: bool


class Example(NamedTuple):
    """Commands and the output that stands below them; what ``varies`` is compared by its shape."""

    commands: str
    output: str | None
    varies: bool


def blocks(path: Path) -> list[Block]:
    """All fenced blocks of a file, in their order."""
    text = path.read_text(encoding="utf-8")
    shown = []
    end = 0
    for found in _FENCE.finditer(text):
        between = text[end : found.start()].strip()
        end = found.end()
        shown.append(
            Block(
                found["language"],
                found["code"],
                found["mark"] or found["varies"],
                found["why"] or "",
                text.count("\n", 0, found.start("code")),
                bool(shown) and not between,
            )
        )
    return shown


def examples(path: Path) -> list[Example]:
    """The commands of a file that can be run, with the outputs shown."""
    found = blocks(path)
    shown = []
    for place, block in enumerate(found):
        if block.language != "sh" or block.mark == "not run":
            continue
        below = found[place + 1 : place + 2]
        output = next((one for one in below if one.follows and one.language == "text"), None)
        varies = output is not None and output.mark == "varies"
        shown.append(Example(block.code, output and output.code, varies))
    return shown


def shape(output: str) -> set[str]:
    """Lines without what differs from run to run: figures, widths, and how many are alike."""
    return {re.sub(r"[\d.,:─━ +–█]+", "#", line) for line in output.splitlines()}


@contextmanager
def alone() -> Iterator[None]:
    """Commands go one at a time: the demo site has its ports if no other test has them."""
    with Path(__file__).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run_shell(
    commands: str, folder: Path, environment: Mapping[str, str], *, columns: int = 100
) -> str:
    """What a terminal shows when the commands are run; they must succeed, without a traceback.

    Without the progress that commands tell of after some seconds, which a busy machine makes them.
    """
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        ["sh", "-ec", commands],
        cwd=folder,
        env={**environment, "COLUMNS": str(columns), "LINES": "50", "TERM": "xterm"},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    shown = b"".join(_read(leader))
    os.close(leader)
    text = _PROGRESS.sub("", _STYLES.sub("", shown.decode()).replace("\r\n", "\n"))
    # A crawl whose pages all failed ends well.
    is_fine = process.wait(timeout=60) == 0 and "Traceback (most recent call last)" not in text
    assert is_fine, f"{commands}\n{text}"
    return "".join(line.rstrip() + "\n" for line in text.strip("\n").split("\n"))


def _read(leader: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(leader, 1 << 16)
        except OSError:  # the last writer has closed its end
            return
        if not part:
            return
        yield part


def with_outputs(text: str, printed: Iterable[tuple[str, str]]) -> str:
    """A page in which the output below each of the commands, in their order, is what it printed."""
    pattern = re.compile(
        r"```sh\n((?:(?!```).)*)```\n\n((?:<!-- varies -->\n\n)?)```text\n.*?```\n", re.DOTALL
    )

    waiting = list(printed)

    def replaced(found: re.Match[str]) -> str:
        for place, (commands, output) in enumerate(waiting):
            if commands == found[1]:
                del waiting[place]
                return f"```sh\n{commands}```\n\n{found[2]}```text\n{output}```\n"
        return found[0]

    return pattern.sub(replaced, text)
