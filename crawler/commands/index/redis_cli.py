"""Sends a command to the server that holds the index, and prints the answer as redis-cli does.

It reaches the private server, too, even while no crawl runs. Without a command, it reads one from
each line of standard input. Put options such as -s before the command. Do not write to keys of an
index: the index does not notice.
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..subcommands import Exit, index_config

HELP = "Send a command to the server, as redis-cli does"

# Commands that answer with lines of text.
_REPORTS: Final = frozenset({"INFO", "CLIENT", "CLUSTER", "MEMORY", "LATENCY"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "command",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help="such as HGETALL '{dedup}:stats'",
    )


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the answers; exit code 1 if the last one is an error."""
    return asyncio.run(_send_commands(options.command, settings))


async def _send_commands(command: Sequence[str], settings: Mapping[str, Any]) -> Exit:
    from ...dedup.store.server.connect import open_server, send_command

    is_error = False
    async with open_server(index_config(settings)) as client:
        for words in [command] if command else _read_lines():
            reply = await send_command(client, words)
            is_error = isinstance(reply, Exception)
            if isinstance(reply, bytes) and words[0].upper() in _REPORTS:
                print(*map(_escape_bytes, reply.splitlines()), sep="\n", flush=True)
            else:
                print(*format_reply(reply), sep="\n", flush=True)
    return Exit.NOTHING if is_error else Exit.FOUND


def _read_lines() -> Iterator[list[str]]:
    from ...dedup.errors import InputError

    for line in sys.stdin:
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise InputError(f"{line.strip()!r} is not a command: {error}") from None
        if words:
            yield words


def format_reply(reply: Any) -> Iterator[str]:
    """The lines that redis-cli shows of a reply.

    >>> print(*format_reply([b"unique", [1, None]]), sep="\\n")
    1) "unique"
    2) 1) (integer) 1
       2) (nil)
    """
    if reply is None:
        yield "(nil)"
    elif isinstance(reply, Exception):
        yield f"(error) {reply}"
    elif isinstance(reply, int):
        yield f"(integer) {reply}"
    elif isinstance(reply, bytes):
        yield f'"{_escape_bytes(reply)}"'
    elif isinstance(reply, str):
        yield reply
    elif not reply:
        yield "(empty array)"
    elif isinstance(reply, Mapping):  # of a cluster
        yield from format_reply([part for pair in reply.items() for part in pair])
    else:
        width = len(str(len(reply)))
        for number, item in enumerate(reply, 1):
            for place, line in enumerate(format_reply(item)):
                yield (f"{number:>{width}}) " if place == 0 else " " * (width + 2)) + line


def _escape_bytes(value: bytes) -> str:
    r"""Bytes as redis-cli prints them, in ASCII, so that nothing in them acts on a terminal.

    >>> print(_escape_bytes(b'a "b" \xff\n'))
    a \"b\" \xff\n
    """
    text = value.decode("latin-1").replace("\\", "\\\\").replace('"', '\\"')
    named = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\a": "\\a", "\b": "\\b"}
    return "".join(named.get(c, c if " " <= c <= "~" else f"\\x{ord(c):02x}") for c in text)
