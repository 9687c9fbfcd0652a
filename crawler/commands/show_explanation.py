"""`scrapy dedup show --why`: why a page was decided as it was."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..wording import round_down
from .changes import change_dicts, print_changes
from .output import format_similarity, make_printable, print_json, print_table
from .subcommands import Exit, ask_index, describe_unseen, nothing_found

if TYPE_CHECKING:
    from ..dedup.analysis.comparison import Comparison
    from ..dedup.config import DedupConfig
    from ..dedup.index import DuplicateIndex
    from ..dedup.inspection import Explanation, Neighbour

_MOST_CUT = 1000  # blocks
_CUT = 10  # of them that a table shows; JSON has all
_CUT_WIDTH = 70  # characters of each
_KEPT_NO_MORE = "a page that is no longer kept"  # forgotten, a copy itself, or has another text


class _Source(NamedTuple):
    """A page's main text, the blocks cut from it (text and reason), where both are from, and
    whether the text is all or the beginning of a longer one.
    """

    text: str
    cut: list[tuple[str, str]]
    origin: str
    is_whole: bool = True


def explain_page(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print all that the index knows about a page; exit code 1 if that is nothing."""
    from ..dedup.inspection import explain_decision
    from ..project import project_config

    config = project_config(settings)
    agent = settings["USER_AGENT"] if options.fetch else None

    async def ask(index: DuplicateIndex) -> tuple[Explanation, _Source | None, str]:
        source = _find_source(options.url, options.text, agent, config, index.digest)
        text = source.text if source else None
        found = await explain_decision(index, options.url, text, scope=options.scope)
        return found, source, index.digest

    found, page, digest = ask_index(settings, ask)
    comparison = None
    if page and found.original:
        original = _find_source(found.original.url, None, agent, config, digest)
        if original:
            from ..dedup.analysis.comparison import compare_texts

            whole = original.is_whole, page.is_whole
            comparison = compare_texts(original.text, page.text, config, whole=whole)
    if options.json:
        print_json(_to_dict(found, page, comparison))
    else:
        is_sought = config.containment is not None
        _print_explanation(found, page, comparison, is_sought=is_sought)
    if found.page or found.nearest or any(found.shares or ()):
        return Exit.FOUND
    return nothing_found(settings, describe_unseen(options.url))


def _find_source(
    url: str, given: str | None, agent: str | None, config: DedupConfig, digest: str
) -> _Source | None:
    """The text of a page: as `given`, from the archive, or with an `agent` fetched now."""
    from ..extractor import load_extractor, text_of
    from .documents import archived_page, read_main, web_url

    if given is None:
        if found := archived_page(url, config, digest):
            stored, origin = found
            cut = [(block.text, block.reason) for block in stored.cut]
            return _Source(stored.text, cut, origin, stored.is_whole)
        if agent is None:
            return None
    source = web_url(url) if given is None else given
    main = read_main(source, load_extractor(config), user_agent=agent)
    cut = [] if isinstance(main, str) else main.cut(_MOST_CUT)
    return _Source(text_of(main), cut, "fetched now" if given is None else "given")


def _print_explanation(
    found: Explanation, page: _Source | None, comparison: Comparison | None, *, is_sought: bool
) -> None:
    """Print facts and tables; `is_sought` says that containment is looked for, by the text."""
    facts: list[list[Any]] = [["url", found.url]]
    if found.page is None:
        facts.append(["kind", "never seen"])
    else:
        facts += [
            ["kind", found.page.kind],
            ["because", _describe_reason(found)],
            ["cluster", found.page.cluster],
            ["first seen", found.page.first_seen.isoformat(timespec="seconds")],
            ["last seen", found.page.last_seen.isoformat(timespec="seconds")],
            ["words", found.page.words],
        ]
        if found.page.gone:
            facts.append(["gone from the web", found.page.gone.isoformat(timespec="seconds")])
    if found.override:
        facts.append(["override", found.override])
    if found.by_text:
        facts.append(["shared bands", f"{found.by_text.shared_bands} of {found.by_text.bands}"])
    if comparison:
        texts = "the two texts" if all(comparison.whole) else "what is archived of the two texts"
        facts.append([f"Jaccard of {texts}", format_similarity(comparison.jaccard)])
    if page:
        facts.append(["text", page.origin])
        facts.append(["blocks cut as chrome", len(page.cut)])
    elif found.page is None or found.original or is_sought:
        facts.append(["text", "not in the archive; --fetch or --text gives it"])
    print_table("", ["fact", "value"], facts)
    if found.nearest:
        rows: list[list[Any]] = [
            [
                *map(format_similarity, _interval_of(one)),
                f"{one.shared_bands} of {one.bands}",
                one.page.url,
            ]
            for one in found.nearest
        ]
        columns = ["similarity", "from", "to", "shared bands", "page"]
        print_table("Nearest kept pages", columns, rows)
    _print_shares(found)
    if page and page.cut:
        rows = [[reason, _cut_text(text)] for text, reason in page.cut[:_CUT]]
        more = f" ({len(page.cut) - _CUT} more in --json)" if len(page.cut) > _CUT else ""
        print_table(f"Cut as chrome{more}", ["why", "text"], rows)
    if comparison and found.original:
        if comparison.changes == []:
            return  # the same words
        print(f"From {make_printable(found.original.url)} to this page:")
        print_changes(comparison.changes)


def _print_shares(found: Explanation) -> None:
    """Print which pages contain the page, and which it contains, if any."""
    if found.shares is None:
        return
    rows = [
        [format_similarity(one.share), name, one.url]
        for name, some in found.shares._asdict().items()
        for one in some
    ]
    if rows:
        print_table("Pages that it contains, or that contain it", ["share", "kind", "page"], rows)


def _describe_reason(found: Explanation) -> str:
    """The decision in a sentence."""
    page = found.page
    assert page is not None
    if page.kind == "exact":
        return f"the same words as {page.duplicate_of or _KEPT_NO_MORE}"
    if page.kind == "near":
        original = page.duplicate_of or _KEPT_NO_MORE
        return (
            f"{format_similarity(page.similarity)} similar ({format_similarity(page.low)} to "
            f"{format_similarity(page.high)}) to {original}"
        )
    if found.override == "keep":
        return "an override keeps it"
    if page.kind == "short":
        return "too short for a shingle, and no exact copy known"
    return "no other kept page is as similar as the threshold"


def _interval_of(one: Neighbour) -> tuple[float | None, float | None, float | None]:
    found = one.estimate
    return (found.similarity, found.low, found.high) if found else (None, None, None)


def _cut_text(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _CUT_WIDTH else f"{text[: _CUT_WIDTH - 1]}…"


def _shares_dict(found: Explanation) -> dict[str, Any]:
    shares = found.shares._asdict() if found.shares else {}
    return {
        name: [one.to_dict() | {"share": round_down(one.share)} for one in some]
        for name, some in shares.items()
    }


def _to_dict(
    found: Explanation, page: _Source | None, comparison: Comparison | None
) -> dict[str, Any]:
    by_text = found.by_text
    return {
        "url": found.url,
        "page": found.page.to_dict() if found.page else None,
        "override": found.override,
        "bands_met": by_text.shared_bands if by_text else None,
        "bands": by_text.bands if by_text else None,
        "jaccard": comparison.jaccard if comparison else None,
        "changes": change_dicts(comparison.changes) if comparison else None,
        "whole": comparison.whole if comparison else None,
        "text_from": page.origin if page else None,
        "cut": [{"text": text, "reason": reason} for text, reason in page.cut] if page else None,
        "nearest": [one.to_dict() for one in found.nearest],
        **_shares_dict(found),
    }
