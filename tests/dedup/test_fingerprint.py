"""What of a text counts, by setting."""

from __future__ import annotations

from time import process_time

import pytest

from crawler.dedup import DedupConfig
from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint, Fingerprinter
from crawler.dedup.text import Normaliser
from tests.support.texts import article, text

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


CHECKS = "Backup\n{}\nCalendar\n{}\nTelephone\n{}"
SENTENCES = [f"What the {word} say of it, they have said before now." for word in PAGE.split()[:15]]
STEPS = "{}Wash the rice. {}Boil the water. {}Stir it once. {}Serve the rice while it is hot."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (CHECKS.format("✓", "✗", "✓"), CHECKS.format("✗", "✓", "✗")),
        (CHECKS.format("+", "-", "±"), CHECKS.format("-", "+", "±")),
        (CHECKS.format("<", "●●○", "▲"), CHECKS.format(">", "●○○", "▼")),
        ("It is +3 degrees, 3 °C", "It is -3 degrees, 3 °C"),
        ("气温-5度，明天+2度", "气温+5度，明天-2度"),
        ("الحرارة -٣ درجات", "الحرارة +٣ درجات"),
        ("Температура −3 градуса", "Температура 3 градуса"),
        ("Take 1.5 mg", "Take 1-5 mg"),
        ("Nimm 1,5 mg", "Nimm 1-5 mg"),
        ("Rating: ★ good", "Rating: ★★★★★ good"),
        ("Price: € 5", "Price: $ 5"),
        ("value p < 0.05", "value p > 0.05"),
        ("+x = 1\n-x = 2", "-x = 1\n+x = 2"),
        ("☐ Milk\n☑ Eggs", "☑ Milk\n☐ Eggs"),
    ],
)
def test_signs_that_carry_meaning_are_words(one: str, other: str) -> None:
    """Pages that differ in them alone are no exact copies, unless all signs are ignored."""
    assert fingerprint(one).exact != fingerprint(other).exact
    ignore = {"case", "punctuation"}
    if not one.startswith(("Take", "Nimm", "Temp")):
        assert fingerprint(one, ignore=ignore).exact == fingerprint(other, ignore=ignore).exact


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A slip. It is old.", "A slip.[1] It is old.[2][3]"),
        ("A slip is old, they say. So.", "A slip[4] is old,[5] they say.[6] So."),
        ("It is. So it is. And so. Yes.", "It is.1 So it is.2 And so.3 Yes."),
        ("It is. So it is. And so.", "It is.² So it is.³ And so.⁴"),
        ("是的。他说，好。", "是的。[1]他说，[2]好。"),
        ("Это так. Да.", "Это так.[1] Да.[источник?]"),
        ("هذا صحيح. نعم.", "هذا صحيح.[١] نعم.[بحاجة لمصدر]"),
        ("History\nLong ago", "History[edit]\nLong ago[citation needed]"),
        (STEPS.format("", "", "", ""), STEPS.format("1 ", "2 ", "3 ", "4 ")),
        (STEPS.format("", "", "", ""), STEPS.format("16", "17", "18", "19")),
        (
            "\n".join(f"What they say to us, {PAGE[at:]}" for at in range(4)),
            "\n".join(f"0:{at * 7:02} What they say to us, {PAGE[at:]}" for at in range(4)),
        ),
        *(
            (
                " ".join(SENTENCES),
                " ".join(mark.format(n, 3 * n) + line for n, line in enumerate(SENTENCES, 1)),
            )
            for mark in ("(0:{1:02}) ", "[00:{1:02}] ", "3:{} ", "﴿{}﴾ ", "[p. {1}]")
        ),
        (
            " ".join(SENTENCES),
            " ".join(f"{1 + n // 5}:{1 + n % 5} {line}" for n, line in enumerate(SENTENCES)),
        ),
        (
            "\n".join(SENTENCES),
            "\n".join(f"{n * 13 // 60}:{n * 13 % 60:02} {s}" for n, s in enumerate(SENTENCES, 10)),
        ),
        ("A slip. So.", "A slip.[5]:12–14 So.[6]:3"),
        ("The county engineer", "The county engi-\nneer"),
        ("The county engineer", "The county engi\u00ad \n neer"),
        ("typo\u00adgraphy", "typography"),
        ("- item\n– item\n> quoted – so", "item\nitem\nquoted so"),
        ("1990-1995", "1990–1995"),
        ("✔ done", "✅ done"),
    ],
)
def test_marks_that_carry_no_meaning_are_no_words(one: str, other: str) -> None:
    """A text with them is an exact copy of the one without."""
    assert fingerprint(one).exact == fingerprint(other).exact


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Read argv[1] first", "Read argv[2] first"),
        ("Press [1] to go on", "Press [2] to go on"),
        ("1. Wash it\n2. Boil it\n3. Stir it", "4. Wash it\n5. Boil it\n6. Stir it"),
        ("2019 Report\n2020 Report\n2021 Report", "2020 Report\n2021 Report\n2022 Report"),
        ("09:00 A\n09:30 B\n10:00 C\n11:00 D", "08:00 A\n08:30 B\n09:00 C\n10:00 D"),
        ("Won 3:2. Lost 0:4. Won 1:0. So.", "Won 2:3. Lost 0:3. Won 3:0. So."),
        *(
            tuple(
                " ".join(f"({hour}:{n * 5:02}) {line}" for n, line in enumerate(SENTENCES[:9]))
                for hour in (8, 9)
            ),
        ),
        ("Haupt-\nund Nebensatz", "Hauptund Nebensatz"),
        ("1990-\n1995", "19901995"),
        ("an area of 3 m² or so", "an area of 3 m³ or so"),
    ],
)
def test_numbers_that_say_something_stay(one: str, other: str) -> None:
    """What looks like a mark and runs through no text is part of it."""
    assert fingerprint(one).exact != fingerprint(other).exact


@pytest.mark.parametrize(
    "unit",
    [
        *("[", "[1]", "1\n", "a-\n", ".¹", "a.1 ", "0:00 a\n", "[a", "★", "- ", "<\u200b", " \n<"),
        *("*", "*\n", "%", "′ ", "!=", "&", "(0:00)", "0:1 a.", "#  \n"),
    ],
)
def test_marks_and_signs_take_linear_time(unit: str) -> None:
    """What a rule looks at, a fifth of a megabyte of it, takes no seconds."""
    before = process_time()
    Normaliser(keep_signs=True, drop_marks=True).encode(unit * (200_000 // len(unit)))
    assert process_time() - before < 1.6


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


@pytest.mark.parametrize(
    ("page", "words"), [("", 0), ("(‘’)", 0), ("...", 0), ("one", 1), ("a b c d", 4)]
)
def test_a_short_text_has_an_exact_hash_only(page: str, words: int) -> None:
    """Fewer words than a shingle: nothing to compare but the words themselves."""
    short = fingerprint(page)
    assert (short.words, short.bands, short.odd) == (words, b"", ())
    assert len(short.exact) == EXACT_BYTES


@pytest.mark.parametrize("seed", range(5))
def test_a_few_sampled_shingles_make_no_copy(seed: int) -> None:
    """All of them may be a phrase of the site; that a copy has all shingles is another thing."""
    phrase, options = "read more about our products", {"modulus": 1}
    pages = [f"{phrase} {text(article(number, 3))}" for number in range(20)]
    sampled, whole = (
        Fingerprinter(DedupConfig(method="modulo", method_options=some), seed).many
        for some in (None, options)
    )
    assert {page.bands for page in sampled(pages)} == {b""}
    assert {len(page.bands) for page in whole(pages)} == {4 * 4}
    assert all(page.bands for page in sampled([PAGE * 2]))


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
