"""Lists, adds, forbids and removes rules about parts of a site's URLs that make no difference.

Crawls learn such rules from pages (DEDUP_LEARN_URLS); the list shows their evidence. FEATURE is
`?NAME` for an argument of the query, `;NAME` for one of the path, or `session`, `volatile`, `view`,
`prefix`, `index`, `slash`, `slashes`, `repeats`, `scheme` or `www`. SITE is a host, with its port
if it has one, without `www.`.

`add` makes a rule without evidence, which no page revokes. `forbid` keeps crawls from learning one.
`remove` undoes either, and what a crawl has learnt. Crawls that begin later follow the change.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ..output import print_json, print_table
from ..strict_arguments import one_of
from ..subcommands import Exit, ask_index, nothing_found

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

HELP = "Parts of URLs that make no difference"

_STATES = {"add": "added", "forbid": "forbidden", "remove": None}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        type=one_of(tuple(_STATES)),
        metavar="|".join(_STATES),
        help="what to do (default: list the rules)",
    )
    parser.add_argument(
        "site", nargs="?", metavar="SITE", help="such as example.com, or a URL of it"
    )
    parser.add_argument("feature", nargs="?", metavar="FEATURE", help="such as '?sid'")
    parser.add_argument("--json", action="store_true", help="print JSON: site to feature to rule")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """List or change rules; exit code 1 if there are none to list, or none to remove."""
    from ...dedup.errors import InputError
    from ...dedup.urls.parts import FEATURES

    if options.action and not (options.site and options.feature):
        raise InputError(f"name a site and a feature, as: {options.action} example.com '?sid'")
    name = options.feature
    if name and name not in FEATURES and not (name[0] in "?;" and len(name) > 1):
        names = ", ".join(sorted(FEATURES))
        raise InputError(f"{name!r} is not a feature of URLs: ?NAME, ;NAME, {names}")
    found = ask_index(settings, partial(_change, options))
    if found is None:
        return nothing_found(settings, f"{options.site} has no rule {name!r} to remove")
    if options.json:
        print_json(found)
    elif found:
        rows = [
            [site, name, str(rule.get("state", "")), rule.get("pages", ""), rule.get("values", "")]
            for site, rules in found.items()
            for name, rule in rules.items()
        ]
        print_table("", ["site", "feature", "state", "pages", "values"], rows)
    if options.action or any(found.values()):
        return Exit.FOUND
    return nothing_found(settings, "no crawl has learnt a rule, and nobody has added one")


async def _change(
    options: argparse.Namespace, index: DuplicateIndex
) -> dict[str, dict[str, dict[str, Any]]] | None:
    """Change a rule if asked to; return the rules of all sites, or of one, by site.

    None if there is no rule to remove.
    """
    from ...dedup.urls.parts import read_site

    site = options.site and (read_site(options.site) or options.site.lower().removeprefix("www."))
    if options.action == "remove" and options.feature not in await index.url_rules(site):
        return None
    if options.action:
        state = _STATES[options.action]
        rule = {"state": state} if state is not None else None
        await index.note_url_rule(site, options.feature, rule, by_person=True)
    found = await index.store.all_url_rules()
    shown = {site: found.get(site, {})} if site else dict(sorted(found.items()))
    return {name: dict(sorted(rules.items())) for name, rules in shown.items()}
