"""Checks what the add-on finds in this project, and says how to correct what is wrong.

It checks the versions of Scrapy and Python, the add-on and the pipelines, the reactor, whether the
package is compiled, where it looks for pages, whether what settings name can be loaded, the server
and the index. With --json each check is an object. The exit code is 1 if a check has a remedy.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..output import print_json, print_table
from ..subcommands import Exit

if TYPE_CHECKING:
    from ...dedup.config import DedupConfig

HELP = "Check the add-on in this project, with remedies"

_COMPILE = (
    "install a C compiler and Python's headers (Debian: apt install gcc python3-dev), then install "
    "the package again (in a clone: python hatch_build.py)"
)


class Finding(NamedTuple):
    """A check: what was checked, what was found, and a remedy if something is wrong."""

    what: str
    found: str
    remedy: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the findings; exit code 1 if one has a remedy."""
    from ...project import project_config

    config = project_config(settings)
    findings = [*_of_scrapy(settings), *_of_project(settings, config), _of_index(settings, config)]
    if options.json:
        print_json([finding._asdict() for finding in findings])
    else:
        rows = [(one.what, one.found, one.remedy or "ok") for one in findings]
        print_table("", ["what", "found", "remedy"], rows)
    return Exit.NOTHING if any(finding.remedy for finding in findings) else Exit.FOUND


def _of_scrapy(settings: Mapping[str, Any]) -> Iterator[Finding]:
    import scrapy

    from ...chrome.page.reader import COMPILED

    yield Finding("Scrapy", scrapy.__version__)
    yield Finding("Python", platform.python_version())
    reactor = str(settings.get("TWISTED_REACTOR") or "Twisted's default")
    is_asyncio = "asyncio" in reactor.lower() or not settings.get("TWISTED_REACTOR_ENABLED", True)
    yield Finding(
        "reactor", reactor, "" if is_asyncio else "leave TWISTED_REACTOR at Scrapy's default"
    )
    yield Finding(
        "compiled",
        "yes" if COMPILED else "no: pages take two to three times as long",
        "" if COMPILED else _COMPILE,
    )


def _of_project(settings: Mapping[str, Any], config: DedupConfig) -> Iterator[Finding]:
    from scrapy.utils.misc import load_object

    from ...addon import Addon
    from ...pipelines import DuplicatePipeline

    broken = {}

    def have(name: str, cls: type) -> bool:
        found = []
        for key, place in (settings.get(name) or {}).items():
            try:
                found.append(place is not None and load_object(key))
            except Exception as error:  # a project's module may raise anything
                broken[f"{name} {key!r}"] = str(error) or type(error).__name__
        return any(isinstance(one, type) and issubclass(one, cls) for one in found)

    has_addon = have("ADDONS", Addon)
    has_pipeline = have("ITEM_PIPELINES", DuplicatePipeline)
    for what, error in broken.items():
        yield Finding(
            what, f"cannot be loaded: {error}", "correct it in settings.py, or the module"
        )
    if has_addon:
        yield Finding("add-on", "in ADDONS")
    else:
        path = f"{Addon.__module__.partition('.')[0]}.{Addon.__name__}"
        found = "the pipeline alone" if has_pipeline else "none"
        yield Finding("add-on", found, f'add ADDONS = {{"{path}": 500}} to settings.py')
    if not config.enabled:
        yield Finding("DEDUP_ENABLED", "False: no page is checked", "remove DEDUP_ENABLED")
    names = (config.url_field, config.html_field, config.text_field)
    fields = ", ".join(map(repr, names))
    where = {
        "auto": f"fields {fields}, else the response",
        "item": f"fields {fields}",
        "response": "the response",
    }
    yield Finding("page", f"DEDUP_PAGE={config.page}: {where[config.page]}")
    if config.extractor is not None:
        yield _of_extractor(config)
    yield from _of_spiders(settings)


def _of_extractor(config: DedupConfig) -> Finding:
    from ...dedup.errors import ConfigError
    from ...extractor import load_extractor

    try:
        load_extractor(config)
    except ConfigError as error:
        return Finding("DEDUP_EXTRACTOR", str(config.extractor), str(error))
    return Finding("DEDUP_EXTRACTOR", str(config.extractor))


def _of_spiders(settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Find the spiders that begin in a way that Scrapy ignores from 2.16 on."""
    from scrapy.spiderloader import SpiderLoader

    from ...scrapy_versions import ignores_start_requests

    try:
        loader = SpiderLoader.from_settings(settings)  # type: ignore[arg-type]
    except Exception as error:  # as above
        yield Finding(
            "spiders", f"cannot be loaded: {error or type(error).__name__}", "correct their module"
        )
        return
    silent = [name for name in loader.list() if ignores_start_requests(loader.load(name))]
    if silent:
        yield Finding(
            f"spiders {', '.join(silent)}",
            "begin with start_requests(), which this Scrapy does not call",
            "rename it: async def start(self)",
        )


def _of_index(settings: Mapping[str, Any], config: DedupConfig) -> Finding:
    from ...dedup.errors import DedupError
    from ...dedup.store.server.connect import server_name
    from ...wording import counted
    from ..subcommands import ask_index

    place = server_name(config)

    async def kept(index: Any) -> int:
        return sum(state.get("kept", 0) for state in await index.store.read_states())

    try:
        pages = ask_index(settings, kept)
    except DedupError as error:
        return Finding("index", place, str(error))
    return Finding("index", f"{config.namespace!r}, {place}: {counted(pages, 'kept page')}")
