"""Settings that are fixed when an index is made: what is compared, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from inspect import signature
from typing import Any, Literal

from . import parsing
from .errors import ConfigError
from .parsing import PREFIX, function_name, setting
from .sketches import METHODS, BandedMethod, Method, ModuloSample, TwoStage
from .sketches.lsh import MOST_BANDS, Bands, fewest_bands


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """Settings that are fixed when an index is made, and values derived from them."""

    threshold: float = setting(
        0.8, parsing.number(0, 1), "Jaccard similarity from which a page is a near-duplicate."
    )
    shingle_unit: Literal["word", "char"] = setting(
        "word", parsing.one_of("word", "char"), "What a shingle is made of: `word` or `char`."
    )
    shingle_size: int = setting(5, parsing.integer(1, 100), "Units in a shingle.")
    shingle_step: int = setting(
        1, parsing.integer(1, 100), "Units from the start of one shingle to the start of the next."
    )
    shingle_repeats: bool = setting(
        False, parsing.boolean, "Whether a shingle counts as often as it occurs in the text."
    )
    ignore: frozenset[str] = setting(
        frozenset({"case", "marks", "typography"}),
        parsing.some_of(
            "accents", "case", "marks", "numbers", "punctuation", "reposts", "typography", "urls"
        ),
        "Differences that do not count: `case`; `marks`; `typography`; `punctuation`; `accents`; "
        "`numbers`, also dates and counters; `urls`; `reposts` (RT @name). `marks` are `[1]`, "
        "`[edit]`, numbers of notes and verses, times of a transcript and hyphens at line ends. "
        "`typography` is punctuation, but not signs that carry meaning: `+3`, `✓`, `★`, `€`. "
        "`punctuation` is all of it, and all signs.",
    )
    segment: str | Callable[[str], Iterable[str]] | None = setting(
        None,
        parsing.optional(parsing.function),
        "How scripts without spaces (Chinese, Japanese, Thai, Khmer and others) are split into "
        "words: `icu`, a function, or its import path, such as `rjieba.cut`. Unset: each "
        "character is a word.",
    )
    correct: str | None = setting(
        None,
        parsing.optional(parsing.correction),
        "How texts are corrected before they are compared: `typos`, `scans`, `bad-scans` or a "
        "phonetic code, optionally with a language or a file of words, such as `typos:de`. "
        "Unset: not at all.",
    )
    scope: str = setting(
        "all",
        parsing.scope,
        "Which pages may be copies of each other: `all`; those of one `host`; those of one "
        "registered `domain`; or, with the name of an item field, those with the same value in "
        "it.",
    )
    containment: float | None = setting(
        None,
        parsing.optional(parsing.number(0, 1)),
        "If a longer page has at least this share of a shorter one, such as 0.9, the verdict of "
        "each names the other. Takes about 120 bytes for a page of 630 words. "
        "Unset: not looked for.",
    )
    method: str = setting(
        "fast",
        parsing.one_of(*METHODS),
        f"How pages are sketched, so that candidates are found: {', '.join(METHODS)}.",
    )
    method_options: Mapping[str, Any] | None = setting(
        None,
        parsing.optional(parsing.options),
        "Further options of the method: a dict, or its JSON.",
    )
    num_hashes: int = setting(
        0,
        parsing.integer(0, 4096),
        "Number of values in a page's sketch; 0: the method's default, 256 for `fast`.",
    )
    bands: int = setting(
        0,
        parsing.integer(0, 64),
        "Bands of the LSH index; 0: the fewest that find 95 % of pairs at the threshold. Only "
        "`fast`, `minwise` and `one-permutation` have bands.",
    )
    rows: int = setting(
        0, parsing.integer(0, 32), "Sketch values in a band; 0: chosen together with the bands."
    )
    verify_bits: int = setting(
        1024,
        parsing.integer(512, 4096),
        "Bits of the sketch that verifies candidates. `two-stage` verifies with its simhash of "
        "DEDUP_NUM_HASHES bits instead.",
    )
    shards: int = setting(
        1,
        parsing.integer(1, 1024),
        "Parts of a new index on a cluster. One part lies on one node; more are spread over "
        "the nodes, for an index that does not fit into one node's memory.",
    )
    seed: int | None = setting(
        None,
        parsing.optional(parsing.integer(0, 2**63 - 1)),
        "Seed of all hash functions. Unset: each index draws its own and stores it. If set, "
        "the index stores only a digest of it.",
        is_secret=True,
    )

    def _check_numbers(self) -> None:
        if (self.bands == 0) != (self.rows == 0):
            raise ConfigError("DEDUP_BANDS and DEDUP_ROWS have to be set together, or not at all")
        if self.has_bands and self.bands * self.rows > self.values:
            raise ConfigError(
                f"DEDUP_BANDS × DEDUP_ROWS is {self.bands * self.rows}, more than the "
                f"{self.values} values of DEDUP_NUM_HASHES: lower the bands or the rows"
            )
        if self.verify_bits % 512:
            # Indexes of all formats have sketches of a multiple of 64 bytes.
            raise ConfigError("DEDUP_VERIFY_BITS expects a multiple of 512")

    def _check_method(self) -> None:
        said, own = set(self.method_options or {}), {"num_hashes", "seed"}
        if self.has_bands:  # `rows` is an option of supershingles, with another meaning
            own |= {"bands", "rows"}
        if said & own:
            names = ", ".join(PREFIX + name.upper() for name in sorted(said & own))
            raise ConfigError(
                f"DEDUP_METHOD_OPTIONS must not hold what has a setting of its own: set {names}"
            )
        parameters = signature(METHODS[self.method]).parameters
        options = parameters.keys() - own
        if said - options:
            raise ConfigError(
                f"DEDUP_METHOD_OPTIONS expects options of {self.method}, which are "
                f"{', '.join(sorted(options)) or 'none'}, not {', '.join(sorted(said - options))}"
            )
        for name, value in (self.method_options or {}).items():
            if type(value) is not type(parameters[name].default):
                kind = "word" if isinstance(parameters[name].default, str) else "whole number"
                raise ConfigError(
                    f"DEDUP_METHOD_OPTIONS expects {name} to be a {kind}, not {value!r:.200}"
                )
        try:
            most_keys = _count_keys(self.method, **self.sketch_options)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"DEDUP_METHOD {self.method}: {error}") from None
        if most_keys > self._most_keys:
            raise ConfigError(f"DEDUP_METHOD_OPTIONS expects fewer keys: at most {self._most_keys}")

    @property
    def scope_field(self) -> str | None:
        """The field of items that :attr:`scope` names, if any."""
        return None if self.scope in parsing.SCOPES else self.scope.removeprefix("field:")

    @property
    def values(self) -> int:
        """The number of values in a page's sketch, in the method's own sense."""
        return self.num_hashes or _default_values(self.method)

    @property
    def banding(self) -> Bands:
        """Bands and rows: as set, or the fewest bands that fit the threshold."""
        if self.bands:
            return Bands(self.bands, self.rows)
        try:
            return fewest_bands(self.threshold, self.values)
        except ValueError as error:
            remedy = "DEDUP_NUM_HASHES expects more"
            if self.values >= MOST_BANDS:  # more values would not allow more bands
                remedy = "DEDUP_THRESHOLD expects more, or DEDUP_BANDS and DEDUP_ROWS to be set"
            raise ConfigError(f"{remedy}: {error}") from None

    @property
    def segment_name(self) -> str | None:
        """The name under which the index stores :attr:`segment`."""
        return function_name(self.segment) if callable(self.segment) else self.segment

    @property
    def correct_name(self) -> str | None:
        """The name under which the index stores :attr:`correct`."""
        if self.correct is None:
            return None
        from .spelling.correction import version_setting

        return version_setting(self.correct)

    @property
    def sketch_options(self) -> dict[str, Any]:
        """The arguments of :attr:`method`, except the seed."""
        options = {"num_hashes": self.values, **(self.method_options or {})}
        if self.has_bands:
            return options | self.banding._asdict()
        if self.method == ModuloSample.name:  # each value of its sketch is a key
            options["num_hashes"] = min(options["num_hashes"], self._most_keys)
        return options

    def make_method(self, seed: int = 1) -> Method:
        """The method that :attr:`method` names."""
        return METHODS[self.method](seed=seed, **self.sketch_options)

    @property
    def sketch_bits(self) -> int:
        """Bits of the sketch that verifies candidates."""
        if self.method == TwoStage.name:
            bits: int = self.sketch_options["num_hashes"]
            return bits
        return self.verify_bits

    @property
    def has_bands(self) -> bool:
        """Whether the method finds candidates by bands."""
        return issubclass(METHODS[self.method], BandedMethod)

    @property
    def _most_keys(self) -> int:
        # Keys (4 bytes each) and odd sketch of a record take at most 896 bytes together: the reader
        # of exports relies on it, see export/page_lines.py.
        return (896 - self.sketch_bits // 8) // 4


# A crawl reads its settings once for each of its parts.
@cache
def _default_values(method: str) -> int:
    default: int = signature(METHODS[method]).parameters["num_hashes"].default
    return default


@lru_cache(maxsize=64)
def _count_keys(method: str, **options: Any) -> int:
    """The most keys of a page, by a method whose functions are drawn for that."""
    return METHODS[method](seed=1, **options).most_keys
