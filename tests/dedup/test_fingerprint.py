"""What of a text counts, by setting."""

from __future__ import annotations

import pytest

from crawler.dedup import DedupConfig
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint, Fingerprinter
from tests.texts import article, text

PAGE = text(article(1, 40))


def fingerprint(page: str, **settings: object) -> Fingerprint:
    return Fingerprinter(DedupConfig(**settings), seed=1)(page)


@pytest.mark.parametrize(
    ("distinction", "one", "other"),
    [
        ("case", "The Lamp", "the lamp"),
        ("punctuation", "the lamp, out", "the lamp out!"),
        ("accents", "señor café", "senor cafe"),
        ("numbers", "updated 3 May 2021, 1,204 views", "updated 12 June 2024, 9 views"),
        ("urls", "see https://a.example/x here", "see http://other.example/y?z here"),
        ("reposts", "RT @someone: the news", "the news"),
    ],
)
def test_what_is_ignored_makes_no_difference(distinction: str, one: str, other: str) -> None:
    """Pages that differ in nothing but what DEDUP_IGNORE names are equal, and only then."""
    pages = [f"{PAGE} {part}" for part in (one, other)]
    if distinction == "reposts":  # these stand at the beginning
        pages = [f"{part} {PAGE}" for part in (one, other)]
    with_it = {"case", "punctuation", distinction}
    same = [fingerprint(page, ignore=with_it) for page in pages]
    different = [fingerprint(page, ignore=with_it - {distinction}) for page in pages]
    assert same[0] == same[1]
    assert different[0] != different[1]


@pytest.mark.parametrize(
    "settings",
    [
        {"shingle_size": 4},
        {"shingle_step": 2},
        {"shingle_unit": "char", "shingle_size": 25},
        {"num_hashes": 128, "bands": 12, "rows": 7},
        {"bands": 12, "rows": 7},
        {"verify_bits": 512},
    ],
)
def test_every_parameter_counts(settings: dict[str, object]) -> None:
    """A fingerprint follows the shape of shingles and sketch; the exact hash does not."""
    default, other = fingerprint(PAGE), fingerprint(PAGE, **settings)
    assert (default.bands, default.odd) != (other.bands, other.odd)
    assert default.exact == other.exact


def test_repeats_count_when_asked_to() -> None:
    """A text said twice is the same set of shingles, but not the same bag."""
    twice = f"{PAGE} {PAGE}"
    plain, bag = fingerprint(twice), fingerprint(twice, shingle_repeats=True)
    assert plain.odd[0].members == 40
    assert bag.odd[0].members == 76


@pytest.mark.parametrize(("page", "words"), [("", 0), ("...", 0), ("one", 1), ("a b c d", 4)])
def test_a_short_text_has_an_exact_hash_only(page: str, words: int) -> None:
    """Fewer words than a shingle: nothing to compare but the words themselves."""
    short = fingerprint(page)
    assert (short.words, short.bands, short.odd) == (words, b"", ())
    assert len(short.exact) == EXACT_BYTES


def test_the_seed_changes_everything() -> None:
    """Nothing of a fingerprint can be foretold without the seed."""
    one, other = (Fingerprinter(DedupConfig(), seed=seed)(PAGE) for seed in (1, 2))
    assert one.exact != other.exact
    assert one.bands != other.bands
    assert one.odd != other.odd


@pytest.mark.parametrize("settings", [{}, {"method": "minwise"}, {"shingle_unit": "char"}])
def test_many_at_once_are_as_one_by_one(settings: dict[str, object]) -> None:
    """Texts of all lengths have the same fingerprints in a batch as alone."""
    pages = [text(article(seed, seed % 40 * 20)) for seed in range(80)] + ["", "a b", PAGE * 400]
    one_by_one = Fingerprinter(DedupConfig(**settings), seed=1)
    assert one_by_one.many(pages) == list(map(one_by_one, pages))
