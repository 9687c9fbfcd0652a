"""`scrapy dedup override URL prefer`: a page takes the place of its original."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .output import print_json, print_table
from .subcommands import Exit, ask_index, describe_unseen, nothing_found

if TYPE_CHECKING:
    from ..dedup.index import DuplicateIndex


def prefer_page(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Check the page as preferred, and print what that changed."""
    from ..dedup.verdict import Kind
    from ..extractor import load_extractor
    from .documents import read_page, web_address

    async def prefer(index: DuplicateIndex) -> dict[str, Any] | None:
        before = await index.show(options.url)
        if before is None:
            return None
        facts: dict[str, Any] = {
            "url": before.url,
            "kind_before": str(before.kind),
            "kind": str(before.kind),
            "copied": before.duplicate_of,
        }
        facts |= {"replaces": None, "cluster_before": before.cluster, "cluster": before.cluster}
        if before.kind not in (Kind.EXACT, Kind.NEAR) and before.gone is None:
            return facts  # it stands there already
        if options.text is not None or options.fetch:
            source = web_address(options.url) if options.text is None else options.text
            extract = load_extractor(index.config)
            text, _ = read_page(source, extract, user_agent=settings["USER_AGENT"])
            verdict = await index.check(before.url, text, preferred=True, scope=options.scope)
        else:
            text = _read_archived(
                options.url, settings, index.digest, is_gone=before.gone is not None
            )
            verdict = await index.prefer(options.url, text, scope=options.scope)
        after = {"kind": str(verdict.standing), "replaces": verdict.replaces}
        return facts | after | {"cluster": verdict.cluster}

    found = ask_index(settings, prefer)
    if options.json:
        print_json(found)
    elif found:
        print_table("", ["field", "value"], list(found.items()))
    if found:
        return Exit.FOUND
    return nothing_found(settings, describe_unseen(options.url))


def _read_archived(url: str, settings: Mapping[str, Any], digest: str, *, is_gone: bool) -> str:
    """The page's main text in the archive. Raises :class:`InputError` if it is not there."""
    from ..dedup.archive.archived_pages import Archive
    from ..dedup.errors import InputError
    from ..project import project_config

    if is_gone:
        raise InputError(f"{url!r} is gone; use --fetch to see whether it is back")
    config = project_config(settings)
    with Archive.of(config, digest) as archive:
        try:
            return archive.whole_text(url)
        except InputError as error:
            raise InputError(f"{error}; use --fetch or --text to give it") from None
