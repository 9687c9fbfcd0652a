"""Deletes the index of the project's DEDUP_NAMESPACE completely, whatever its parameters.

It works in small steps, so the server goes on answering. Other indexes on the server stay. Crawls
that use the index learn of it. If the command is killed, all that you can do with the index is to
clear it again. Its texts in DEDUP_DATA_DIR are deleted, too. Texts of an index of the same name on
another server stay, and the command says so.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from ...wording import counted
from ..output import print_json, print_notice
from ..subcommands import Exit, explain_nothing, index_config

HELP = "Delete the index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print JSON: the keys deleted")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Delete the index after a confirmation."""
    from ...dedup.archive.database import archive_path, clear_archive, list_archives
    from ...dedup.errors import InputError
    from ...dedup.store.namespaces import clear_index
    from ...dedup.store.server.address import mask_url

    config = index_config(settings)
    server = mask_url(config.redis_url) if config.redis_url else str(config.data_dir)
    if not options.yes:
        if not sys.stdin.isatty():
            raise InputError(f"add --yes to delete the index {config.namespace!r} of {server}")
        print(f"Delete the index {config.namespace!r} of {server}? [y/N] ", end="", file=sys.stderr)
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise InputError("nothing was deleted")
    digests: list[str] = []
    deleted = asyncio.run(clear_index(config, digests.append))
    try:
        for digest in digests:
            clear_archive(archive_path(config, digest))
        for path in list_archives(config):
            print_notice(f"texts of another index of that name are left in {path}")
    finally:  # the index is deleted, whatever becomes of the texts
        if options.json:
            print_json({"namespace": config.namespace, "keys": deleted})
        elif deleted:
            print(f"The index {config.namespace!r} is deleted ({counted(deleted, 'key')}).")
    return Exit.FOUND if deleted else explain_nothing(f"there is no index {config.namespace!r}")
