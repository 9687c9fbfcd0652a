"""The settings of the filter, read once and checked, each error naming its setting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import Any, Literal, Self

from . import parsing
from .errors import ConfigError
from .identity import identity
from .parsing import PREFIX, function_name, given, parsed, setting, setting_name
from .sketches import METHODS, BandedMethod, Method, ModuloSample, TwoStage
from .sketches.lsh import MOST_BANDS, Bands, fewest_bands
from .verdict import Kind


@dataclass(frozen=True, kw_only=True)
class DedupConfig:
    """All settings of the filter; a field ``x`` is the Scrapy setting ``DEDUP_X``.

    Raises :class:`ConfigError`, which names the setting, for a value that cannot be used.
    """

    redis_url: str | None = setting(
        None,
        parsing.optional(parsing.text),
        "Server that holds the index: redis://, rediss://, unix://, redis+sentinel:// or "
        "redis+cluster://. Unset: a private server of the project, its data in DEDUP_DATA_DIR.",
        is_secret=True,
    )
    namespace: str = setting(
        "dedup", parsing.namespace, "Name of the index; spiders with the same name share one index."
    )
    crawl: str | None = setting(
        None,
        parsing.optional(parsing.text),
        "Name of the crawl. Processes with one name are one crawl, however late they begin: so let "
        "those that share a queue. Unset: each is a crawl of its own.",
    )
    ask_again: int = setting(
        10_000,
        parsing.integer(0, 10_000_000),
        "Dropped pages that a crawl remembers, some 2 KB each, until it has seen their originals: "
        "where one has changed or is gone, its copies are asked for again. 0: none.",
    )
    on_interrupt: str = setting(
        "again",
        parsing.one_of("again", "resume"),
        "When a crawl in a JOBDIR was killed: `again` makes all its requests again, `resume` only "
        "those that Scrapy still has.",
    )
    learn_urls: bool | None = setting(
        None,
        parsing.optional(parsing.boolean),
        "Whether requests are spared whose pages would be copies, by URL rules that a crawl learns "
        "and shares, and with the limits of DEDUP_COPY_DEPTH and DEDUP_FRUITLESS. Unset: in crawls "
        "of the spider `site`.",
    )
    copy_depth: int = setting(
        3,
        parsing.integer(0, 1000),
        "Pages in a row that bring nothing new, each found on the one before, whose links are "
        "still followed. 0: any number. See DEDUP_LEARN_URLS.",
    )
    fruitless: int = setting(
        2,
        parsing.integer(0, 1000),
        "Fetches in a row, for each page of a site that was new, and ten more, after which what "
        "only copies lead to is left until a page is new again. 0: any number. See "
        "DEDUP_LEARN_URLS.",
    )
    data_dir: Path = setting(
        ".scrapy/dedup",
        parsing.path,
        "Folder of the private server's data (see DEDUP_REDIS_URL), of the texts for reports and "
        "of pages that passed as `unchecked` and wait.",
    )
    archive: int = setting(
        10_000,
        parsing.integer(0, 10_000_000),
        "Pages whose texts are kept in DEDUP_DATA_DIR for reports, those checked last: some 5 KB "
        "of disk each. 0: none.",
    )
    timeout: float = setting(
        10.0, parsing.number(0, 3600), "Seconds to wait for an answer of the server."
    )
    on_error: str = setting(
        "unchecked",
        parsing.one_of("unchecked", "stop"),
        "When the server gives no answer: `unchecked` lets pages pass with that verdict, `stop` "
        "ends the crawl with a non-zero exit code.",
    )
    enabled: bool = setting(
        True, parsing.boolean, "Whether pages are checked at all; False: all items pass unread."
    )
    on_unchecked: str = setting(
        "warn",
        parsing.one_of("warn", "stop"),
        "When no item of a crawl has a page that can be checked: `warn` says at its end why, "
        "`stop` also ends the crawl after a hundred such items, with a non-zero exit code.",
    )
    reset: str = setting(
        "no",
        parsing.consent,
        "Whether the crawl begins with an empty index: `1` asks first, `yes` does not. For one "
        "crawl, as `-s DEDUP_RESET=1`.",
    )
    page: str = setting(
        "auto",
        parsing.one_of("auto", "item", "response"),
        "Where the page of an item is: `item`, in its fields; `response`, in the response it was "
        "yielded from; `auto`, in its fields if they have HTML or text, else in the response.",
    )
    drop: frozenset[Kind] = setting(
        frozenset({Kind.EXACT, Kind.NEAR, Kind.REPEATED}),
        parsing.kinds,
        "Verdicts whose items are dropped.",
    )
    tag_field: str | None = setting(
        "dedup",
        parsing.optional(parsing.text),
        "Item field that takes the verdict; empty: items are not tagged.",
    )
    tag: str = setting(
        "full",
        parsing.one_of("full", "kind"),
        "What the tag is: `full`, a dict with the verdict's fields; `kind`, its kind as a plain "
        "text, for a column of CSV.",
    )
    url_field: str = setting("url", parsing.text, "Item field with the page's address.")
    html_field: str = setting(
        "html",
        parsing.text,
        "Item field with the page's HTML: str, bytes, a response, a selector, a tree of lxml or "
        "Beautiful Soup, or what `chrome.parse` returns.",
    )
    text_field: str = setting(
        "text",
        parsing.text,
        "Item field with the main text; where it is filled, HTML is not parsed.",
    )
    title_field: str = setting(
        "title",
        parsing.text,
        "Item field that takes the page's title where the item has it, unfilled.",
    )
    date_field: str = setting(
        "date",
        parsing.text,
        "Item field with the date of the page's text: datetime, ISO 8601 or as in e-mail; see "
        "DEDUP_PREFER.",
    )
    canonical_field: str = setting(
        "canonical", parsing.text, "Item field with the address that the page names as canonical."
    )
    prefer: frozenset[str] = setting(
        frozenset(),
        parsing.some_of("canonical", "earlier"),
        "Which of two copies is kept if not the first to come: `canonical`, the one that the other "
        "names as canonical; `earlier`, the one with the earlier date. The verdict of the page "
        "that comes later names the one that it `replaces`.",
    )
    extractor: str | Callable[[Any], str] | None = setting(
        None,
        parsing.optional(parsing.function),
        "Function, or the path of one, that turns a page's HTML into its main text. Unset: that of "
        "this package.",
    )
    templates: bool = setting(
        True,
        parsing.boolean,
        "Whether blocks that come back on a site's pages are learnt as its template, shared by all "
        "workers and cut from main texts.",
    )
    ttl: float | None = setting(
        None,
        parsing.optional(parsing.duration),
        "Time after which a page that was not seen again counts no more and its memory is given "
        "back: seconds, or a text as `12h`, `30d`, `8w`. Unset: pages count for ever. Of crawls "
        "that share an index the shortest time holds for all.",
    )
    canonical_urls: bool = setting(
        True,
        parsing.boolean,
        "Whether URLs that differ only in what servers ignore (order of the query's arguments, "
        "fragment, case of escapes) are one page.",
    )
    threshold: float = setting(
        0.8, parsing.number(0, 1), "Jaccard resemblance from which a page is a near-duplicate."
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
        "What makes no difference: out of `case`, `marks` (`[1]`, `[edit]`, numbers of notes and "
        "verses, times of a transcript, hyphens at line ends), `typography` (punctuation, but no "
        "signs that carry meaning: `+3`, `✓`, `★`, `€`), `punctuation` (all of it, and all signs), "
        "`accents`, `numbers` (dates and counters too), `urls`, `reposts` (RT @name).",
    )
    segment: str | Callable[[str], Iterable[str]] | None = setting(
        None,
        parsing.optional(parsing.function),
        "What cuts scripts without spaces (Chinese, Japanese, Thai, Khmer and others) into words: "
        "`icu`, a function, or the path of one, as `rjieba.cut`. Unset: each letter is a word.",
    )
    correct: str | None = setting(
        None,
        parsing.optional(parsing.correction),
        "How texts are corrected before they are compared: `typos`, `scans`, `bad-scans` or a "
        "phonetic code, with a language or a file of words as `typos:de`. Unset: not at all.",
    )
    method: str = setting(
        "fast",
        parsing.one_of(*METHODS),
        f"How pages are sketched, so that candidates are found: {', '.join(METHODS)}.",
    )
    method_options: Mapping[str, Any] | None = setting(
        None,
        parsing.optional(parsing.options),
        "What else the method takes: a dict, or its JSON.",
    )
    num_hashes: int = setting(
        0,
        parsing.integer(0, 4096),
        "Values in a page's sketch; 0: as many as the method has of itself, `fast` 256.",
    )
    bands: int = setting(
        0,
        parsing.integer(0, 64),
        "Bands of the LSH index; 0: the fewest that find 95 % of the pairs at the threshold. "
        "Methods other than `fast`, `minwise` and `one-permutation` have none.",
    )
    rows: int = setting(
        0, parsing.integer(0, 32), "Sketch values in a band; 0: chosen as the bands."
    )
    verify_bits: int = setting(
        1024,
        parsing.integer(512, 4096),
        "Bits of the sketch that candidates are verified with. `two-stage` verifies with its "
        "simhash instead, of DEDUP_NUM_HASHES bits.",
    )
    shards: int = setting(
        24,
        parsing.integer(1, 1024),
        "Parts that an index in a cluster consists of, spread over the nodes: as many nodes can "
        "share it at most. One server knows no parts.",
    )
    seed: int | None = setting(
        None,
        parsing.optional(parsing.integer(0, 2**63 - 1)),
        "Seed of all hash functions. Unset: each index draws its own and stores it. Set it to keep "
        "it out of the index: only a digest is stored then.",
        is_secret=True,
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            object.__setattr__(self, item.name, parsed(item, getattr(self, item.name)))
        self._check_numbers()
        self._check_method()
        self._check_fields()

    def _check_numbers(self) -> None:
        if (self.bands == 0) != (self.rows == 0):
            raise ConfigError("DEDUP_BANDS and DEDUP_ROWS expect to be set both, or none of them")
        if self.has_bands and self.bands * self.rows > self.values:
            raise ConfigError(
                f"DEDUP_BANDS × DEDUP_ROWS is {self.bands * self.rows}, more than the "
                f"{self.values} values of DEDUP_NUM_HASHES: lower the bands or the rows"
            )
        if self.verify_bits % 512:
            # In steps of 64 bytes, as indexes of all formats have had them.
            raise ConfigError("DEDUP_VERIFY_BITS expects a multiple of 512")

    def _check_method(self) -> None:
        said, own = set(self.method_options or {}), {"num_hashes", "seed"}
        if self.has_bands:  # the rows of supershingles are others
            own |= {"bands", "rows"}
        if said & own:
            names = ", ".join(PREFIX + name.upper() for name in sorted(said & own))
            raise ConfigError(f"DEDUP_METHOD_OPTIONS is not for what has a setting: set {names}")
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
            method = self.make_method()
        except (TypeError, ValueError) as error:
            raise ConfigError(f"DEDUP_METHOD {self.method}: {error}") from None
        if method.most_keys > self._most_keys:
            raise ConfigError(f"DEDUP_METHOD_OPTIONS expects fewer keys: at most {self._most_keys}")

    def _check_fields(self) -> None:
        taken: dict[str, str] = {}  # HTML would be compared as if it were a text, or an address
        for item in sorted(fields(self), key=lambda item: item.name == "tag_field"):
            name = getattr(self, item.name)
            if item.name.endswith("_field") and name is not None:
                own = setting_name(item)
                if name in taken:
                    raise ConfigError(f"{own} expects another field than {taken[name]}")
                taken[name] = own

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
            remedy = "DEDUP_NUM_HASHES expects more"
            if self.values >= MOST_BANDS:  # then more of them make no more bands
                remedy = "DEDUP_THRESHOLD expects more, or DEDUP_BANDS and DEDUP_ROWS to be set"
            raise ConfigError(f"{remedy}: {error}") from None

    def identity(self, url: str) -> str:
        """The URL that a page is known by, as :func:`~.identity.identity` has it."""
        return identity(url, canonical=self.canonical_urls)

    @property
    def segment_name(self) -> str | None:
        """What the index stores of :attr:`segment`."""
        return function_name(self.segment) if callable(self.segment) else self.segment

    @property
    def correct_name(self) -> str | None:
        """What the index stores of :attr:`correct`."""
        if self.correct is None:
            return None
        from .spelling.correction import version_setting

        return version_setting(self.correct)

    @property
    def sketch_options(self) -> dict[str, Any]:
        """What the method of :attr:`method` is made with, but for the seed."""
        options = {"num_hashes": self.values, **(self.method_options or {})}
        if self.has_bands:
            return options | self.banding._asdict()
        if self.method == ModuloSample.name:  # of which every value is a key
            options["num_hashes"] = min(options["num_hashes"], self._most_keys)
        return options

    def make_method(self, seed: int = 1) -> Method:
        """The method that :attr:`method` names."""
        return METHODS[self.method](seed=seed, **self.sketch_options)

    @property
    def sketch_bits(self) -> int:
        """Bits of the sketch that an index stores to verify candidates with."""
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
        # The keys, of 4 bytes, and the odd sketch of a record are 896 bytes at most, which whoever
        # reads an export counts on: see export/file.py.
        return (896 - self.sketch_bits // 8) // 4

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
        return cls(**given(settings, fields(cls)))
