"""The clusters of the index, one of them, or those of the documents of a file.

Without an argument the kept pages that stand for others are listed with these, by size. ID, the
number that `show` calls `cluster` and that is never given to another, or the URL of a page lists
one cluster, with when its pages were first and last seen. --story 0.5 groups
kept pages that are less similar than the threshold, as articles on one story are; nothing is
dropped for it. Long pages, and pairs that share no band, are not found that way: the figures below
the list say how many.

FILE holds one JSON object a line, as `scrapy crawl … -O pages.jsonl` writes it, also compressed by
gzip or zstd; `-` is standard input. Every document of a cluster is similar to its representative,
the first that came; none joins for being similar to another member only, so that unlike documents
never chain together.
--csv and --json list all documents, each cluster's representative first, the largest clusters
first; --json prints one JSON object a line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...wording import round_down, similarity_in_words
from ..index_clusters import (
    CLUSTERS,
    MEMBERS,
    print_cluster,
    print_clusters,
    print_stories,
    rows_of,
)
from ..output import is_terminal, now_and_then, print_json, print_table, progress_reporter
from ..strict_arguments import make_integer_type, make_number_type, output_file
from ..subcommands import Exit, ask_index, explain_nothing, nothing_found

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...dedup.analysis.clustering import Cluster, Pair
    from ...dedup.sketches.similarity import Estimate
    from ..collection import Listed

HELP = "Clusters of the index, or of similar documents in a file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="ID|URL|FILE.jsonl",
        nargs="?",
        help="a cluster, a page in it, or a file of documents",
    )
    parser.add_argument(
        "--min-size",
        type=make_integer_type(2, 10**9),
        metavar="N",
        help="only clusters of at least N pages",
    )
    parser.add_argument(
        "--story",
        type=make_number_type(0, 1, above=True),
        metavar="SIMILARITY",
        help="group kept pages of the index by a lower similarity, as 0.5",
    )
    parser.add_argument(
        "--threshold",
        type=make_number_type(0, 1, above=True),
        help="similarity to the representative (default: DEDUP_THRESHOLD)",
    )
    parser.add_argument(
        "--id-field", metavar="NAME", help="what names a document (default: DEDUP_URL_FIELD or id)"
    )
    parser.add_argument("--text-field", metavar="NAME", help="(default: DEDUP_TEXT_FIELD)")
    parser.add_argument(
        "--html-field",
        metavar="NAME",
        help="read where the text is not filled (default: DEDUP_HTML_FIELD)",
    )
    parser.add_argument(
        "--pairs", action="store_true", help="list all similar pairs instead of clusters"
    )
    parser.add_argument("--csv", type=output_file, metavar="OUT", help="write the list as CSV, too")
    parser.add_argument("--json", action="store_true", help="print the list as JSON lines")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the clusters of the index, or read, group and print the collection."""
    from ...dedup.errors import InputError
    from ..documents import is_web_address

    source = options.file
    is_cluster = source is not None and source != "-" and not Path(source).exists()
    is_cluster = is_cluster and (_is_number(source) or is_web_address(source))
    if source is None or is_cluster:
        for name in ("threshold", "id_field", "text_field", "html_field", "pairs"):
            if getattr(options, name):
                raise InputError(f"--{name.replace('_', '-')} needs a FILE.jsonl")
    if source is None:
        return _run_index(options, settings)
    if options.story is not None:
        raise InputError("--story groups the pages of the index: name nothing else")
    if is_cluster:
        for name in ("min_size", "csv"):
            if getattr(options, name):
                raise InputError(f"--{name.replace('_', '-')} lists several clusters")
        return _run_cluster(options, settings)
    return _run_file(options, settings)


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 11


def _run_cluster(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    from ...dedup.inspection import read_cluster

    name = options.file
    which = int(name) if _is_number(name) else name
    found = ask_index(
        settings, lambda index: read_cluster(index, which, progress=progress_reporter())
    )
    if options.json:
        print_json(found.to_dict() if found else None)
    elif found:
        print_cluster(found)
    if found:
        return Exit.FOUND
    return nothing_found(settings, f"there is no cluster {name!r}")


def _run_index(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    from ...dedup.inspection import read_clusters, read_stories

    progress, least = progress_reporter(), options.min_size or 2
    if options.story is None:
        clusters = ask_index(
            settings, lambda index: read_clusters(index, min_size=least, progress=progress)
        )
    else:
        stories = ask_index(
            settings, lambda index: read_stories(index, options.story, progress=progress)
        )
        clusters = [one for one in stories.stories if len(one.members) >= least]
    if options.json or options.csv:
        _write_rows(rows_of(clusters), options)
    if not options.json:
        if options.story is not None and stories.pages + stories.too_short:
            print_stories(replace(stories, stories=clusters))
        elif options.story is None and clusters:
            print_clusters(clusters, "Clusters")
    if clusters:
        return Exit.FOUND
    what = "clusters" if options.story is None else "stories"
    return nothing_found(settings, f"the index holds no {what} of {least} pages")


def _run_file(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    from ...dedup.analysis.clustering import cluster_texts, similar_pairs
    from ...dedup.candidates import Rule
    from ...dedup.fingerprint import Fingerprinter
    from ...dedup.scopes import scope_of
    from ...extractor import load_extractor
    from ...project import project_config
    from ..collection import Fields, read_collection

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
    names, fingerprints = [], []
    for one in _report_progress(read_collection(options.file, fields, load_extractor(config))):
        names.append(one.name)
        scope = scope_of(config, config.identity(one.name), one.scope)
        fingerprints.append(fingerprint.scoped(fingerprint(one.text), scope))
    if not names:
        return explain_nothing(f"no document in {options.file!r}")
    threshold, bits = config.threshold, config.sketch_bits
    rule = Rule.of(config.make_method())
    if options.pairs:
        pairs = similar_pairs(fingerprints, threshold=threshold, bits=bits, rule=rule)
        if _write_rows(_pair_rows(pairs, names), options):
            return Exit.FOUND
        return explain_nothing(f"no two documents in {options.file!r} are similar")
    found = cluster_texts(fingerprints, threshold=threshold, bits=bits, rule=rule)
    found.sort(key=lambda one: (-len(one.members), one.representative))
    least = options.min_size or 2
    if options.json or options.csv:
        listed = [one for one in found if len(one.members) + 1 >= (options.min_size or 1)]
        _write_rows(_cluster_rows(listed, names), options)
    if not options.json:
        _print_clusters(found, names, least)
    if len(found[0].members) + 1 >= least:
        return Exit.FOUND
    return explain_nothing(f"{options.file!r} holds no clusters of {least} documents")


def _report_progress(documents: Iterable[Listed]) -> Iterator[Listed]:
    """The documents; every few seconds a line on standard error tells how many there were."""
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


def _write_rows(rows: Iterable[dict[str, Any]], options: argparse.Namespace) -> int:
    """Write rows as CSV and as JSON lines, as asked for; else print them as a table.

    The number of rows is returned.
    """
    import csv
    import json
    from contextlib import nullcontext

    from ...dedup.errors import InputError

    shown, written = [], 0
    try:
        # Lone surrogates, which JSON can hold, have no place in UTF-8.
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
        if isinstance(error, BrokenPipeError) or not options.csv:  # of the standard output
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
        ["documents that repeat another", len(names) - len(clusters)],
    ]
    print_table("", ["fact", "value"], facts)
