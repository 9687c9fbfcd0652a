"""Every method is unbiased where it says so, honest about its error, and finds what it should."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.dedup.fingerprint import verification_sketches
from crawler.dedup.sketches import METHODS, FastSimilaritySketch, Method, Sketcher
from crawler.dedup.sketches.hashing import draw_numbers
from crawler.dedup.sketches.odd import compare_odd, measure_difference, odd_sketch
from crawler.dedup.sketches.shingles import shingle_hashes
from crawler.dedup.sketches.similarity import Estimate, containment, estimate, jaccard

OPTIONS = [
    ("fast", {}),
    ("minwise", {}),
    ("one-permutation", {}),
    ("smallest", {}),
    ("modulo", {"score": "resemblance"}),
    ("modulo", {"modulus": 1, "num_hashes": 64, "score": "resemblance"}),
    ("modulo", {}),
    ("supershingles", {}),
    ("simhash", {}),
    ("simhash", {"num_hashes": 128, "distance": 2, "blocks": 4}),
    ("two-stage", {}),
]
METHOD = pytest.mark.parametrize(("name", "options"), OPTIONS)


def pair(
    draw: np.random.Generator, size: int, similarity: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Two sets of *size* random hashes whose resemblance is as near *similarity* as can be."""
    shared = round(2 * size * similarity / (1 + similarity))
    values = draw.integers(0, 2**64, 2 * size - shared, dtype=np.uint64)
    return values[:size], values[size - shared :], shared / (2 * size - shared)


def candidates(method: Method, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether an index would compare the two, by the rule of Method."""
    ours, theirs = method.keys(a), method.keys(b)
    shared = np.isin(ours, theirs) if method.tables is None else ours == theirs
    needed = min(method.min_matches, ours.size, theirs.size)
    return 0 < needed <= int(np.count_nonzero(shared))


@METHOD
@settings(max_examples=30)  # of each method
@given(st.sets(st.integers(0, 2**64 - 1), max_size=40), st.randoms(use_true_random=False))
def test_a_sketch_is_of_the_set(
    name: str, options: dict[str, object], values: set[int], draw: object
) -> None:
    method = METHODS[name](**options)
    shuffled = [*values, *list(values)[:10]]
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    plain = method.sketch(np.array(sorted(values), np.uint64))
    assert np.array_equal(plain, method.sketch(np.array(shuffled, np.uint64)))
    assert plain.dtype == method.dtype
    if method.tables is not None and values:
        assert method.keys(plain).shape == (method.tables,)
    assert method.keys(plain).dtype == np.uint32


@METHOD
def test_a_text_is_itself_and_nothing_is_like_no_text(
    name: str, options: dict[str, object]
) -> None:
    sketcher = Sketcher(method=name, **options)
    text, empty = sketcher.sketch(" ".join(map(str, range(300)))), sketcher.sketch("…")
    assert sketcher.estimate(text, text).similarity == 1.0
    assert candidates(sketcher.method, text, text)
    assert empty.shape == (0,)
    assert sketcher.keys(empty).size == 0
    for a, b in ((text, empty), (empty, text)):
        assert sketcher.estimate(a, b) == Estimate.certain(0.0)


@METHOD
def test_texts_without_words_are_equal(name: str, options: dict[str, object]) -> None:
    """All that compares says what the exact resemblance of two empty sets is: 1."""
    sketcher = Sketcher(method=name, **options)
    shingles, sketch = sketcher.shingles("…"), sketcher.sketch("…")
    assert jaccard(shingles, shingles) == 1.0
    for estimated in (sketcher.estimate, sketcher.method.estimate, estimate):
        assert estimated(sketch, sketch) == Estimate.certain(1.0)
    ours = verification_sketches(sketcher.method, shingles, sketch, 1024, 0.8)
    assert compare_odd(ours[0], ours, bits=1024).similarity == 1.0


def test_members_on_one_bit_are_told_apart_where_sets_are_known_to_differ() -> None:
    """Two at least, if both sets are whole and of one size."""
    same = np.arange(1, 6, dtype=np.uint64) << np.uint64(50)
    one, other = (np.append(same, np.uint64(value << 32)) for value in (0, 1))
    a, b = (odd_sketch(hashes, 0, 1024) for hashes in (one, other))
    assert a == b
    assert compare_odd(a, [b], bits=1024).similarity == 1.0
    found = compare_odd(a, [b], bits=1024, differ=True)
    assert found.similarity == pytest.approx(5 / 7, abs=0.001)
    larger = odd_sketch(np.append(same, one[-1:] + np.arange(3, dtype=np.uint64)), 0, 1024)
    assert measure_difference(a, [larger], differ=True) == (0, 8)


def test_an_empty_sample_is_no_empty_text() -> None:
    """Of two texts of which no shingle happens to be sampled nothing is known."""
    sketcher = Sketcher(method="modulo", modulus=1 << 20)
    one, other = sketcher.sketch("one two three four five"), sketcher.sketch("six " * 5)
    assert sketcher.keys(one).size == sketcher.keys(other).size == 0
    found = sketcher.estimate(one, other)
    assert (found.similarity, found.low, found.high) == (0.0, 0.0, 1.0)


@METHOD
def test_ways_to_the_same_sketch(name: str, options: dict[str, object]) -> None:
    sketcher = Sketcher(method=name, size=3, **options)
    texts = [" ".join(str(n % 7 * n) for n in range(count)) for count in (0, 1, 2, 3, 40, 400)]
    together = sketcher.sketch_many(texts)
    for text, sketch in zip(texts, together, strict=True):
        assert np.array_equal(sketch, sketcher.sketch(text))
        assert np.array_equal(sketch, sketcher.sketch_shingles(sketcher.shingles(text)))


@METHOD
@pytest.mark.parametrize("size", [90, 500])
def test_intervals_hold_the_resemblance(name: str, options: dict[str, object], size: int) -> None:
    method = METHODS[name](**options)
    draw = np.random.default_rng(size)
    for similarity in (0.5, 0.8, 0.95):
        held = 0
        for _ in range(200):
            a, b, truth = pair(draw, size, similarity)
            if method.by_keys:
                truth = containment(np.sort(a), np.sort(b))
            found = method.estimate(method.sketch(a), method.sketch(b))
            held += found.low - 1e-9 <= truth <= found.high + 1e-9
        assert held >= 200 * 0.89, similarity


@METHOD
@pytest.mark.parametrize("similarity", [0.5, 0.8, 0.95])
def test_intervals_have_the_level_asked_for_and_errors_their_size(
    name: str, options: dict[str, object], similarity: float
) -> None:
    method = METHODS[name](**options)
    draw = np.random.default_rng(11)
    held, errors, stated = dict.fromkeys((0.8, 0.99), 0), [], []
    for _ in range(100):
        a, b, truth = pair(draw, 500, similarity)
        if method.by_keys:
            truth = containment(np.sort(a), np.sort(b))
        sketches = method.sketch(a), method.sketch(b)
        for level in held:
            found = method.estimate(*sketches, confidence=level)
            held[level] += found.low - 1e-9 <= truth <= found.high + 1e-9
        errors.append(found.similarity - truth)
        stated.append(found.error)
    assert held[0.8] >= 70
    assert held[0.99] >= 95
    assert 0.5 < math.hypot(*stated) / math.hypot(*errors) < 2


@pytest.mark.parametrize("name", ["fast", "minwise", "one-permutation", "smallest"])
@pytest.mark.parametrize(("size", "similarity"), [(40, 0.6), (500, 0.5), (500, 0.85)])
def test_estimates_are_unbiased_with_the_error_they_state(
    name: str, size: int, similarity: float
) -> None:
    method = METHODS[name](num_hashes=128)
    draw = np.random.default_rng(1)
    errors = []
    for _ in range(500):
        a, b, truth = pair(draw, size, similarity)
        errors.append(method.estimate(method.sketch(a), method.sketch(b)).similarity - truth)
    stated = math.sqrt(truth * (1 - truth) / 128)
    assert abs(np.mean(errors)) < 4 * stated / math.sqrt(500)
    assert np.std(errors) < 1.25 * stated


@pytest.mark.parametrize("size", [90, 500])
def test_the_fast_sketch_errs_less_than_independent_permutations(size: int) -> None:
    method = FastSimilaritySketch(256)
    draw = np.random.default_rng(3)
    pairs = [pair(draw, size, 0.8) for _ in range(1500)]
    offsets = np.arange(0, 2 * len(pairs) * size + 1, size)
    sketches = np.stack(
        method.sketch_batch(np.concatenate([one for a, b, _ in pairs for one in (a, b)]), offsets)
    )
    truth = pairs[0][2]
    errors = (sketches[::2] == sketches[1::2]).mean(axis=1) - truth
    assert np.mean(errors**2) < 0.75 * truth * (1 - truth) / 256


def slow_fast_sketch(values: list[int], bins: int, seed: int) -> list[int]:
    """Algorithm 1 of Dahlgaard, Knudsen, Thorup, one shingle and one round at a time."""
    factors = [int(factor) | 1 for factor in draw_numbers(2 * bins, seed)]
    best: list[tuple[int, int] | None] = [None] * bins
    for number, factor in enumerate(factors):
        for value in values:
            product = value * factor % 2**64
            place = (product >> 32) * bins >> 32 if number < bins else number - bins
            key = (number, product % 2**56)
            if best[place] is None or key < best[place]:
                best[place] = key
    return [key[1] * 0x9E3779B97F4A7C15 % 2**64 >> 32 for key in best if key is not None]


@given(st.sets(st.integers(0, 2**64 - 1), min_size=1, max_size=60), st.integers(1, 70))
def test_the_fast_sketch_is_the_papers(values: set[int], bins: int) -> None:
    method = FastSimilaritySketch(bins, seed=5, rows=1)
    found = method.sketch(np.array(list(values), np.uint64)).tolist()
    assert found == slow_fast_sketch(sorted(values), bins, 5)


def test_low_bits_of_values_are_fair_and_say_nothing_of_the_rest() -> None:
    """Bands and few-bit sketches take them."""
    method = FastSimilaritySketch(256)
    draw = np.random.default_rng(1)
    sketches = np.stack(
        [method.sketch(draw.integers(0, 2**64, 90, dtype=np.uint64)) for _ in range(400)]
    )
    for bits in (1, 4):
        counts = np.bincount((sketches & (2**bits - 1)).ravel(), minlength=2**bits)
        expected = sketches.size / 2**bits
        # Winners are shared by bins of one text: the counts vary more than a multinomial's.
        assert np.abs(counts - expected).max() < 8 * math.sqrt(expected)
    unrelated = (sketches[::2] & 15) == (sketches[1::2] & 15)
    assert unrelated.mean() == pytest.approx(1 / 16, abs=0.005)


@pytest.mark.parametrize("name", ["fast", "minwise", "one-permutation"])
def test_default_keys_find_95_of_100_pairs_at_the_threshold(name: str) -> None:
    method = METHODS[name]()
    draw = np.random.default_rng(7)
    found = 0
    for _ in range(600):
        a, b, _ = pair(draw, 500, 0.8)
        found += candidates(method, method.sketch(a), method.sketch(b))
    assert found >= 600 * 0.93


def test_smallest_and_modulo_find_all_pairs_at_the_threshold() -> None:
    draw = np.random.default_rng(7)
    for name in ("smallest", "modulo"):
        method = METHODS[name]()
        for _ in range(100):
            a, b, _ = pair(draw, 300, 0.8)
            assert candidates(method, method.sketch(a), method.sketch(b))


def test_smallest_compares_short_texts_exactly() -> None:
    sketcher = Sketcher(method="smallest", num_hashes=64, size=2)
    a, b = (" ".join(map(str, range(start, start + 40))) for start in (0, 10))
    found = sketcher.estimate(sketcher.sketch(a), sketcher.sketch(b))
    exact = jaccard(sketcher.shingles(a), sketcher.shingles(b))
    assert (found.similarity, found.low, found.high, found.error) == (exact, exact, exact, 0.0)


def test_texts_with_fewer_keys_than_matches_asked_for_are_found() -> None:
    sketcher = Sketcher(method="smallest", min_matches=4)
    a, b = sketcher.sketch("to be or not to be"), sketcher.sketch("to be or not, to be!")
    assert sketcher.keys(a).size == 2
    assert candidates(sketcher.method, a, b)


def test_modulo_finds_a_quotation_in_a_long_page() -> None:
    sketcher = Sketcher(method="modulo", size=3)
    page = " ".join(map(str, range(700)))
    quotation = " ".join(map(str, range(300, 360)))
    inside = sketcher.estimate(sketcher.sketch(quotation), sketcher.sketch(page))
    around = sketcher.estimate(sketcher.sketch(page), sketcher.sketch(quotation))
    assert inside.similarity == 1.0
    assert around.similarity < 0.2


def test_modulo_keeps_long_texts_within_its_bound() -> None:
    method = METHODS["modulo"](num_hashes=50, score="resemblance")  # type: ignore[call-arg]
    draw = np.random.default_rng(1)
    a, b, truth = pair(draw, 20_000, 0.8)
    few, many = method.sketch(a[:200]), method.sketch(a)
    assert few.size - 1 <= 50
    assert 10 < many.size - 1 <= 50
    assert abs(method.estimate(many, method.sketch(b)).similarity - truth) < 0.3
    assert method.estimate(few, many).similarity <= 1.0


def test_simhash_finds_every_pair_within_its_distance() -> None:
    for options in ({}, {"distance": 3, "blocks": 4}, {"num_hashes": 128, "blocks": 6}):
        method = METHODS["simhash"](**options)
        draw = np.random.default_rng(1)
        bits = method.num_hashes  # type: ignore[attr-defined]
        for _ in range(100):
            a = draw.integers(0, 2**64, bits // 64, dtype=np.uint64)
            b = a.copy()
            for bit in draw.choice(bits, 3, replace=False).tolist():
                b[bit // 64] ^= np.uint64(1 << bit % 64)
            assert candidates(method, a, b)


def test_two_stages_must_agree() -> None:
    method = METHODS["two-stage"]()
    a, b, _ = pair(np.random.default_rng(2), 500, 0.95)
    first, second = method.sketch(a), method.sketch(b)
    both = method.estimate(first, second).similarity
    assert both > 0.8
    second[6:] = ~first[6:]  # a simhash that says the opposite
    assert method.estimate(first, second).similarity == 0.0


@pytest.mark.parametrize("name", sorted(METHODS))
def test_another_seed_is_another_sketch(name: str) -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 300, dtype=np.uint64)
    one, other = (METHODS[name](seed=seed).sketch(values) for seed in (1, 2))
    assert not np.array_equal(one, other)


def test_long_texts_are_sketched_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 3000, dtype=np.uint64)
    whole = {name: METHODS[name]().sketch(values) for name in METHODS}
    monkeypatch.setattr("crawler.dedup.sketches.fast._PIECE", 70)
    monkeypatch.setattr("crawler.dedup.sketches.minwise._HELD", 1000)
    monkeypatch.setattr("crawler.dedup.sketches.simhash._HELD", 70)
    for name in METHODS:
        assert np.array_equal(METHODS[name]().sketch(values), whole[name])


def test_sketches_are_the_same_on_every_machine() -> None:
    """An index outlives the process that made it: these numbers must never change."""
    values = np.arange(1, 50, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    first = {name: METHODS[name]().sketch(values)[:2].tolist() for name in METHODS}
    assert first == {
        "fast": [3318031715, 3687818805],
        "minwise": [2115152732, 3736892232],
        "one-permutation": [3318031715, 1968392295],
        "smallest": [33236299844345463, 66472599688690926],
        "modulo": [3, 804922464060793154],
        "supershingles": [10277359820148995467, 18381489040409438005],
        "simhash": [109772059317502272],
        "two-stage": [10277359820148995467, 18381489040409438005],
    }


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"no sketch method 'fats'.*fast, minwise"):
        Sketcher(method="fats")
    with pytest.raises(TypeError, match="modulus"):
        Sketcher(modulus=3)
    for options in (
        {"num_hashes": 0},
        {"num_hashes": 10, "bands": 2, "rows": 7},
        {"rows": 0},
        {"rows": 33},
        {"method": "smallest", "num_hashes": 0},
        {"method": "smallest", "min_matches": 17},
        {"method": "modulo", "modulus": 0},
        {"method": "modulo", "num_hashes": 0},
        {"method": "modulo", "min_matches": 0},
        {"method": "modulo", "score": "best"},
        {"method": "supershingles", "rows": 0},
        {"method": "supershingles", "min_matches": 7},
        {"method": "simhash", "num_hashes": 100},
        {"method": "simhash", "blocks": 3},
    ):
        with pytest.raises(ValueError, match=r"must|fit"):
            Sketcher(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fast", {"num_hashes": 128}),
        ("supershingles", {"num_hashes": 14, "min_matches": 1}),
        ("simhash", {"num_hashes": 384}),
        ("two-stage", {"num_hashes": 384}),
        ("modulo", {"modulus": 5}),
        ("modulo", {"modulus": 1}),
    ],
)
def test_sketches_of_other_sizes_are_refused(name: str, options: dict[str, object]) -> None:
    """numpy would stretch the shorter of two sketches, and the estimate be of nothing."""
    text = " ".join(map(str, range(300)))
    one, other = Sketcher(method=name), Sketcher(method=name, **options)
    for sketches in ((one, other), (other, one)):
        a, b = (sketcher.sketch(text) for sketcher in sketches)
        for sketcher in sketches:
            with pytest.raises(ValueError, match=r"shape|modulus"):
                sketcher.estimate(a, b)


def test_parameters_of_the_shingles_reach_them() -> None:
    sketcher = Sketcher(size=3, unit="char", step=2, repeats=True, seed=9)
    expected = shingle_hashes("abcabcabc", size=3, unit="char", step=2, repeats=True, seed=9)
    assert sketcher.shingles("abcabcabc").tolist() == expected.tolist()
