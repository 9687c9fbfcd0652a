"""Copies an index to another DEDUP_NAMESPACE of the same server.

It works in small steps, so the server goes on answering. An existing index is never overwritten. If
the source changes meanwhile, the copy is deleted: stop its crawls first.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...wording import counted
from ..output import print_json
from ..subcommands import Exit, explain_nothing, index_config

HELP = "Copy an index to another name"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SRC", help="the index, a DEDUP_NAMESPACE")
    parser.add_argument("target", metavar="DST", help="its new name, another DEDUP_NAMESPACE")
    parser.add_argument("--json", action="store_true", help="print JSON: the keys copied")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Copy the index."""
    return copy_index(options, settings, is_moved=False)


def copy_index(options: argparse.Namespace, settings: Mapping[str, Any], *, is_moved: bool) -> Exit:
    """Copy the index and, if it `is_moved`, delete it under its old name.

    Pages that passed unchecked then wait for the renamed index; after a copy, for the original. If
    archive or spool cannot be taken along, the copy is undone, and nothing else is deleted.
    """
    from dataclasses import replace

    from ...dedup.archive.database import archive_path, clear_archive, copy_archive
    from ...dedup.errors import InputError
    from ...dedup.exchange.spool import Spool
    from ...dedup.store.namespaces import copy_index

    config = index_config(settings)
    digests: list[str] = []

    def archive_of(name: str, digest: str) -> Path:
        return archive_path(replace(config, namespace=name), digest)

    def rename_spool() -> None:
        try:
            Spool.rename(config.data_dir, options.source, options.target)
        except OSError as error:
            raise InputError(
                f"the pages that wait in DEDUP_DATA_DIR, {str(config.data_dir)!r}, to be "
                f"checked cannot be renamed ({error}): nothing was changed"
            ) from None

    @contextmanager
    def along(digest: str) -> Iterator[None]:
        digests.append(digest)
        new = archive_of(options.target, digest)
        copy_archive(archive_of(options.source, digest), new)
        try:
            yield
            if is_moved:
                rename_spool()
        except BaseException:
            clear_archive(new)
            raise

    copied = asyncio.run(
        copy_index(config, options.source, options.target, is_moved=is_moved, along=along)
    )
    if copied and is_moved:
        clear_archive(archive_of(options.source, digests[0]))
    if options.json:
        print_json({"source": options.source, "target": options.target, "keys": copied})
    elif copied:
        done = "renamed" if is_moved else "copied"
        keys = counted(copied, "key")
        print(f"The index {options.source!r} is {done} to {options.target!r} ({keys}).")
    return Exit.FOUND if copied else explain_nothing(f"there is no index {options.source!r}")
