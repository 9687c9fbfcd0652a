"""The settings of the filter, read once and checked, each error naming its setting."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from inspect import signature
from pathlib import Path
from typing import Any, Literal, Self

from .errors import ConfigError
from .lsh import Bands, fewest_bands
from .sketches import METHODS, BandedMethod, ModuloSample
from .verdict import Kind

PREFIX = "DEDUP_"
_TRUE = frozenset({"1", "true", "yes", "on"})
# What two texts may differ in and still have the same words.
DISTINCTIONS = frozenset({"accents", "case", "numbers", "punctuation", "reposts", "urls"})
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FALSE = frozenset({"0", "false", "no", "off"})


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expects a text that is not empty")
    return value.strip()


def _optional_text(value: Any) -> str | None:
    return None if value is None or value == "" else _text(value)


def _correction(value: Any) -> str | None:
    if value is None or value == "":
        return None
    from .typos import parsed

    parsed(_text(value))
    return _text(value)


def _path(value: Any) -> Path:
    if not isinstance(value, (str, Path)) or not str(value):
        raise ValueError("expects the path of a folder")
    return Path(value)


def _boolean(value: Any) -> bool:
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError("expects True or False")


def _integer(low: int, high: int) -> Callable[[Any], int]:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or int(value) != float(value) or not low <= int(value) <= high:
            raise ValueError(f"expects a whole number from {low} to {high}")
        return int(value)

    return parse


def _optional(parse: Callable[[Any], int]) -> Callable[[Any], int | None]:
    return lambda value: None if value is None or value == "" else parse(value)


def _number(low: float, high: float) -> Callable[[Any], float]:
    def parse(value: Any) -> float:
        if isinstance(value, bool) or not low < float(value) <= high:
            raise ValueError(f"expects a number above {low:g} and up to {high:g}")
        return float(value)

    return parse


def _duration(value: Any) -> float | None:
    if value is None or value == "":
        return None
    number, unit = (value[:-1], value[-1]) if isinstance(value, str) else (value, "s")
    if isinstance(value, str) and unit not in _SECONDS:
        number, unit = value, "s"
    try:
        seconds = float(number) * _SECONDS[unit]
    except ValueError:
        seconds = 0.0
    if isinstance(value, bool) or not 1 <= seconds < 1e10:
        raise ValueError("expects seconds, at least 1, or a text as 12h, 30d or 8w")
    return seconds


def _one_of(*words: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in words:
            raise ValueError(f"expects one of {', '.join(words)}")
        return str(value)

    return parse


def _kinds(value: Any) -> frozenset[Kind]:
    words = value.split(",") if isinstance(value, str) else list(value)
    known = [kind for kind in Kind if kind is not Kind.UNCHECKED]  # a fault is no reason to drop
    names = {str(word).strip() for word in words} - {""}
    if not names <= set(known):
        raise ValueError(f"expects verdicts out of {', '.join(known)}")
    return frozenset(Kind(name) for name in names)


def _function(value: Any) -> str | Callable[[Any], str] | None:
    return value if callable(value) else _optional_text(value)


def _options(value: Any) -> Mapping[str, Any] | None:
    if value is None or value == "":
        return None
    options = json.loads(value) if isinstance(value, str) else value
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise ValueError("expects a dict of options")
    return dict(options)


def _distinctions(value: Any) -> frozenset[str]:
    words = value.split(",") if isinstance(value, str) else list(value)
    names = {str(word).strip() for word in words} - {""}
    if not names <= DISTINCTIONS:
        raise ValueError(f"expects words out of {', '.join(sorted(DISTINCTIONS))}")
    return frozenset(names)


def _setting(default: Any, parse: Callable[[Any], Any], doc: str) -> Any:
    return field(default=default, metadata={"parse": parse, "doc": doc})


@dataclass(frozen=True, kw_only=True)
class DedupConfig:
    """All settings of the filter; a field ``x`` is the Scrapy setting ``DEDUP_X``.

    Raises :class:`ConfigError`, which names the setting, for a value that cannot be used.
    """

    redis_url: str | None = _setting(
        None,
        _optional_text,
        "Server that holds the index: redis://, rediss://, unix://, redis+sentinel:// or "
        "redis+cluster://. Unset: a private server of the project, its data in DEDUP_DATA_DIR.",
    )
    namespace: str = _setting(
        "dedup", _text, "Name of the index; spiders with the same name share one index."
    )
    data_dir: Path = _setting(
        ".scrapy/dedup", _path, "Folder of the private server's data (see DEDUP_REDIS_URL)."
    )
    timeout: float = _setting(
        10.0, _number(0, 3600), "Seconds to wait for an answer of the server."
    )
    on_error: str = _setting(
        "unchecked",
        _one_of("unchecked", "stop"),
        "When the server gives no answer: `unchecked` lets pages pass with that verdict, `stop` "
        "ends the crawl with a non-zero exit code.",
    )
    drop: frozenset[Kind] = _setting(
        frozenset({Kind.EXACT, Kind.NEAR}), _kinds, "Verdicts whose items are dropped."
    )
    tag_field: str | None = _setting(
        "dedup", _optional_text, "Item field that takes the verdict; empty: items are not tagged."
    )
    url_field: str = _setting("url", _text, "Item field with the page's address.")
    html_field: str = _setting("html", _text, "Item field with the page's HTML (str or bytes).")
    text_field: str = _setting(
        "text", _text, "Item field with the main text; where it is filled, HTML is not parsed."
    )
    title_field: str = _setting(
        "title", _text, "Item field that takes the page's title where the item has it, unfilled."
    )
    extractor: str | Callable[[Any], str] | None = _setting(
        None,
        _function,
        "Function, or the path of one, that turns a page's HTML into its main text. Unset: that of "
        "this package.",
    )
    ttl: float | None = _setting(
        None,
        _duration,
        "Time after which a page that was not seen again counts no more and its memory is given "
        "back: seconds, or a text as `12h`, `30d`, `8w`. Unset: pages count for ever.",
    )
    canonical_urls: bool = _setting(
        True,
        _boolean,
        "Whether URLs that differ only in what servers ignore (order of the query's arguments, "
        "fragment, case of escapes) are one page.",
    )
    threshold: float = _setting(
        0.8, _number(0, 1), "Jaccard resemblance from which a page is a near-duplicate."
    )
    shingle_unit: Literal["word", "char"] = _setting(
        "word", _one_of("word", "char"), "What a shingle is made of: `word` or `char`."
    )
    shingle_size: int = _setting(5, _integer(1, 100), "Units in a shingle.")
    shingle_step: int = _setting(
        1, _integer(1, 100), "Units from the start of one shingle to the start of the next."
    )
    shingle_repeats: bool = _setting(
        False, _boolean, "Whether a shingle counts as often as it occurs in the text."
    )
    ignore: frozenset[str] = _setting(
        frozenset({"case", "punctuation"}),
        _distinctions,
        "What makes no difference: out of `case`, `punctuation`, `accents`, `numbers` (dates and "
        "counters too), `urls`, `reposts` (RT @name).",
    )
    correct: str | None = _setting(
        None,
        _correction,
        "How texts are corrected before they are compared: `typos`, `scans` or a phonetic code, "
        "with a language or a file of words as `typos:de`. Unset: not at all.",
    )
    method: str = _setting(
        "fast",
        _one_of(*METHODS),
        f"How pages are sketched, so that candidates are found: {', '.join(METHODS)}.",
    )
    method_options: Mapping[str, Any] | None = _setting(
        None,
        _options,
        "What else the method takes: a dict, or its JSON.",
    )
    num_hashes: int = _setting(
        0,
        _integer(0, 4096),
        "Values in a page's sketch; 0: as many as the method has of itself, `fast` 256.",
    )
    bands: int = _setting(
        0,
        _integer(0, 64),
        "Bands of the LSH index; 0: the fewest that find 95 % of the pairs at the threshold.",
    )
    rows: int = _setting(0, _integer(0, 32), "Sketch values in a band; 0: chosen as the bands.")
    verify_bits: int = _setting(
        1024, _integer(128, 4096), "Bits of the sketch that candidates are verified with."
    )
    shards: int = _setting(
        64,
        _integer(1, 1024),
        "Parts that an index in a cluster consists of, spread over the nodes: as many nodes can "
        "share it at most. One server knows no parts.",
    )
    seed: int | None = _setting(
        None,
        _optional(_integer(0, 2**63 - 1)),
        "Seed of all hash functions. Unset: each index draws its own and stores it. Set it to keep "
        "it out of the index: only a digest is stored then.",
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, _parsed(item, getattr(self, item.name)))
        if (self.bands == 0) != (self.rows == 0):
            raise ConfigError("DEDUP_BANDS and DEDUP_ROWS expect to be set both, or none of them")
        if self.bands * self.rows > self.values:
            raise ConfigError(
                f"DEDUP_BANDS × DEDUP_ROWS is {self.bands * self.rows}, more than the "
                f"{self.values} values of DEDUP_NUM_HASHES: lower the bands or the rows"
            )
        if self.verify_bits % 512:
            # The server keeps fields of up to 64 bytes in its compact encoding.
            raise ConfigError("DEDUP_VERIFY_BITS expects a multiple of 512")
        try:
            method = METHODS[self.method](**self.sketch_options)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"DEDUP_METHOD {self.method}: {error}") from None
        if (method.tables or 1) > self._most_keys:
            raise ConfigError(f"DEDUP_METHOD_OPTIONS expects fewer keys: at most {self._most_keys}")
        if any(c in self.namespace for c in "{}*?[] \t\n"):
            raise ConfigError("DEDUP_NAMESPACE expects a name without spaces and without {}*?[]")

    @property
    def values(self) -> int:
        """Values in a page's sketch, in the method's own sense."""
        default: int = signature(METHODS[self.method]).parameters["num_hashes"].default
        return self.num_hashes or default

    @property
    def banding(self) -> Bands:
        """Bands and rows: those that are set, else those that fit the threshold."""
        if self.bands:
            return Bands(self.bands, self.rows)
        try:
            return fewest_bands(self.threshold, self.values)
        except ValueError as error:
            raise ConfigError(f"DEDUP_NUM_HASHES expects more: {error}") from None

    @property
    def sketch_options(self) -> dict[str, Any]:
        """What the method of :attr:`method` is made with, but for the seed."""
        options = {"num_hashes": self.values, **(self.method_options or {})}
        if issubclass(METHODS[self.method], BandedMethod):
            return options | self.banding._asdict()
        if self.method == ModuloSample.name:  # of which every value is a key
            options["num_hashes"] = min(options["num_hashes"], self._most_keys)
        return options

    @property
    def _most_keys(self) -> int:
        # A record has 14 parts of 64 bytes for the keys, of 4 bytes, and the odd sketch.
        return (14 * 64 - self.verify_bits // 8) // 4

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """The configuration in a mapping of Scrapy settings; what is unset has its default.

        >>> DedupConfig.from_settings({"DEDUP_THRESHOLD": "0.9"}).threshold
        0.9
        >>> DedupConfig.from_settings({"DEDUP_TRESHOLD": 0.9})
        Traceback (most recent call last):
        ...
        crawler.dedup.errors.ConfigError: DEDUP_TRESHOLD is no setting; did you mean ...?
        """
        names = {setting_name(item): item.name for item in fields(cls)}
        values = {}
        for key in settings:
            if not isinstance(key, str) or not key.startswith(PREFIX):
                continue
            if key not in names:
                close = difflib.get_close_matches(key, names, n=1)
                hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(names)}"
                raise ConfigError(f"{key} is no setting; {hint}")
            values[names[key]] = settings[key]
        return cls(**values)


def setting_name(item: Field[Any]) -> str:
    """The Scrapy setting of a field of :class:`DedupConfig`."""
    return PREFIX + item.name.upper()


def _parsed(item: Field[Any], value: Any) -> Any:
    try:
        return item.metadata["parse"](value)
    except (TypeError, ValueError, OverflowError) as error:
        # int("x") and its like speak of Python, not of the setting.
        reason = str(error) if str(error).startswith("expects") else "has the wrong type"
        raise ConfigError(f"{setting_name(item)} {reason}, not {value!r}") from None
