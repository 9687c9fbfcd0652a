"""Shows how alike two documents are, the verdict of an index on the second, and where they differ.

A and B are text or HTML files, whose main text is taken, `-` for standard input, or http(s) URLs.
The main text of a URL comes from the archive (DEDUP_ARCHIVE), or is fetched now (at most 50 MB, 30
seconds). The archive's texts lack the site's template, with which an index compares for `exact`:
a page that is near at 1.0 there may be exact here. Shingles, sketches and threshold come from the
settings.

Lines are compared as by diff. For lines and smallest shingles, common parts count on both sides
(Dice), for Jaccard once. With --correct and a phonetic code, "hybrid" is the measure of the DSound
paper: A as written, and B with its unknown words corrected where it does not match A. Beside it is
the Jaccard of both as written, as in the paper's Table II.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...wording import percent_similar, threshold_in_percent
from ..changes import change_dicts, print_changes
from ..output import print_json, print_table
from ..strict_arguments import add_threshold, make_integer_type, make_number_type
from ..subcommands import Exit

if TYPE_CHECKING:
    from ...dedup.analysis.comparison import Comparison
    from ...dedup.config import DedupConfig
    from ...dedup.sketches.similarity import Estimate

HELP = "How similar two documents are, and where they differ"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="the known document")
    parser.add_argument("b", metavar="B", help="the new document")
    parser.add_argument(
        "--unit", choices=["word", "char"], help="unit of shingles (default: DEDUP_SHINGLE_UNIT)"
    )
    parser.add_argument(
        "--size",
        type=make_integer_type(1, 100),
        metavar="N",
        help="units in a shingle (default: DEDUP_SHINGLE_SIZE)",
    )
    parser.add_argument(
        "--step",
        type=make_integer_type(1, 100),
        metavar="N",
        help="units from one shingle to the next (default: DEDUP_SHINGLE_STEP)",
    )
    parser.add_argument(
        "--smallest",
        type=make_integer_type(1, 10**9),
        metavar="N",
        default=10,
        help="smallest shingles of each to compare (default: 10)",
    )
    add_threshold(parser, "similarity from which B is a near-duplicate")
    parser.add_argument(
        "--level",
        type=make_number_type(0.5, 0.9999),
        metavar="P",
        default=0.95,
        help="confidence level of the intervals of estimates, 0.5 to 0.9999 (default: 0.95)",
    )
    parser.add_argument(
        "--raw", action="store_true", help="take HTML as text, with its tags; fetch URLs"
    )
    parser.add_argument(
        "--correct",
        metavar="NAME",
        help="correct typos first: typos, scans, dsound, … (default: DEDUP_CORRECT)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the measures and the differences."""
    from dataclasses import replace

    from ...dedup.analysis.comparison import compare_texts
    from ...dedup.errors import InputError
    from ...project import project_config
    from ..documents import find_document

    asked = {
        "shingle_unit": options.unit,
        "shingle_size": options.size,
        "shingle_step": options.step,
        "threshold": options.threshold,
        "correct": options.correct,
    }
    config = replace(
        project_config(settings), **{name: value for name, value in asked.items() if value}
    )
    if options.a == options.b == "-":
        raise InputError("only one of the two documents can be standard input")
    a, b = (
        find_document(source, config, raw=options.raw, user_agent=settings["USER_AGENT"])
        for source in (options.a, options.b)
    )
    found = compare_texts(
        a.text,
        b.text,
        config,
        smallest=options.smallest,
        confidence=options.level,
        whole=(a.is_whole, b.is_whole),
    )
    uncorrected = None
    if config.correct is not None:
        uncorrected = compare_texts(a.text, b.text, replace(config, correct=None)).jaccard
    if options.json:
        facts = {"a_from": a.origin, "b_from": b.origin, "uncorrected": uncorrected}
        print_json(_to_dict(options, config, found) | facts)
    else:
        _print_comparison(options, config, found, (a.origin, b.origin), uncorrected)
        if found.changes == [] and a.text.split() != b.text.split():
            print(f"What differs is ignored: {', '.join(sorted(config.ignore))} (DEDUP_IGNORE).")
    return Exit.FOUND


def _print_comparison(
    options: argparse.Namespace,
    config: DedupConfig,
    found: Comparison,
    origins: tuple[str, str],
    uncorrected: float | None,
) -> None:
    documents = zip("AB", (options.a, options.b), origins, found.words, found.shingles, strict=True)
    rows: list[list[Any]] = [list(document) for document in documents]
    print_table("", ["", "document", "text from", "words", "shingles"], rows)

    cut = [name for name, whole in zip("AB", found.whole, strict=True) if not whole]
    part = ("", f", of the beginning of {''.join(cut)}", ", of their beginnings")[len(cut)]
    lines, smallest = found.lines, found.smallest
    rows = [
        [
            "lines",
            lines and _format_percent(lines.similarity),
            None,
            None,
            lines and _describe_overlap(lines),
        ],
        [
            f"{options.smallest} smallest shingles",
            _format_percent(smallest.similarity),
            None,
            None,
            _describe_overlap(smallest),
        ],
        *(
            [["Jaccard, uncorrected", _format_percent(uncorrected), None, None, f"exact{part}"]]
            if uncorrected is not None
            else []
        ),
        ["Jaccard", _format_percent(found.jaccard), None, None, f"exact, of all shingles{part}"],
        ["containment of A in B", _format_percent(found.a_in_b), None, None, f"exact{part}"],
        ["containment of B in A", _format_percent(found.b_in_a), None, None, f"exact{part}"],
        *(
            [
                [
                    "hybrid",
                    _format_percent(found.hybrid),
                    None,
                    None,
                    "exact, B corrected where A differs",
                ]
            ]
            if found.hybrid is not None
            else []
        ),
        [f"{config.method} sketch", *_format_interval(found.sketch), _describe_source(config)],
        [
            "simhash" if config.method == "two-stage" else "odd sketch",
            *_verification_cells(config, found),
        ],
    ]
    print_table("Similarity", ["measure", "similarity", "from", "to", "what it is"], rows)
    rows = [
        ["verdict on B", f"{found.verdict}{part}"],
        ["threshold", f"{threshold_in_percent(config.threshold, 2)}%"],
        ["confidence level", f"{threshold_in_percent(options.level, 2)}%"],
        ["found by an index with A", _format_percent(found.found)],
    ]
    if cut:
        rows.append(["compared", f"of {' and '.join(cut)} the beginning, all that is archived"])
    print_table("", ["fact", "value"], rows)
    print_changes(found.changes)


def _verification_cells(config: DedupConfig, found: Comparison) -> tuple[str | None, ...]:
    if found.odd is None:
        return None, None, None, "lengths too far apart"
    source = f"estimate from {config.sketch_bits} bits"
    if found.odd.similarity < found.odd_floor:
        return None, None, None, f"{source}, which cannot tell below {found.odd_floor:.0%}"
    return *_format_interval(found.odd), source


def _describe_source(config: DedupConfig) -> str:
    unit = "bits" if config.method in ("simhash", "two-stage") else "values"
    return f"estimate from {config.values} {unit}"


def _format_percent(share: float) -> str:
    return f"{percent_similar(share, 2)}%"


def _describe_overlap(overlap: Any) -> str:
    return f"{overlap.intersection} of {overlap.union} in common"


def _format_interval(estimate: Estimate) -> tuple[str, str, str]:
    return (
        _format_percent(estimate.similarity),
        _format_percent(estimate.low),
        _format_percent(estimate.high),
    )


def _to_dict(options: argparse.Namespace, config: DedupConfig, found: Comparison) -> dict[str, Any]:
    from dataclasses import asdict

    def overlap(one: Any) -> dict[str, Any]:
        return {**one._asdict(), "similarity": one.similarity}

    return {
        **asdict(found),
        "a": options.a,
        "b": options.b,
        "threshold": config.threshold,
        "level": options.level,
        "lines": found.lines and overlap(found.lines),
        "smallest": overlap(found.smallest),
        "changes": change_dicts(found.changes),
    }
