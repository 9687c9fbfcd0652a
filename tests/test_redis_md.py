"""What docs/reference/redis.md shows is what redis-cli answers, on an index of the demo site.

``python -m tests.test_redis_md SOCKET`` writes the answers into the page; it
empties the server on that socket.
"""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import redis

from crawler.dedup import DedupConfig, DuplicateIndex
from examples.demo_site.pages import pages
from tests.commands.conftest import ROOT

PAGE = ROOT / "docs" / "reference" / "redis.md"
BLOCK = re.compile(r"```text\n\$ redis-cli (.*)\n((?s:.*?))```\n")
TIME = re.compile(r"\b1[0-9]{9}\b")


class Question(NamedTuple):
    words: list[str]
    answer: str


def questions() -> list[Question]:
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    return [Question(shlex.split(command), answer) for command, answer in found]


def fill(url: str) -> None:
    """The demo site's pages in the order of its table, in an index with a seed that is known."""

    async def check() -> None:
        config = DedupConfig(redis_url=url, seed=1)
        async with DuplicateIndex.open(config) as index:
            await index.begin_crawl()
            for page in pages():
                if page.view != "noindex":
                    title, paragraphs = page.title_and_paragraphs()
                    address = f"http://{page.host}.example{page.path}"
                    await index.check(address, "\n".join([title, *paragraphs]))

    asyncio.run(check())


def answer(socket: str, words: list[str]) -> str:
    """What redis-cli prints for a command in a terminal, from the reply to it."""
    with redis.Redis(unix_socket_path=socket, protocol=2) as client:
        client.response_callbacks.clear()
        return "".join(f"{line}\n" for line in shown(client.execute_command(*words)))


def shown(reply: Any) -> Iterator[str]:
    if reply is None:
        yield "(nil)"
    elif isinstance(reply, int):
        yield f"(integer) {reply}"
    elif isinstance(reply, bytes):
        yield '"' + reply.decode().replace("\\", "\\\\").replace('"', '\\"') + '"'
    elif not reply:
        yield "(empty array)"
    else:
        width = len(str(len(reply)))
        for number, item in enumerate(reply, 1):
            for place, line in enumerate(shown(item)):
                head = f"{number:>{width}}) " if place == 0 else " " * (width + 2)
                yield head + line


@pytest.fixture(scope="module")
def socket(server) -> str:
    server.ask("FLUSHALL")
    fill(server.url)
    return str(server.socket)


@pytest.mark.parametrize(
    "question", questions(), ids=lambda question: " ".join(question.words)[:40]
)
def test_each_answer(socket, question):
    """The server gives the answer that is shown; where redis-cli is there, it prints it."""
    assert question.answer
    expected = TIME.sub("#", question.answer)
    assert TIME.sub("#", answer(socket, question.words)) == expected
    if shutil.which("redis-cli"):
        command = ["redis-cli", "--no-raw", "-s", socket, *question.words]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert TIME.sub("#", run.stdout) == expected


def test_there_are_eleven():
    """The page keeps what its heading says."""
    assert len(questions()) == 11


def test_every_key_is_described(socket, server):
    """No key of an index is missing in the table, and none is described that there is not."""
    text = PAGE.read_text(encoding="utf-8")
    described = set(re.findall(r"`\{dedup\}:([a-z]+)[TNBP:]*`", text.partition("## Eleven")[0]))
    found = {re.sub(r"\d", "", key.decode().split(":")[1]) for key in server.ask("KEYS", "*")}
    others = {
        "errors",
        "overrides",
        "templates",
        "rules",
        "seen",
        "crawls",
        "anchor",
    }  # of which these pages need none
    assert found | others == described


def rewrite(socket: str) -> None:
    with redis.Redis(unix_socket_path=socket) as client:
        client.flushall()
    fill(f"unix://{socket}")

    def answered(block: re.Match[str]) -> str:
        return f"```text\n$ redis-cli {block[1]}\n{answer(socket, shlex.split(block[1]))}```\n"

    PAGE.write_text(BLOCK.sub(answered, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    rewrite(sys.argv[1])
