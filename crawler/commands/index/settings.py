"""Lists every setting of the filter: its value in this project, its default and its meaning.

A terminal shows the default only where the value is another, so that the meaning has room.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final

from ..output import is_terminal, print_json, print_table
from ..subcommands import Exit

# The reference's sections, each with the names of its settings without "DEDUP_". A last section has
# all other settings.
_SECTIONS: Final = {
    "Where the index is": "REDIS_URL NAMESPACE DATA_DIR TIMEOUT ON_ERROR SHARDS",
    "Where an item's page is": (
        "PAGE URL_FIELD HTML_FIELD TEXT_FIELD TITLE_FIELD DATE_FIELD CANONICAL_FIELD EXTRACTOR "
        "TEMPLATES CANONICAL_URLS FILES"
    ),
    "What is dropped, kept and tagged": (
        "ENABLED DROP CONTAINMENT SCOPE PREFER TAG_FIELD TAG ON_UNCHECKED THRESHOLD ARCHIVE"
    ),
    "Recrawls": "CRAWL TTL RESET ASK_AGAIN ON_INTERRUPT",
    "Requests that are spared": "LEARN_URLS COPY_DEPTH FRUITLESS",
    "How texts are compared": (
        "IGNORE SEGMENT CORRECT SHINGLE_UNIT SHINGLE_SIZE SHINGLE_STEP SHINGLE_REPEATS"
    ),
    "How copies are found": "METHOD METHOD_OPTIONS NUM_HASHES BANDS ROWS VERIFY_BITS SEED",
}

HELP = "All settings, their values and meanings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print the reference of all defaults")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the settings; an invalid setting is an error that names it."""
    from ...dedup.config import DedupConfig
    from ...dedup.parsing import setting_name

    config, defaults = DedupConfig.from_settings(settings), DedupConfig()
    rows = [
        (
            setting_name(item),
            _plain_value(getattr(config, item.name))
            if item.repr
            else _mask_value(getattr(config, item.name)),
            _plain_value(getattr(defaults, item.name)),
            item.metadata["doc"],
        )
        for item in fields(DedupConfig)
    ]
    if options.json:
        print_json({name: {"value": v, "default": d, "doc": doc} for name, v, d, doc in rows})
    elif options.markdown:
        _print_reference({name: (default, doc) for name, _, default, doc in rows})
    elif is_terminal():
        shown = [(name, _show_value(value, default), doc) for name, value, default, doc in rows]
        print_table("", ["setting", "value", "meaning"], shown)
    else:
        print_table("", ["setting", "value", "default", "meaning"], rows)
    return Exit.FOUND


def _print_reference(settings: dict[str, tuple[Any, str]]) -> None:
    """Print a table for each section; every setting has an anchor."""
    from ...dedup.parsing import PREFIX

    sections = {
        title: [name for one in words.split() if (name := PREFIX + one) in settings]
        for title, words in _SECTIONS.items()
    }
    listed = {name for names in sections.values() for name in names}
    sections["Other settings"] = [name for name in settings if name not in listed]
    for title, names in sections.items():
        if names:
            print(f"## {title}\n\n| setting | default | meaning |\n|---|---|---|")
        for name in names:
            default, doc = settings[name]
            shown = f"`{default}`" if default != "" else ""
            print(f'| <a id="{name.lower()}"></a>`{name}` | {shown} | {doc} |')
        if names:
            print()


def _show_value(value: Any, default: Any) -> str:
    if value == default:
        return str(value)
    return f"{value} (default: {'unset' if default == '' else default})"


def _mask_value(value: str | int | None) -> str:
    from ...dedup.store.server.address import mask_url

    if value is None:
        return ""
    return mask_url(value) if isinstance(value, str) else "***"


def _plain_value(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, frozenset):
        return ", ".join(sorted(value))
    if isinstance(value, tuple):
        return ", ".join(value)
    return value if isinstance(value, (int, float)) else str(value)
