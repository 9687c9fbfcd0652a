"""Clusters and similar pairs of the documents of a file, for `scrapy dedup clusters FILE`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ..wording import round_down, similarity_in_words
from .index_clusters import CLUSTERS, MEMBERS
from .output import is_terminal, now_and_then, print_notice, print_table
from .subcommands import Exit, explain_nothing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..dedup.analysis.clustering import Cluster, Pair
    from ..dedup.config import DedupConfig
    from ..dedup.sketches.similarity import Estimate
    from .collection import Listed

T = TypeVar("T")


def run_file(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Read, group and print the documents of a file."""
    from ..dedup.analysis.clustering import cluster_texts, similar_pairs
    from ..dedup.analysis.exact_pairs import exact_pairs
    from ..dedup.analysis.tuning import found_share
    from ..dedup.candidates import Rule
    from ..dedup.errors import InputError
    from ..dedup.fingerprint import Fingerprinter
    from ..extractor import load_extractor
    from ..project import project_config
    from .collection import Fields, read_collection

    config = project_config(settings)
    if options.threshold is not None:
        config = replace(config, threshold=options.threshold)
    fields = Fields(
        [options.id_field] if options.id_field else [config.url_field, "id"],
        options.text_field or config.text_field,
        options.html_field or config.html_field,
        config.scope_field,
    )
    fingerprint = Fingerprinter(config, 1 if config.seed is None else config.seed)
    documents = _report_progress(read_collection(options.file, fields, load_extractor(config)))
    if options.exact:
        if not options.pairs:
            raise InputError("--exact needs --pairs: clusters are those of an index")
        names, shingles = _read_all(documents, config, fingerprint.shingles)
        say = now_and_then()
        pairs = exact_pairs(
            shingles,
            config.threshold,
            lambda number: say(f"{number:,} of {len(names):,} documents compared"),
        )
        return _print_pairs(pairs, names, options)
    names, fingerprints = _read_all(
        documents, config, lambda text, scope: fingerprint.scoped(fingerprint(text), scope)
    )
    threshold, bits = config.threshold, config.sketch_bits
    rule = Rule.of(config.make_method())
    if options.pairs:
        pairs = similar_pairs(fingerprints, threshold=threshold, bits=bits, rule=rule)
        code = _print_pairs(pairs, names, options)
        if names and (share := found_share(config, threshold)) is not None:
            print_notice(
                f"the bands find {share:.1%} of pairs at {threshold:g}, and more of those above; "
                "--exact finds all"
            )
        return code
    if not names:
        return _explain_no_document(options)
    found = cluster_texts(fingerprints, threshold=threshold, bits=bits, rule=rule)
    found.sort(key=lambda one: (-len(one.members), one.representative))
    least = options.min_size or 2
    if options.json or options.csv:
        listed = [one for one in found if len(one.members) + 1 >= (options.min_size or 1)]
        write_rows(_cluster_rows(listed, names), options)
    if not options.json:
        _print_clusters(found, names, least)
    if len(found[0].members) + 1 >= least:
        return Exit.FOUND
    return explain_nothing(f"{options.file!r} holds no clusters of {least} documents")


def _read_all(
    documents: Iterable[Listed], config: DedupConfig, compute: Callable[[str, str], T]
) -> tuple[list[str], list[T]]:
    """The names of documents, and the result of `compute` for the text and scope of each."""
    from ..dedup.scopes import scope_of

    names, found = [], []
    for one in documents:
        names.append(one.name)
        scope = scope_of(config, config.identity(one.name), one.scope)
        found.append(compute(one.text, scope))
    return names, found


def _explain_no_document(options: argparse.Namespace) -> Exit:
    return explain_nothing(f"no document in {options.file!r}")


def _print_pairs(pairs: Iterable[Pair], names: list[str], options: argparse.Namespace) -> Exit:
    if not names:
        return _explain_no_document(options)
    if write_rows(_pair_rows(pairs, names), options):
        return Exit.FOUND
    return explain_nothing(f"no two documents in {options.file!r} are similar")


def _report_progress(documents: Iterable[Listed]) -> Iterator[Listed]:
    """Pass documents on, and report their number on standard error every few seconds."""
    say = now_and_then()
    for count, document in enumerate(documents, 1):
        yield document
        say(f"{count:,} documents read")


def _cluster_rows(clusters: list[Cluster], names: list[str]) -> Iterator[dict[str, Any]]:
    for place, one in enumerate(clusters, 1):
        yield {
            "cluster": place,
            "representative": True,
            "id": names[one.representative],
            "similarity": 1.0,
            "low": 1.0,
            "high": 1.0,
        }
        for member, estimate in one.members:
            yield {
                "cluster": place,
                "representative": False,
                "id": names[member],
                **_round_estimate(estimate),
            }


def _round_estimate(estimate: Estimate) -> dict[str, float]:
    return {name: round_down(getattr(estimate, name)) for name in ("similarity", "low", "high")}


def _pair_rows(pairs: Iterable[Pair], names: list[str]) -> Iterator[dict[str, Any]]:
    for first, second, estimate in pairs:
        yield {"first": names[first], "second": names[second], **_round_estimate(estimate)}


def write_rows(rows: Iterable[dict[str, Any]], options: argparse.Namespace) -> int:
    """Write rows as CSV or JSON lines, as asked for, or print them as a table.

    Returns the number of rows.
    """
    import csv
    import json
    from contextlib import nullcontext

    from ..dedup.errors import InputError

    shown, written = [], 0
    try:
        # JSON can hold lone surrogates, which UTF-8 cannot encode.
        with (
            options.csv.open("w", encoding="utf-8", errors="backslashreplace", newline="")
            if options.csv
            else nullcontext()
        ) as file:
            writer = None
            for row in rows:
                written += 1
                if file and writer is None:
                    writer = csv.DictWriter(file, list(row))
                    writer.writeheader()
                if writer:
                    writer.writerow(row)
                if options.json:
                    print(json.dumps(row))
                elif options.pairs:
                    shown.append(list(row.values()))
    except OSError as error:
        if isinstance(error, BrokenPipeError) or not options.csv:  # an error of standard output
            raise
        raise InputError(f"cannot write {str(options.csv)!r}: {error.strerror}") from None
    if options.pairs and not options.json:
        print_table("Similar pairs", ["first", "second", "similarity", "from", "to"], shown)
    return written


def _print_clusters(clusters: list[Cluster], names: list[str], least: int) -> None:
    several = [one for one in clusters if one.members]
    large = [one for one in several if len(one.members) + 1 >= least]
    shown, members = (CLUSTERS, MEMBERS) if is_terminal() else (len(large), len(names))
    rows: list[list[Any]] = []
    for place, one in enumerate(large[:shown], 1):
        rows.append([place, len(one.members) + 1, None, names[one.representative]])
        for member, estimate in one.members[:members]:
            rows.append([place, None, similarity_in_words(estimate.similarity), names[member]])
        if len(one.members) > members:
            rows.append([place, None, None, f"({len(one.members) - members} more)"])
    title = "Clusters"
    if len(large) > shown:
        title += f" ({len(large) - shown} more in --json)"
    if large:
        print_table(title, ["cluster", "documents", "similarity", "document"], rows)
    facts = [
        ["documents", len(names)],
        ["clusters of several", len(several)],
        ["documents alone", len(clusters) - len(several)],
        ["duplicates", len(names) - len(clusters)],
    ]
    print_table("", ["fact", "value"], facts)
