"""Lists the clusters of the index, one cluster, or those of the documents of a file.

Without an argument it lists the kept pages that stand for others, with their copies, the largest
clusters first. ID or the URL of a page lists one cluster, with when its pages were first and last
seen. ID is the number that `show` calls `cluster`; no other cluster ever gets it. --story 0.5
groups kept pages that are less similar than the threshold, such as articles on one story. It drops
nothing. It does not find long pages and pairs that share no band: the figures below the list say
how many. --urls prints one line a cluster: `url` of the kept page, `size` and `urls` of all its
pages, for example for a search engine's field `additional_urls`. `url` is empty if no page is kept.

FILE holds one JSON object a line, as `scrapy crawl … -O pages.jsonl` writes it, also compressed by
gzip or zstd; `-` is standard input. Every document is similar to the representative of its cluster,
the first that came. It is not enough to resemble another member, so unlike documents never
chain together.

--csv and --json list all documents, the largest clusters first, and in each its representative
first. --json prints one JSON object a line. --pairs lists the similar pairs that the bands find,
with --exact all of them, by the Jaccard coefficient of all shingles, whatever the method.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..file_clusters import run_file, write_rows
from ..index_clusters import (
    is_cluster_number,
    print_cluster,
    print_clusters,
    print_stories,
    print_urls,
    rows_of,
)
from ..output import print_json, progress_reporter
from ..strict_arguments import add_threshold, make_integer_type, make_number_type, output_file
from ..subcommands import Exit, ask_index, nothing_found

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
        help="group kept pages of the index by a lower similarity, such as 0.5",
    )
    add_threshold(parser, "similarity to the representative")
    parser.add_argument(
        "--id-field",
        metavar="NAME",
        help="field that names a document (default: DEDUP_URL_FIELD or id)",
    )
    parser.add_argument("--text-field", metavar="NAME", help="(default: DEDUP_TEXT_FIELD)")
    parser.add_argument(
        "--html-field",
        metavar="NAME",
        help="field that is read if the text is empty (default: DEDUP_HTML_FIELD)",
    )
    parser.add_argument(
        "--pairs", action="store_true", help="list all similar pairs instead of clusters"
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="with --pairs: all of them, by the exact Jaccard coefficient of all shingles",
    )
    parser.add_argument(
        "--urls", action="store_true", help="one line a cluster of the index, with all its URLs"
    )
    parser.add_argument("--csv", type=output_file, metavar="OUT", help="write the list as CSV, too")
    parser.add_argument("--json", action="store_true", help="print the list as JSON lines")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the clusters of the index, or read, group and print the collection."""
    from ...dedup.errors import InputError
    from ..documents import is_web_url

    source = options.file
    is_cluster = source is not None and (
        is_web_url(source) or (is_cluster_number(source) and not Path(source).exists())
    )
    if source is None or is_cluster:
        for name in ("threshold", "id_field", "text_field", "html_field", "pairs", "exact"):
            if getattr(options, name):
                raise InputError(f"--{name.replace('_', '-')} needs a FILE.jsonl")
    if options.urls and options.csv:
        raise InputError("--urls has no --csv: write its lines with --json")
    if source is None:
        return _run_index(options, settings)
    if options.story is not None:
        raise InputError("--story groups the pages of the index: name nothing else")
    if is_cluster:
        for name in ("min_size", "csv"):
            if getattr(options, name):
                raise InputError(f"--{name.replace('_', '-')} lists several clusters")
        return _run_cluster(options, settings)
    if options.urls:
        raise InputError("--urls lists clusters of the index: name no file")
    return run_file(options, settings)


def _run_cluster(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    from ...dedup.inspection import read_cluster

    name = options.file
    which = int(name) if is_cluster_number(name) else name
    found = ask_index(
        settings, lambda index: read_cluster(index, which, progress=progress_reporter())
    )
    if options.urls:
        print_urls([found] if found else [], options)
    elif options.json:
        print_json(found.to_dict() if found else None)
    elif found:
        print_cluster(found)
    return Exit.FOUND if found else nothing_found(settings, f"there is no cluster {name!r}")


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
    if options.urls:
        print_urls(clusters, options)
    elif options.json or options.csv:
        write_rows(rows_of(clusters), options)
    if not options.json and not options.urls:
        if options.story is not None and stories.pages + stories.too_short:
            print_stories(replace(stories, stories=clusters))
        elif options.story is None and clusters:
            print_clusters(clusters, "Clusters")
    if clusters:
        return Exit.FOUND
    what = "clusters" if options.story is None else "stories"
    return nothing_found(settings, f"the index holds no {what} of {least} pages")
