"""Makes a page the one that stands for its cluster; the one that stood there becomes its copy.

That is a check of the page, for which its text is needed: as the archive has it (DEDUP_ARCHIVE), as
--text gives it, or fetched now with --fetch. The other members of the cluster are compared with the
page when they come again. The number of the cluster before leads to the new one. A page that is to
be dropped (`override`) stays a copy.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_table
from . import Exit, ask_index, nothing_found, unseen

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Make a page the one that stands for its cluster"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("url", metavar="URL", help="address of the page, as it was crawled")
    parser.add_argument("--text", metavar="FILE", help="the page's text or HTML; - reads it")
    parser.add_argument("--fetch", action="store_true", help="fetch the page now")
    parser.add_argument("--json", action="store_true", help="print JSON; null if never seen")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Check the page as preferred and print what that changed."""
    from ...dedup.verdict import Kind
    from ...extractor import extractor
    from ..documents import read_page, web_address

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
            extract = extractor(index.config)
            text, _ = read_page(source, extract, user_agent=settings["USER_AGENT"])
            verdict = await index.check(options.url, text, preferred=True)
        else:
            text = _archived(options.url, settings, index.digest, is_gone=before.gone is not None)
            verdict = await index.prefer(options.url, text)
        after = {"kind": str(verdict.standing), "replaces": verdict.replaces}
        return facts | after | {"cluster": verdict.cluster}

    found = ask_index(settings, prefer)
    if options.json:
        print_json(found)
    elif found:
        print_table("", ["field", "value"], list(found.items()))
    if found:
        return Exit.FOUND
    return nothing_found(settings, unseen(options.url))


def _archived(url: str, settings: Mapping[str, Any], digest: str, *, is_gone: bool) -> str:
    """The page's main text in the archive. Raises :class:`InputError` if it is not there."""
    from ...dedup.archive.pages import Archive
    from ...dedup.errors import InputError
    from ...project import project_config

    if is_gone:
        raise InputError(f"{url!r} is gone; --fetch sees whether it is back")
    config = project_config(settings)
    with Archive.of(config, digest) as archive:
        try:
            return archive.whole_text(url)
        except InputError as error:
            raise InputError(f"{error}; --fetch or --text gives it") from None
