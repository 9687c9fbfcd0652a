"""Settings: what is accepted, and that each error names its setting."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.dedup import ConfigError, DedupConfig, Kind
from crawler.dedup.parsing import setting_name
from crawler.dedup.sketches import METHODS
from crawler.dedup.sketches.lsh import collision_probability


def test_settings_of_scrapy_are_read() -> None:
    """Values come from a project's settings as they come from `-s NAME=VALUE`: as texts too."""
    settings = Settings({"DEDUP_THRESHOLD": "0.9", "DEDUP_DROP": "exact, near,unchanged"})
    settings.set("DEDUP_CANONICAL_URLS", "no")
    config = DedupConfig.from_settings(settings)
    assert config.threshold == 0.9
    assert config.drop == {Kind.EXACT, Kind.NEAR, Kind.UNCHANGED}
    assert config.canonical_urls is False
    assert config.data_dir == Path(".scrapy/dedup")


def test_a_data_folder_may_be_below_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """No shell reads settings.py."""
    monkeypatch.setenv("HOME", "/home/ada")
    assert DedupConfig(data_dir="~/crawls").data_dir == Path("/home/ada/crawls")
    with pytest.raises(ConfigError, match=r"DEDUP_DATA_DIR expects .* home .*'~no-such-user/x'"):
        DedupConfig(data_dir="~no-such-user/x")


def test_a_setting_may_be_emptied() -> None:
    """No tag is an empty DEDUP_TAG_FIELD, nothing dropped an empty DEDUP_DROP."""
    config = DedupConfig.from_settings({"DEDUP_TAG_FIELD": "", "DEDUP_DROP": []})
    assert (config.tag_field, config.drop) == (None, frozenset())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("THRESHOLD", 0),
        ("THRESHOLD", 1.01),
        ("THRESHOLD", "high"),
        ("THRESHOLD", float("nan")),
        ("THRESHOLD", None),
        ("SHINGLE_SIZE", 0),
        ("SHINGLE_SIZE", 2.5),
        ("SHINGLE_SIZE", True),
        ("SHINGLE_SIZE", "five"),
        ("SHINGLE_UNIT", "line"),
        ("NUM_HASHES", float("inf")),
        ("VERIFY_BITS", 1000),
        ("NAMESPACE", "a{b"),
        ("NAMESPACE", "caf\udce9"),
        ("NAMESPACE", "a\x07"),
        ("NAMESPACE", "x" * 201),
        ("NAMESPACE", "é" * 40),
        ("HTML_FIELD", "url"),
        ("DATE_FIELD", "title"),
        ("METHOD_OPTIONS", {"a": 1}),
        ("METHOD_OPTIONS", {"seed": 1}),
        ("NAMESPACE", ""),
        ("DROP", "exact,same"),
        ("DROP", 3),
        ("IGNORE", "case,hyphens"),
        ("IGNORE", 1),
        ("SHINGLE_STEP", 0),
        ("DROP", "near,unchecked"),
        ("ON_ERROR", "ignore"),
        ("CANONICAL_URLS", "perhaps"),
        ("URL_FIELD", 3),
        ("DATA_DIR", ""),
        ("DATA_DIR", "a\0b"),
        ("SEED", -1),
        ("TAG_FIELD", "url"),
        ("TEXT_FIELD", "html"),
        ("TIMEOUT", 0),
        ("TTL", 0),
        ("TTL", "soon"),
        ("TTL", "-1d"),
        ("TTL", True),
        ("TTL", "nan"),
    ],
)
def test_an_error_names_its_setting(name: str, value: object) -> None:
    """Whatever is wrong with a value, the message begins with the setting's name."""
    with pytest.raises(ConfigError, match=rf"^DEDUP_{name} "):
        DedupConfig.from_settings({f"DEDUP_{name}": value})


@pytest.mark.parametrize("name", ["SEED", "SHINGLE_SIZE", "THRESHOLD", "METHOD_OPTIONS"])
def test_an_error_says_what_is_expected(name: str) -> None:
    """Not what Python cannot do with the value."""
    with pytest.raises(ConfigError, match=f"^DEDUP_{name} expects a "):
        DedupConfig.from_settings({f"DEDUP_{name}": "{abc"})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DROP", None, "verdicts out of unique, exact, near, .*, or '' for none, not None"),
        ("IGNORE", 3, "words out of accents, case, .*, or '' for none, not 3"),
        ("TTL", [30], "seconds, at least 1, or text such as 12h"),
        ("PREFER", None, "criteria, in a list or a text with commas, or '' for none, not None"),
        ("PREFER", [1], "criteria, in a list or a text with commas, or '' for none"),
        ("EXTRACTOR", 5, "a function, or its import path, not 5"),
        ("SEGMENT", [], r"a function, or its import path, not \[\]"),
        ("TAG_FIELD", [], r"text, not \[\]"),
    ],
)
def test_an_error_of_another_type_says_what_is_expected(
    name: str, value: object, expected: str
) -> None:
    """Who writes None for none learns what is none."""
    with pytest.raises(ConfigError, match=f"^DEDUP_{name} expects {expected}"):
        DedupConfig.from_settings({f"DEDUP_{name}": value})


def test_an_error_stays_short() -> None:
    """A value may be a file that was meant to be named."""
    with pytest.raises(ConfigError, match=r"^DEDUP_DROP ") as error:
        DedupConfig.from_settings({"DEDUP_DROP": "near " + "x" * 100_000})
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("seed", [2**53 + 1, 2**63 - 1])
def test_a_seed_may_have_as_many_bits_as_those_that_are_drawn(seed: int) -> None:
    """Also those that no float can hold, as a number and as text."""
    assert DedupConfig(seed=seed).seed == seed
    assert DedupConfig.from_settings({"DEDUP_SEED": str(seed)}).seed == seed


def test_secrets_are_not_shown() -> None:
    """Neither what a debugger or a tool that reports errors shows, nor an error has a secret."""
    config = DedupConfig(redis_url="redis://:hush@example.com", seed=918273645)
    assert "hush" not in repr(config)
    assert "918273645" not in repr(config)
    for name, value in {"REDIS_URL": ["redis://:hush@example.com"], "SEED": "hush"}.items():
        with pytest.raises(ConfigError, match=f"^DEDUP_{name} ") as error:
            DedupConfig.from_settings({f"DEDUP_{name}": value})
        assert "hush" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "seconds"), [(90, 90), ("90", 90), ("2h", 7200), ("1.5d", 129_600), ("", None)]
)
def test_a_duration_may_have_a_unit(value: object, seconds: float | None) -> None:
    """Durations are seconds, or a number with s, m, h, d or w."""
    assert DedupConfig.from_settings({"DEDUP_TTL": value}).ttl == seconds


def test_a_misspelt_setting_is_refused() -> None:
    """A setting that does not exist is an error with the nearest name, not a silent default."""
    with pytest.raises(
        ConfigError, match="DEDUP_REDIS is not a setting; did you mean DEDUP_REDIS_URL"
    ):
        DedupConfig.from_settings({"DEDUP_REDIS": "redis://localhost"})
    for name in ("DEDUPE_DROP", "dedup_drop", "DEDUP-DROP", "DEDUPDROP"):
        with pytest.raises(ConfigError, match=f"{name} is not a setting; did you mean DEDUP_DROP"):
            DedupConfig.from_settings({name: "near"})
    for name in ("DEDUP_URL", "DEDUP_HTML", "DEDUP_TEXT", "DEDUP_TITLE", "DEDUP_DATE"):
        with pytest.raises(ConfigError, match=f"did you mean {name}_FIELD"):
            DedupConfig.from_settings({name: "x"})
    DedupConfig.from_settings({"DEDUPLICATION_LEVEL": "the setting of another package"})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("INDEX_TTL", "TTL"),
        ("SERVER_TIMEOUT", "TIMEOUT"),
        ("SIGNATURE_METHOD", "METHOD"),
        ("ON_UNCHECK", "ON_UNCHECKED"),
        ("SERVER_URL", "REDIS_URL"),
        ("NGRAM_UNIT", "SHINGLE_SIZE"),
    ],
)
def test_a_setting_that_is_named_counts_more_than_words_beside_it(name: str, meant: str) -> None:
    """What other tools call a thing is only a guess if no word is a setting of this package."""
    with pytest.raises(ConfigError, match=f"did you mean DEDUP_{meant}\\?"):
        DedupConfig.from_settings({f"DEDUP_{name}": "1"})


def test_every_setting_is_documented() -> None:
    """Each field has a sentence for the settings reference."""
    for item in fields(DedupConfig):
        assert item.metadata["doc"].endswith("."), setting_name(item)


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99])
def test_bands_follow_the_threshold(threshold: float) -> None:
    """Unless they are set, bands and rows find 95 % of the pairs at the threshold."""
    bands, rows = DedupConfig(threshold=threshold).banding
    probability = collision_probability(threshold, bands, rows, bits=32 // rows)
    assert probability >= 0.95
    assert collision_probability(threshold, bands - 1, rows, bits=32 // rows) < 0.99
    assert DedupConfig(threshold=threshold, bands=9, rows=3).banding == (9, 3)


def test_bands_and_rows_belong_together() -> None:
    """One of the two alone is an error, and so is a sketch too small for the threshold."""
    with pytest.raises(ConfigError, match="DEDUP_BANDS and DEDUP_ROWS"):
        DedupConfig(bands=9)
    with pytest.raises(ConfigError, match="DEDUP_NUM_HASHES"):
        DedupConfig(threshold=0.2, num_hashes=16)


@pytest.mark.parametrize("num_hashes", [0, 4096])
def test_a_threshold_too_low_for_any_sketch(num_hashes: int) -> None:
    """More values make no more bands than are taken: the error names what helps."""
    helps = r"DEDUP_THRESHOLD expects more, or DEDUP_BANDS and DEDUP_ROWS to be set: 32 bands"
    with pytest.raises(ConfigError, match=helps):
        DedupConfig(threshold=0.05, num_hashes=num_hashes)
    assert DedupConfig(threshold=0.05, num_hashes=num_hashes, bands=64, rows=1).banding == (64, 1)


@pytest.mark.parametrize("method", ["supershingles", "two-stage"])
def test_supershingles_have_rows_of_their_own(method: str) -> None:
    """DEDUP_ROWS is for bands, which these have not: it says nothing of them."""
    assert METHODS[method](**DedupConfig(method=method).sketch_options).tables == 6
    config = DedupConfig(method=method, bands=20, rows=5, method_options={"rows": 7})
    assert config.sketch_options["rows"] == 7
    for rows in (0, 10**9):
        with pytest.raises(ConfigError, match=rf"^DEDUP_METHOD {method}: rows must be from 1 to "):
            DedupConfig(method=method, method_options={"rows": rows})
    with pytest.raises(ConfigError, match="set DEDUP_ROWS"):
        DedupConfig(method_options={"rows": 7})


@pytest.mark.parametrize(
    ("method", "name", "value", "kind"),
    [
        ("simhash", "distance", "3", "whole number"),
        ("smallest", "min_matches", True, "whole number"),
        ("modulo", "score", 1, "word"),
    ],
)
def test_an_option_has_its_type(method: str, name: str, value: object, kind: str) -> None:
    """A number in quotes is told by its name, and not as what Python cannot compare."""
    with pytest.raises(ConfigError, match=f"^DEDUP_METHOD_OPTIONS expects {name} to be a {kind}"):
        DedupConfig(method=method, method_options={name: value})
