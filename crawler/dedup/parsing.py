"""The values of settings: each function reads one kind, or says what it expects."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from .errors import ConfigError
from .verdict import CONTAINED, Kind

PREFIX = "DEDUP_"
SCOPES = ("all", "host", "domain")

# Settings, each with the words that other tools and everyday speech have for it.
_MEANT = {
    "THRESHOLD": "SIMILARITY JACCARD RESEMBLANCE CUTOFF",
    "NUM_HASHES": "PERM PERMUTATIONS SIGNATURE SKETCH",
    "SHINGLE_SIZE": "NGRAM NGRAMS K",
    "REDIS_URL": "SERVER HOST PORT VALKEY ADDRESS",
    "NAMESPACE": "INDEX NAME PREFIX KEY",
    "DATA_DIR": "FOLDER PATH DIRECTORY",
    "TTL": "EXPIRE EXPIRES EXPIRY EXPIRATION AGE DAYS",
    "EXTRACTOR": "EXTRACT STRIP READABILITY",
    "TAG_FIELD": "VERDICT",
    "DROP": "KEEP REMOVE FILTER ACTION MODE",
    "ENABLED": "DISABLED DISABLE OFF ON ACTIVE SKIP",
    "RESET": "CLEAR FLUSH FRESH",
    "HTML_FIELD": "BODY CONTENT",
    "URL_FIELD": "LINK",
    "PAGE": "RESPONSE SOURCE",
}


def setting(default: Any, parse: Callable[[Any], Any], doc: str, *, is_secret: bool = False) -> Any:
    """A field whose value `parse` reads from the setting; errors do not show a secret.

    `doc` is its description in the reference.
    """
    return field(default=default, metadata={"parse": parse, "doc": doc}, repr=not is_secret)


def setting_name(item: Field[Any]) -> str:
    """The Scrapy setting of a field."""
    return PREFIX + item.name.upper()


def parse_value(item: Field[Any], value: Any) -> Any:
    """The parsed value of a field. Raises :class:`ConfigError`, which names the setting."""
    try:
        return item.metadata["parse"](value)
    except (TypeError, ValueError, OverflowError) as error:
        # Python's own errors, such as that of list(3), do not help with the setting.
        reason = str(error) if str(error).startswith("expects") else "expects another type"
        shown = f", not {value!r:.200}" if item.repr else ""
        raise ConfigError(f"{setting_name(item)} {reason}{shown}") from None


def pick_settings(settings: Mapping[str, Any], items: Iterable[Field[Any]]) -> dict[str, Any]:
    """The values of the settings of this package, by the name of the field.

    Raises :class:`ConfigError` for a misspelt name.
    """
    names = {setting_name(item): item.name for item in items}
    values = {}
    for key in settings:
        if not isinstance(key, str) or not key.upper().startswith(PREFIX[:-1]):
            continue
        if key not in names:
            if key.startswith(PREFIX):
                best = _find_meant(key.upper(), names)
            elif (best := _find_close(key.upper(), names, 0.9)) is None:
                continue  # a setting of another package
            hint = f"did you mean {best}?" if best else f"known: {', '.join(names)}"
            raise ConfigError(f"{key} is not a setting; {hint}")
        values[names[key]] = settings[key]
    return values


def _find_meant(key: str, names: Collection[str]) -> str | None:
    """The setting that is written almost so, or has a word of it for its name, or for its meaning.

    >>> names = ["DEDUP_THRESHOLD", "DEDUP_TTL", "DEDUP_NAMESPACE"]
    >>> _find_meant("DEDUP_MIN_JACCARD", names), _find_meant("DEDUP_INDEX_TTL", names)
    ('DEDUP_THRESHOLD', 'DEDUP_TTL')
    """
    words = key.split("_")[1:]
    guesses: list[str | None] = [
        f"{key}_FIELD",
        _find_close(key, names, 0.9),
        *(PREFIX + word for word in reversed(words)),  # the last is what the others describe
        *(PREFIX + name for name, others in _MEANT.items() if {*words} & {*others.split()}),
        _find_close(key, names, 0.6),
    ]
    return next((guess for guess in guesses if guess and guess in names), None)


def _find_close(key: str, names: Collection[str], least: float) -> str | None:
    return next(iter(difflib.get_close_matches(key, names, 1, least)), None)


def function_name(function: Callable[..., Any]) -> str:
    """The stored name of a function in a setting: its import path, or its class's.

    >>> from functools import partial
    >>> from html import escape
    >>> function_name(escape), function_name(partial(escape))
    ('html.escape', 'functools.partial')
    """
    named: Any = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', '')}.{named.__qualname__}"


T = TypeVar("T")

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LONGEST_NAME = 200  # bytes, in the names of files


@contextmanager
def _expecting(what: str) -> Iterator[None]:
    """Replace Python's errors by a message of what the setting expects."""
    try:
        yield
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"expects {what}") from None


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("expects text")
    if not value.strip():
        raise ValueError("expects text that is not empty")
    return value.strip()


def namespace(value: Any) -> str:
    name = text(value)
    if not name.isprintable() or any(char in " {}*?[]" for char in name):
        raise ValueError("expects a name without spaces and without {}*?[]")
    if len(quote(name, safe="")) > _LONGEST_NAME:
        raise ValueError("expects a shorter name")
    return name


def optional(parse: Callable[[Any], T]) -> Callable[[Any], T | None]:
    """Read a value that may be unset: None, or empty."""
    return lambda value: None if value is None or value == "" else parse(value)


def correction(value: Any) -> str:
    from .spelling.correction import parse_setting

    parse_setting(text(value))
    return text(value)


def path(value: Any) -> Path:
    if not isinstance(value, (str, Path)) or not str(value) or "\0" in str(value):
        raise ValueError("expects the path of a folder")
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError("expects a folder below a home folder that exists") from None


def scope(value: Any) -> str:
    """One of :data:`SCOPES`, or the name of an item field.

    A field whose name resembles one of these words is written as `field:name`.
    """
    word = text(value)
    field = text(word.removeprefix("field:"))
    close = difflib.get_close_matches(field.lower(), SCOPES, 1, 0.76)
    if not close:
        return field
    if word == field and word not in SCOPES:
        raise ValueError(f"expects {close[0]}, or field:{word} for an item field of that name")
    return word


def boolean(value: Any) -> bool:
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("expects True or False")


def consent(value: Any) -> str:
    word = str(value).strip().lower()
    if word in ("", "no") or word in _FALSE:
        return "no"
    if word == "yes":
        return "yes"
    if word == "ask" or word in _TRUE:
        return "ask"
    raise ValueError("expects 0, 1 (to be asked) or yes")


def integer(low: int, high: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        with _expecting(f"a whole number from {low} to {high}"):
            number = int(value)
            # Compared without conversion: a float cannot tell numbers above 2**53 apart.
            if isinstance(value, bool) or (not isinstance(value, str) and number != value):
                raise ValueError
            if not low <= number <= high:
                raise ValueError
            return number

    return parse


def number(low: float, high: float) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        with _expecting(f"a number above {low:g} and up to {high:g}"):
            if isinstance(value, bool) or not low < float(value) <= high:
                raise ValueError
            return float(value)

    return parse


def duration(value: Any) -> float:
    number, unit = (value[:-1], value[-1]) if isinstance(value, str) else (value, "s")
    if isinstance(value, str) and unit not in _SECONDS:
        number, unit = value, "s"
    try:
        seconds = float(number) * _SECONDS[unit]
    except (TypeError, ValueError):
        seconds = 0.0
    if isinstance(value, bool) or not 1 <= seconds < 1e10:
        raise ValueError("expects seconds, at least 1, or text such as 12h, 30d or 8w")
    return seconds


def one_of(*words: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in words:
            raise ValueError(f"expects one of {', '.join(words)}")
        return str(value)

    return parse


def kinds(value: Any) -> frozenset[str]:
    known = [kind for kind in Kind if kind is not Kind.UNCHECKED]  # a fault is no reason to drop
    found = _some_of("verdicts", [*known, CONTAINED], value)
    return frozenset(word if word == CONTAINED else Kind(word) for word in found)


def function(value: Any) -> str | Callable[[Any], str]:
    with _expecting("a function, or its import path"):
        return value if callable(value) else text(value)


def options(value: Any) -> Mapping[str, Any]:
    with _expecting("a dict of options, or its JSON"):
        options = json.loads(value) if isinstance(value, str) else value
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError("expects a dict of options")
    if not all(isinstance(option, (int, str)) for option in options.values()):
        raise ValueError("expects options that are whole numbers or words")
    return dict(options)


def _some_of(what: str, known: Sequence[str], value: Any) -> frozenset[str]:
    with _expecting(f"{what} out of {', '.join(known)}, or '' for none"):
        words = value.split(",") if isinstance(value, str) else list(value)
        names = {str(word).strip() for word in words} - {""}
        if not names <= set(known):
            raise ValueError
    return frozenset(names)


def some_of(*words: str) -> Callable[[Any], frozenset[str]]:
    return lambda value: _some_of("words", words, value)
