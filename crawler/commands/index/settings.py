"""Every setting of the filter: what it is in this project, its default, what it means."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..output import print_json, print_table
from ..subcommands import Exit

HELP = "All settings, their values and meanings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument("--markdown", action="store_true", help="print the reference of all defaults")


def run(options: argparse.Namespace, settings: Mapping[str, Any]) -> Exit:
    """Print the settings; one that cannot be used is an error that names it."""
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
        print("| setting | default | meaning |\n|---|---|---|")
        for name, _, default, doc in rows:
            print(f"| `{name}` | {f'`{default}`' if default != '' else ''} | {doc} |")
    else:
        print_table("", ["setting", "value", "default", "meaning"], rows)
    return Exit.FOUND


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
    return value if isinstance(value, (int, float)) else str(value)
