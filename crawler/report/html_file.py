"""The report as one HTML file that loads nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dedup.errors import MissingExtra
from ..wording import counted, percent_similar, size_in_words, threshold_in_percent
from .content import describe_omissions
from .s_curve import report_curve
from .survey import KeptPairs
from .texts import is_link, spell_out

if TYPE_CHECKING:
    from jinja2 import Environment

    from ..dedup.config import DedupConfig

_FOLDER = Path(__file__).parent
STATIC = _FOLDER / "static"


def render_report(content: dict[str, Any], config: DedupConfig) -> str:
    """The file for the result of :func:`~.content.read_content`.

    Raises :class:`MissingExtra` if Jinja is not installed.
    """
    pairs = KeptPairs(**content["kept_pairs"])
    style, script = (STATIC / name for name in ("style.css", "report.js"))
    return (
        make_environment()
        .get_template("report.html")
        .render(
            content=content,
            chart=report_curve(config, content["stats"]["histogram"], pairs),
            pairs=pairs,
            statements=list(describe_omissions(content)),
            style=style.read_text(encoding="utf-8"),
            style_hash=_hash_file(style),
            script=script.read_text(encoding="utf-8"),
            script_hash=_hash_file(script),
            data=_inline_json(
                {name: content[name] for name in ("near", "clusters", "comparisons")}
            ),
        )
    )


@cache
def make_environment() -> Environment:
    """Templates that escape all values. Raises :class:`MissingExtra`."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra("the report", "report", error) from None
    made = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": lambda value: spell_out(str(value)),
        "number": lambda value: f"{value:,}",
        "counted": counted,
        "percent": lambda share: f"{100 * share:.1f}\N{NO-BREAK SPACE}%",
        "similar": lambda value: f"{percent_similar(value)}\N{NO-BREAK SPACE}%",
        "threshold": lambda value: f"{threshold_in_percent(value)}\N{NO-BREAK SPACE}%",
        "bytes": size_in_words,
        "minute": lambda time: f"{time:%Y-%m-%d %H:%M}",
    }
    made.tests["web_url"] = is_link
    return made


def _hash_file(path: Path) -> str:
    """The SHA-256, in base64, by which a content security policy allows an inline text."""
    return base64.b64encode(hashlib.sha256(path.read_bytes()).digest()).decode()


def _inline_json(value: Any) -> Any:
    """JSON that cannot end the HTML element that contains it."""
    from markupsafe import Markup

    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
