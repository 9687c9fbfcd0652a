"""A field of a dataclass as a setting of Scrapy's: how it is declared, named and read."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, field
from typing import Any

from .errors import ConfigError

PREFIX = "DEDUP_"


def setting(default: Any, parse: Callable[[Any], Any], doc: str, *, is_secret: bool = False) -> Any:
    """A field that holds what `parse` makes of the setting's value; a secret stays out of errors.

    `doc` says in the reference what the setting means.
    """
    return field(default=default, metadata={"parse": parse, "doc": doc}, repr=not is_secret)


def setting_name(item: Field[Any]) -> str:
    """The Scrapy setting of a field."""
    return PREFIX + item.name.upper()


def parsed(item: Field[Any], value: Any) -> Any:
    """What a field holds for a value; raises :class:`ConfigError`, which names the setting."""
    try:
        return item.metadata["parse"](value)
    except (TypeError, ValueError, OverflowError) as error:
        # list(3) and its like speak of Python, not of the setting.
        reason = str(error) if str(error).startswith("expects") else "expects another type"
        shown = f", not {value!r:.200}" if item.repr else ""
        raise ConfigError(f"{setting_name(item)} {reason}{shown}") from None


def given(settings: Mapping[str, Any], items: Iterable[Field[Any]]) -> dict[str, Any]:
    """By the names of fields, the values that Scrapy settings have for them.

    Raises :class:`ConfigError` for a name that begins like theirs and is none of them: a misprint.
    """
    names = {setting_name(item): item.name for item in items}
    values = {}
    for key in settings:
        if not isinstance(key, str) or not key.upper().startswith(PREFIX[:-1]):
            continue
        if key not in names:
            own = key.startswith(PREFIX)
            close = difflib.get_close_matches(key.upper(), names, 1, 0.6 if own else 0.9)
            if not own and not close:  # somebody else's
                continue
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
            raise ConfigError(f"{key} is no setting; {hint}")
        values[names[key]] = settings[key]
    return values


def function_name(function: Callable[..., Any]) -> str:
    """What is stored of a setting that is a function: its path, or that of its class.

    >>> from functools import partial
    >>> from html import escape
    >>> function_name(escape), function_name(partial(escape))
    ('html.escape', 'functools.partial')
    """
    named: Any = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', '')}.{named.__qualname__}"
