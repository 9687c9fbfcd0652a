"""Records your decision about a page, whatever it resembles.

`keep` keeps the page when it is next seen. `drop` makes it a copy of the most similar page, if one
shares a band with it. `none` removes the override.

`prefer` makes the page the original of its cluster, while its text stays the same; the previous
original becomes its copy. This is a check of the page and needs its text: from the archive
(DEDUP_ARCHIVE), from --text, or fetched now with --fetch. The other members of the cluster are
compared with the page when they are next seen. The old cluster number leads to the new one. A page
with the decision `drop` stays a copy.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_notice, print_table
from ..strict_arguments import one_of
from ..subcommands import Exit, ask_index, describe_unseen, explain_nothing, nothing_found

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Keep, drop or prefer a page, whatever it resembles"

_DECISIONS = ("keep", "drop", "none", "prefer")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", nargs="?", metavar="URL", help="URL of a page, as crawled")
    parser.add_argument(
        "decision",
        nargs="?",
        type=one_of(_DECISIONS),
        metavar="|".join(_DECISIONS),
        help="the decision",
    )
    parser.add_argument("--list", action="store_true", help="list all current overrides")
    parser.add_argument("--text", metavar="FILE", help="with prefer: its text or HTML; - reads it")
    parser.add_argument("--scope", help="with prefer: the scope of the page, see DEDUP_SCOPE")
    parser.add_argument("--fetch", action="store_true", help="with prefer: fetch the page now")
    parser.add_argument(
        "--json",
        action="store_true",
        help="print JSON: URL to decision; of prefer what changed, null if never seen",
    )


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Keep or list decisions; exit code 1 if there is none to list."""
    from ...dedup.errors import InputError

    if options.list == (options.url is not None) or not (options.list or options.decision):
        raise InputError(f"name a page and {', '.join(_DECISIONS)}, or --list alone")
    if options.decision == "prefer":
        return _prefer_page(options, settings)
    if options.text is not None or options.fetch or options.scope is not None:
        raise InputError("--text, --scope and --fetch are for prefer")

    async def decide(index: DuplicateIndex) -> dict[str, str]:
        if options.list:
            return await index.overrides()
        decision = None if options.decision == "none" else options.decision
        await index.override(options.url, decision)
        if decision and await index.show(options.url) is None:
            print_notice(describe_unseen(options.url))
        return {index.config.identity(options.url): options.decision}

    found = ask_index(settings, decide)
    if options.json:
        print_json(found)
    elif found:
        print_table("", ["page", "decision"], sorted(found.items()))
    return Exit.FOUND if found else explain_nothing("there are no overrides")


def _prefer_page(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Check the page as preferred, and print what that changed."""
    from ...dedup.verdict import COPIES
    from ...extractor import load_extractor
    from ..documents import read_document, web_url

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
        if before.kind not in COPIES and before.gone is None:
            return facts  # it stands there already
        if options.text is not None or options.fetch:
            source = web_url(options.url) if options.text is None else options.text
            extract = load_extractor(index.config)
            text = read_document(source, extract, user_agent=settings["USER_AGENT"])
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
    return Exit.FOUND if found else nothing_found(settings, describe_unseen(options.url))


def _read_archived(url: str, settings: Mapping[str, Any], digest: str, *, is_gone: bool) -> str:
    """The page's main text in the archive. Raises :class:`InputError` if it is not there."""
    from ...dedup.archive.archived_pages import Archive
    from ...dedup.errors import InputError
    from ...project import project_config

    if is_gone:
        raise InputError(f"{url!r} is gone; use --fetch to see whether it is back")
    config = project_config(settings)
    with Archive.of(config, digest) as archive:
        try:
            return archive.whole_text(url)
        except InputError as error:
            raise InputError(f"{error}; use --fetch or --text to give it") from None
