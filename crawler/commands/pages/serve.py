"""Serves the index as a live web page, where you search, compare, and override decisions.

The index keeps your overrides and applies them at the next checks. Only this machine reaches the
page, unless --host says otherwise, and only with the token in the printed URL. It does not encrypt:
from another machine, use an SSH tunnel. /metrics offers OpenMetrics.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_notice
from ..strict_arguments import make_integer_type
from ..subcommands import Exit, ask_index

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "A local web page of the index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", type=_parse_host, default="127.0.0.1", help="(default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port",
        type=make_integer_type(0, 65535),
        default=0,
        metavar="N",
        help="(default: any free one)",
    )
    parser.add_argument(
        "--token", type=_read_token, help="token in the URL (default: a random one)"
    )
    parser.add_argument("--json", action="store_true", help="print the URL as JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Serve until Ctrl-C."""
    import ipaddress
    import secrets
    from contextlib import suppress

    from ...dedup.errors import MissingExtra

    try:
        from ...report.web.server import serve
    except ImportError as error:
        raise MissingExtra("the web page", "report", error) from None

    token = options.token or secrets.token_urlsafe(24)
    local = options.host == "localhost"
    with suppress(ValueError):
        local = local or ipaddress.ip_address(options.host).is_loopback
    if not local:
        print_notice("other machines can reach this page, and it is not encrypted")

    def announce(url: str) -> None:
        if options.json:
            print_json({"url": url})
        else:
            print(f"Open {url}\nPress Ctrl-C to stop.")
        sys.stdout.flush()

    async def work(index: DuplicateIndex) -> None:
        await serve(index, host=options.host, port=options.port, token=token, announce=announce)

    with suppress(KeyboardInterrupt):
        ask_index(settings, work, make=True)  # a later crawl takes the seed of a new index
    return Exit.FOUND


def _parse_host(text: str) -> str:
    if not text:  # an unset variable, for example, would open the page to all machines
        raise argparse.ArgumentTypeError("expects a name or an address, not an empty one")
    return text


def _read_token(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{8,200}", text):
        raise argparse.ArgumentTypeError(
            f"expects 8 or more letters, digits, hyphens or underscores, not {text!r}"
        )
    return text
