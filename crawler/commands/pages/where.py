"""Shows where the text of a page is now, or the texts of all pages that are gone from the web.

The text of URL is at the kept page that stands for it. If that is gone, it is at those of its
copies that remain: first those with the same words as URL, of these first the ones on its host,
then the most similar. Along a chain of near-duplicates, the similarity is the least possible. The
exit code is 1 if the index never saw the page, or if no page with its text remains.

Without URL it lists all pages that are gone, each with the first of these places: as a table, as
JSON, or as a redirect map for nginx or Apache, whose first lines explain its use. Pages whose text
is nowhere, or only where --similarity and --to exclude it, are listed as lost; a map leaves them
out. The command reads all records of the index.

Whoever copies a page may become its new URL when it goes. Name the hosts that redirects may lead to
with --to before a web server uses the map.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from ...wording import counted
from ..output import (
    format_similarity,
    make_printable,
    print_json,
    print_notice,
    print_table,
    progress_reporter,
    whole_file,
)
from ..strict_arguments import make_number_type, one_of, output_file
from ..subcommands import (
    Exit,
    ask_index,
    describe_unseen,
    has_pages,
    nothing_found,
    nothing_yet,
    refuse_unknown_host,
)

if TYPE_CHECKING:
    from datetime import datetime

    from ...dedup.index import DuplicateIndex
    from ...dedup.inspection.moved import Whereabouts

HELP = "Where the text of a page, or of all gone pages, is now"

_FORMATS = ("table", "json", "nginx", "apache")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "url", metavar="URL", nargs="?", help="URL of a page, as crawled (default: all gone)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        type=one_of(_FORMATS),
        default="table",
        metavar="NAME",
        help=f"{', '.join(_FORMATS)} (default: table)",
    )
    form.add_argument(
        "--json", dest="format", action="store_const", const="json", help="as --format json"
    )
    parser.add_argument(
        "--similarity",
        type=make_number_type(0, 1),
        default=0.0,
        metavar="S",
        help="only places with at least this similarity (default: all)",
    )
    parser.add_argument(
        "--to",
        action="append",
        metavar="HOST",
        help="only places on this host (with its port, if it has one); can be repeated",
    )
    parser.add_argument(
        "-o", "--output", type=output_file, metavar="FILE", help="write it to a file"
    )


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the places of the page's text, or the list of all gone pages."""
    from ...dedup.errors import InputError

    if options.url is None:
        return _run_all(options, settings)
    of_all = {
        "--format": options.format not in ("table", "json"),
        "--similarity": options.similarity,
        "--to": options.to,
        "-o": options.output,
    }
    for name, is_given in of_all.items():
        if is_given:
            raise InputError(f"{name} is for the list of all pages that are gone: name no URL")
    return _run_page(options, settings)


def _run_page(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    from ...dedup.inspection.moved import find_whereabouts

    found = ask_index(
        settings, lambda index: find_whereabouts(index, options.url, progress=progress_reporter())
    )
    if options.format == "json":
        print_json(found.to_dict() if found else None)
    elif found:
        page = found.to_dict()
        facts = ("url", "kind", "cluster", "first_seen", "last_seen", "gone")
        print_table("", ["field", "value"], [[name, page[name]] for name in facts])
        if found.places:
            columns = ["lives at", "similarity", "from", "to", "first seen", "last seen"]
            rows: list[list[Any]] = [
                [
                    place.url,
                    *map(format_similarity, (place.similarity, place.low, place.high)),
                    _format_day(place.first_seen),
                    _format_day(place.last_seen),
                ]
                for place in found.places
            ]
            print_table("", columns, rows)
    if found and found.places:
        return Exit.FOUND
    gone = f"{options.url!r} is gone, and so is every page with its text"
    return nothing_found(settings, gone if found else describe_unseen(options.url))


def _run_all(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    from ...dedup.inspection.moved import read_moved

    async def ask(index: DuplicateIndex) -> list[Whereabouts]:
        for host in options.to or ():
            await refuse_unknown_host(index, host)
        return await read_moved(
            index,
            similarity=options.similarity,
            hosts=frozenset(options.to) if options.to else None,
            progress=progress_reporter(),
        )

    found = ask_index(settings, ask)
    if options.output is not None and not found and not ask_index(settings, has_pages):
        return nothing_yet(settings)  # an existing map stays
    if options.output is None:
        _print_pages(found, options.format)
    else:
        with whole_file(options.output) as file, redirect_stdout(file):
            _print_pages(found, options.format)
        moved = sum(bool(page.places) for page in found)
        lost = len(found) - moved
        are = "is" if lost == 1 else "are"
        name = make_printable(str(options.output))
        print(f"{counted(moved, 'page')} moved, {lost:,} {are} lost: {name}")
    return Exit.FOUND if found else nothing_found(settings, "no page of the index is gone")


def _print_pages(found: Sequence[Whereabouts], style: str) -> None:
    from ..redirect_maps import apache_map, nginx_map

    moved = [page for page in found if page.places]
    lost = [page for page in found if not page.places]
    if style == "json":
        print_json(
            {
                "moved": [_moved_row(page) for page in moved],
                "lost": [_lost_row(one) for one in lost],
            }
        )
    elif style == "table":
        columns = ["page", "gone since", "lives at", "similarity", "last seen there"]
        rows: list[list[Any]] = [
            [
                page.url,
                _format_day(page.gone),
                page.places[0].url,
                format_similarity(page.places[0].similarity),
                _format_day(page.places[0].last_seen),
            ]
            for page in moved
        ]
        if moved:
            print_table("Moved", columns, rows)
        if lost:
            rows = [
                [page.url, _format_day(page.gone), _format_day(page.last_seen)] for page in lost
            ]
            print_table("Lost", ["lost page", "gone since", "last seen"], rows)
    else:
        made = (nginx_map if style == "nginx" else apache_map)(moved)
        print(made.text, end="")
        if made.left_out:
            have = counted(made.left_out, "moved page has a URL", "moved pages have URLs")
            print_notice(f"{have} that the map cannot hold; --format json has all")


def _format_day(time: datetime | None) -> str | None:
    return time.date().isoformat() if time else None


def _lost_row(page: Whereabouts) -> dict[str, Any]:
    row = page.to_dict()
    return {name: row[name] for name in ("url", "gone", "first_seen", "last_seen")}


def _moved_row(page: Whereabouts) -> dict[str, Any]:
    place = page.places[0].to_dict()
    return {
        **_lost_row(page),
        "to": place["url"],
        **{name: place[name] for name in ("similarity", "low", "high")},
        **{f"to_{name}": place[name] for name in ("first_seen", "last_seen")},
    }
