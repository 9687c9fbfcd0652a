"""The worked examples of the four documents this project comes from, with their numbers.

- "Shingling - Near Duplicate Detection", a post of 2009;
- "Lecture 17: Shingles" of a course on search engines, 2021;
- "Near duplicate detection", slides of a course on information retrieval;
- the DSound paper, on phonetic correction before shingling.

Where a document errs, the test says so and holds the right value.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from crawler.dedup.sketches import MinwisePermutations, Sketcher, SmallestN
from crawler.dedup.sketches.lsh import collision_probability, error_areas
from crawler.dedup.sketches.shingles import Shingler, shingle_hashes
from crawler.dedup.sketches.similarity import containment, estimate, jaccard
from crawler.dedup.text.normaliser import Normaliser


def shingles_of(*texts: str, size: int, unit: str = "word") -> set[int]:
    """Hashes of the texts, each of them one shingle."""
    whole = [shingle_hashes(text, size=size, unit=unit) for text in texts]
    assert all(one.size == 1 for one in whole)
    return {int(one[0]) for one in whole}


# The post


def test_post_to_be_or_not_to_be() -> None:
    found = shingle_hashes("to be or not to be, that is the question", size=4)
    assert set(found.tolist()) == shingles_of(
        "to be or not",
        "be or not to",
        "or not to be",
        "not to be that",
        "to be that is",
        "be that is the",
        "that is the question",
        size=4,
    )


def test_post_jaccard_of_equal_and_of_foreign_sets() -> None:
    one = shingle_hashes("to be or not to be", size=4)
    other = shingle_hashes("that is the question", size=4)
    assert jaccard(one, one) == 1.0
    assert jaccard(one, other) == 0.0


RETWEETS = (
    "phpnw08: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! <– w00t!",
    "PHPNW: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! <– w00t!",
    "phpcodemonkey: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! <– w00t!",
    "juokaz: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! <– Woot!! :)",
    "DragonBe: RT @phpnw: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! <– w00t!",
    "jakub_zalas: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! <– w00t!",
    "AnthonySterling: RT: @phpnw09 1 Week ‘til #phpnw09 - let me hear you say w00t! - w00t! :-D",
    "ruby_gem: RT @phpcodemonkey: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t!",
    "oatie: RT @phpcodemonkey: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t! "
    "<– w00t!",
    "DASPRiD: RT @DragonBe RT @phpnw: RT @phpnw09: 1 Week ‘til #phpnw09 - let me hear you say "
    "w00t! <– w00t! <– w00t",
)
OTHER_TWEETS = (
    "Looking forward to #phpnw09, hotel and train tickets are booked",
    "Which talks will you see at #phpnw09 on saturday?",
    "Slides of my #phpnw09 talk are nearly done",
)


@pytest.mark.parametrize("seed", range(20))
def test_post_search_for_retweets(seed: int) -> None:
    """Modulo 3 as in the post: ten found, and none for a tweet that nobody repeated."""
    sketcher = Sketcher(method="modulo", modulus=3, size=4, seed=seed)
    index = sketcher.sketch_many([*RETWEETS, *OTHER_TWEETS])

    def search(text: str, threshold: float) -> list[int]:
        asked = sketcher.sketch(text)
        scores = [sketcher.estimate(asked, page).similarity for page in index]
        return [number for number, score in enumerate(scores) if score >= threshold]

    retweeted = "phpnw09: 1 Week ‘til #phpnw09 - let me hear you say w00t!"
    unrelated = (
        "xim123: @loonytoons Well I’ve booked train tickets for saturday now (despite "
        "thetrainline best efforts to prevent me), see you there #phpnw09"
    )
    # Of its eight shingles there may be none under a seed that is 0 modulo 3.
    is_sampled = sketcher.keys(sketcher.sketch(retweeted)).size > 0
    assert search(retweeted, 0.5) == (list(range(10)) if is_sampled else [])
    assert search(unrelated, 0.01) == []


def test_post_supershingles_need_long_alike_documents() -> None:
    """Similar documents are likely to share one; short ones that differ a little may not."""
    sketcher = Sketcher(method="supershingles")
    words = [f"w{number}" for number in range(1000)]
    changed = [*words[:500], "changed", *words[501:]]
    short, short_changed = words[:20], [*words[:10], "changed", *words[11:20]]
    long_pair = [sketcher.sketch(" ".join(text)) for text in (words, changed)]
    short_pair = [sketcher.sketch(" ".join(text)) for text in (short, short_changed)]
    assert np.count_nonzero(long_pair[0] == long_pair[1]) >= 2
    assert np.count_nonzero(short_pair[0] == short_pair[1]) == 0


# The lecture


def test_lecture_two_shingles_of_abcdabd() -> None:
    found = shingle_hashes("abcdabd", unit="char", size=2)
    expected = shingles_of("ab", "bc", "cd", "da", "bd", unit="char", size=2)
    assert set(found.tolist()) == expected


def test_lecture_sets_with_similarity_three_eighths() -> None:
    s, t = np.array([1, 2, 3, 4, 5], np.uint64), np.array([3, 4, 5, 6, 7, 8], np.uint64)
    assert jaccard(s, t) == 3 / 8


LINUX_GET_URL = (
    118989564705677488, 118993962752190332, 130609402609293028, 130703960609319174,
    168981396494694060, 177539890157274494, 184314166939961877, 186826603892655687,
    195933926610954092, 220539590904835157,
)  # fmt: skip
LINUX_GET_SSL = (
    40923561173765480, 60529522094422068, 118989564705677488, 118993962752190332,
    130609402609293028, 168981396494694060, 177539890157274494, 184314166939961877,
    220539590904835157, 236557822413782588,
)  # fmt: skip


def test_lecture_ten_smallest_shingles() -> None:
    """Seven of ten are shared.

    The lecture's script calls 20, the sum of both lists, their union, and 14 of 20 the similarity,
    which is Dice's coefficient. The lists' Jaccard coefficient is 7/13, and the ten smallest of the
    union, six of which are in both lists, estimate the files' at 0.6.
    """
    a, b = np.array(LINUX_GET_URL, np.uint64), np.array(LINUX_GET_SSL, np.uint64)
    assert containment(a, b) == containment(b, a) == 0.7
    assert 2 * np.intersect1d(a, b).size / (a.size + b.size) == 14 / 20
    assert jaccard(a, b) == 7 / 13
    assert SmallestN(num_hashes=10).estimate(a, b).similarity == 0.6


def test_lecture_too_small_a_number_of_shingles_can_generate_a_false_match() -> None:
    def similarities(count: int, step: int) -> list[float]:
        shared = "int main( int argc, char **argv ) { if ( argc != 2 ) { usage( ); return 1; } "
        a, b = (
            shared + " ".join(f"call_{number}( );" for number in range(start, start + 40))
            for start in (0, 1000)
        )
        found = []
        for seed in range(100):
            sketcher = Sketcher(
                count, size=25, unit="char", step=step, method="smallest", seed=seed
            )
            found.append(sketcher.estimate(sketcher.sketch(a), sketcher.sketch(b)).similarity)
        return found

    assert max(similarities(1, step=1)) == 1.0
    assert max(similarities(50, step=5)) < 0.5


def test_lecture_shingles_with_duplicates_reported() -> None:
    """The -d option: unique shingles by default."""
    text = "ab" * 20
    assert len(shingle_hashes(text, unit="char", size=5)) == 2
    assert len(shingle_hashes(text, unit="char", size=5, repeats=True)) == 36


# The slides

HOBBIT = "In a hole in the ground there lived a hobbit"


def test_slides_five_grams_of_the_hobbit() -> None:
    found = shingle_hashes(HOBBIT, size=5)
    assert set(found.tolist()) == shingles_of(
        "In a hole in the",
        "a hole in the ground",
        "hole in the ground there",
        "in the ground there lived",
        "the ground there lived a",
        "ground there lived a hobbit",
        size=5,
    )


def test_slides_six_word_shingles_of_the_hobbit() -> None:
    """The slide's six sets are five-word shingles; of six words there are five."""
    assert len(shingle_hashes(HOBBIT, size=6)) == 5


def test_slides_the_three_shingles_that_a_changed_word_changes() -> None:
    before = set(shingle_hashes(HOBBIT, size=3).tolist())
    after = set(shingle_hashes(HOBBIT.replace("lived", "was"), size=3).tolist())
    assert before - after == shingles_of(
        "ground there lived", "there lived a", "lived a hobbit", size=3
    )
    assert len(after - before) == 3


def test_slides_shingles_that_a_moved_paragraph_changes() -> None:
    """At most 3(k-1), not 2k as the slide says: three places are torn open, not two."""
    size = 5
    words = [f"w{number}" for number in range(100)]
    moved = [*words[:20], *words[40:70], *words[20:40], *words[70:]]
    before, after = (set(shingle_hashes(" ".join(text)).tolist()) for text in (words, moved))
    assert len(before - after) == 3 * (size - 1)


def test_slides_jaccard_of_the_oakland_sentences() -> None:
    first, second, third = (
        shingle_hashes(text, size=2)
        for text in (
            "Jack London traveled to Oakland",
            "Jack London traveled to the city of Oakland",
            "Jack traveled from Oakland to London",
        )
    )
    assert (first.size, second.size, third.size) == (4, 7, 5)
    assert jaccard(first, second) == 3 / 8
    assert jaccard(first, third) == jaccard(second, third) == 0.0


def running_table(
    columns: Sequence[set[int]], rows: int, functions: Sequence[Callable[[int], int]]
) -> list[list[list[float]]]:
    """The slides' algorithm: the slots of all columns and functions after each row."""
    slots = [[math.inf] * len(columns) for _ in functions]
    history = []
    for row in range(rows):
        for function, slot in zip(functions, slots, strict=True):
            for number, column in enumerate(columns):
                if row in column:
                    slot[number] = min(slot[number], function(row))
        history.append([list(slot) for slot in slots])
    return history


def agreement(signatures: Sequence[Sequence[float]], a: int, b: int) -> float:
    return sum(row[a] == row[b] for row in signatures) / len(signatures)


def test_slides_signature_matrices() -> None:
    columns = [{0, 1, 5, 6}, {2, 3, 4}, {0, 5, 6}, {1, 2, 3, 4}]
    permutations = [
        [1, 3, 7, 6, 2, 5, 4],
        [4, 2, 1, 3, 6, 7, 5],
        [3, 4, 7, 6, 1, 2, 5],
    ]
    functions = [permutation.__getitem__ for permutation in permutations]
    assert running_table(columns, 7, functions)[-1] == [[1, 2, 1, 2], [2, 1, 4, 1], [2, 1, 2, 1]]


def test_slides_hashes_modulo_five() -> None:
    """The slides lose their way here.

    With d1 = {0, 2, 3} and d2 = {0, 2, 4}, J is 2/4: row 1 is in neither and counts for nothing,
    while the slide divides by 5. And h2(2) = 0 is in both columns, so that their least values under
    h2 are equal, 0, where the slide has 1 and 2. The estimate is 1, not 1/2.
    """
    columns = [{0, 2, 3}, {0, 2, 4}]
    table = running_table(columns, 5, [lambda x: x % 5, lambda x: (2 * x + 1) % 5])
    assert table == [
        [[0, 0], [1, 1]],
        [[0, 0], [1, 1]],
        [[0, 0], [0, 0]],
        [[0, 0], [0, 0]],
        [[0, 0], [0, 0]],
    ]
    assert agreement(table[-1], 0, 1) == 1.0
    sets = [np.array(sorted(column), np.uint64) for column in columns]
    assert jaccard(*sets) == 0.5


def test_slides_exercise() -> None:
    """Rows numbered from 0 as in the example before it: estimates 0, 1/2, 1/2; truth 0, 1/3, 1/3.

    Numbered from 1 as the shingles' names, the second estimate is 0.
    """
    columns = [{1, 3}, {0, 2}, {0, 1}]
    functions = [lambda x: (5 * x + 5) % 4, lambda x: (3 * x + 1) % 4]
    signatures = running_table(columns, 4, functions)[-1]
    assert signatures == [[0, 1, 1], [0, 1, 0]]
    assert [agreement(signatures, *two) for two in ((0, 1), (0, 2), (1, 2))] == [0.0, 0.5, 0.5]
    from_one = [{row + 1 for row in column} for column in columns]
    signatures = running_table(from_one, 5, functions)[-1]
    assert signatures == [[1, 0, 2], [1, 0, 0]]
    assert [agreement(signatures, *two) for two in ((0, 1), (0, 2), (1, 2))] == [0.0, 0.0, 0.5]
    sets = [np.array(sorted(column), np.uint64) for column in columns]
    assert [jaccard(sets[a], sets[b]) for a, b in ((0, 1), (0, 2), (1, 2))] == [0.0, 1 / 3, 1 / 3]


def test_minwise_sketches_are_the_slides_algorithm() -> None:
    """Same permutations, one row at a time: the same pairs of values are equal."""
    method = MinwisePermutations(num_hashes=60)
    draw = np.random.default_rng(1)
    elements = draw.integers(0, 2**64, 50, dtype=np.uint64)
    columns = [set(range(40)), set(range(10, 50))]
    functions = [
        lambda row, a=int(a), b=int(b): (int(elements[row]) * a + b) % 2**64
        for a, b in zip(method._factors, method._terms, strict=True)
    ]
    signatures = running_table(columns, 50, functions)[-1]
    ours, theirs = (method.sketch(elements[sorted(column)]) for column in columns)
    assert (ours == theirs).tolist() == [row[0] == row[1] for row in signatures]


def test_slides_standard_error_and_interval() -> None:
    a = np.arange(200, dtype=np.uint32)
    b = np.where(a < 160, a, a + 1000)
    found = estimate(a, b, confidence=0.95, interval="normal")
    assert found.similarity == 0.8
    assert found.error == math.sqrt(0.8 * (1 - 0.8) / 200)
    assert found.high - 0.8 == pytest.approx(0.8 - found.low) == pytest.approx(1.96 * 0.0283, 1e-3)


def test_slides_twenty_bands_of_five() -> None:
    """The slide cuts .04749 to 0.0474; a chance in 3000 is 0.00035."""
    missed = 1 - float(collision_probability(0.8, bands=20, rows=5))
    found = float(collision_probability(0.3, bands=20, rows=5))
    assert pytest.approx(0.328, abs=5e-4) == 0.8**5
    assert pytest.approx(0.00243, abs=5e-6) == 0.3**5
    assert missed == pytest.approx(0.00035, abs=1e-5)
    assert found == pytest.approx(0.0474, abs=1e-4)


def test_slides_table_of_the_s_curve() -> None:
    similarity = np.arange(2, 9) / 10
    table = (0.006, 0.047, 0.186, 0.47, 0.802, 0.975, 0.9996)
    assert collision_probability(similarity, bands=20, rows=5) == pytest.approx(table, abs=6e-4)


def test_slides_fewer_bands_fewer_false_positives_more_false_negatives() -> None:
    fifteen, twenty = (error_areas(0.8, bands=bands, rows=5) for bands in (15, 20))
    assert fifteen[0] < twenty[0]
    assert fifteen[1] > twenty[1]


def test_slides_steeper_curve_of_fifty_functions() -> None:
    """Between nothing and certainty: with 10 bands of 5, half of the pairs at 0.58 are found."""
    found = [float(collision_probability(s / 100, bands=10, rows=5)) for s in range(101)]
    assert all(left <= right for left, right in pairwise(found))
    assert found[57] < 0.5 < found[59]


# The paper on phonetic correction


def test_paper_three_shingles_of_abcabcac() -> None:
    expected = shingles_of("abc", "bca", "cab", "cac", unit="char", size=3)
    shingler = Shingler(unit="char", size=3)
    assert set(shingler("abcabcac").tolist()) == expected
    assert len(shingler.in_order("abcabcac")) == 6


def test_paper_a_rose_is_a_rose_is_a_rose() -> None:
    """Eight words have five 4-shingles; the paper lists six before it removes duplicates."""
    rose = "a rose is a rose is a rose"
    expected = shingles_of("a rose is a", "rose is a rose", "is a rose is", size=4)
    assert set(shingle_hashes(rose, size=4).tolist()) == expected
    assert len(shingle_hashes(rose, size=4, repeats=True)) == 5


# All of them


def test_near_duplicates_that_differ_in_a_date() -> None:
    """The lecture's first example of a near duplicate: a last modified date."""
    page = "It grows in dry places and flowers in late spring. Last modified: {} Mar 2021, 10:{}."
    a, b = (
        shingle_hashes(page.format(*date), normaliser=Normaliser(fold_numbers=True))
        for date in ((3, 15), (28, 59))
    )
    assert jaccard(a, b) == 1.0
