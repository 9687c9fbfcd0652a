"""Features of each block: of itself, its containers, its neighbours and its position."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from itertools import count
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import JUDGED, LIMIT, TAGS, Flat, Floats, Ints, Wide
from ..page.signs import SIGNS, AnyWords
from . import containers, phrases
from .containers import BLOCKS, HEADS, LENGTH, LINKED, LINKS, PROSE, TINY, WORDS, divide_sums

# What a sentence or a quotation ends in, and what parts a text into such: also in Arabic, Urdu,
# Hindi, Burmese, Khmer, Ethiopic, Armenian and Tibetan. Thai and Lao have spaces there.
ENDERS: Final = frozenset('.!?…。！？:;"“”»）)」』؟۔।॥။។።։།')
STOPS: Final = "，。、،؛۔।၊။។፣።։།"
_STOP: Final = re.compile(f"[{STOPS}]|[\u0e00-\u0eff] ")
_TAG_CODES: Final = np.arange(len(TAGS))
_HEADINGS: Final = (2, 4)  # codes of h1 and h4
_REACH: Final = 12  # blocks on either side that are considered
WINDOWS: Final = ((-1, 2), (-3, 4), (-10, 11), (-4, 0), (-12, 0), (1, 5), (1, 13))
NEIGHBOURS: Final = (-2, -1, 1, 2)
SHORT: Final = 20  # characters; shorter texts are not sentences or parts of one
MOST_NAMED: Final = 15.0  # of log-odds: beyond that a page is only deep
MOSTLY_LINKED: Final = 0.7
# For the kind of page: so many blocks of one tag and class are posts or items, so many words are a
# paragraph, unless this share of them is linked, as in a teaser.
MANY: Final = 5
LONG_WORDS: Final = 20
LITTLE_LINKED: Final = 0.3

TITLED: Final = 7  # the column that tells whether the page's title repeats a block


def describe_blocks(flat: Flat, title: str, scores: AnyWords) -> Floats:
    """Return features of the first `JUDGED` blocks, float32, one row for each, among `LIMIT`.

    `title` is that of the page; `scores` say how much class words suggest main text.

    Prose is a block's resemblance to running text, 0 to 1: long, with punctuation and few links.
    Sizes count words, in Chinese and Japanese half the characters. The last columns describe the
    page and are the same for all blocks.
    """
    texts = flat.texts[:LIMIT]
    n = len(texts)
    around = flat.around[:n]
    own, words, prose = _describe_texts(texts, flat.words[:n], flat.linked[:n], title)
    own[:, 5] = np.log1p(flat.links[:n])
    own[:, 8] = flat.depths[around]
    length, linked = own[:, 0], own[:, 1]
    tags = flat.codes[around]
    heading = (tags >= _HEADINGS[0]) & (tags <= _HEADINGS[1])
    sums = np.empty((n, 7))
    sums[:, WORDS], sums[:, LENGTH], sums[:, BLOCKS], sums[:, HEADS] = words, length, 1, heading
    sums[:, PROSE], sums[:, LINKED] = prose * words, linked * words
    np.greater(linked, MOSTLY_LINKED, out=sums[:, LINKS], casting="unsafe")
    # Sums of all blocks before each, as they are beyond both ends, too.
    upto = np.zeros((n + 1 + 2 * _REACH, 7))
    np.cumsum(sums, 0, out=upto[_REACH + 1 : _REACH + 1 + n])
    upto[_REACH + 1 + n :] = upto[_REACH + n]
    total = upto[-1]
    windows = np.empty((n, len(WINDOWS), 7))
    for i, (first, last) in enumerate(WINDOWS):
        np.subtract(
            upto[_REACH + last : _REACH + last + n],
            upto[_REACH + first : _REACH + first + n],
            out=windows[:, i],
        )
    padded = np.zeros((n + 4, 4), np.float32)
    padded[2:-2, :3] = own[:, :3]
    padded[2:-2, 3] = tags
    of_kinds, shared = _sum_kinds(flat.kinds[around], words, prose, linked)
    page = _describe_page(total, of_kinds, tags, words, linked, own[:, 8])
    signs = flat.signs[around].astype("<i8").view(np.uint8).reshape(n, 8)
    parts: list[NDArray[Any]] = [
        own,
        _describe_places(flat, upto[_REACH : _REACH + n], total, tags, heading),
        tags[:, None] == _TAG_CODES,
        np.unpackbits(signs, axis=1, count=len(SIGNS), bitorder="little"),
        divide_sums(windows).reshape(n, -1),
        *(padded[2 + shift : 2 + shift + n] for shift in NEIGHBOURS),
        shared[flat.kinds[around]],
        describe_names(flat, scores)[around],
        *containers.describe_containers(
            upto[_REACH : _REACH + n + 1],
            flat.firsts,
            flat.ends,
            flat.parents,
            count_siblings(flat),
            flat.within[:n],
        ),
        *phrases.describe_phrases(texts[:JUDGED]),
        np.broadcast_to(page, (n, len(page))),
    ]
    return np.concatenate([part[:JUDGED] for part in parts], 1, dtype=np.float32)


def _describe_places(
    flat: Flat, before: Wide, total: Wide, tags: Ints, heading: NDArray[np.bool_]
) -> Floats:
    """Return where each block stands: among words and blocks, headings and containers."""
    n = len(tags)
    row = np.arange(n)
    firsts = np.flatnonzero(tags == _HEADINGS[0])
    since = row - firsts[0] if len(firsts) else np.zeros(n)
    place = np.empty((n, 10), np.float32)
    place[:, :3] = before[:, (WORDS, PROSE, BLOCKS)]
    place[:, :3] /= np.maximum(total[[WORDS, PROSE, BLOCKS]], TINY)
    place[:, 3] = np.sign(since) * np.log1p(np.abs(since))
    place[:, 4] = since >= 0
    place[:, 5] = np.log1p(row - np.maximum.accumulate(np.where(heading, row, -1)))
    place[:, 6] = np.bincount(flat.firsts, minlength=n)[:n]
    place[:, 7] = np.bincount(flat.ends, minlength=n)[:n]
    place[0, 8] = place[-1, 9] = 0
    place[1:, 8] = place[:-1, 9] = tags[1:] == tags[:-1]
    return place


def _describe_texts(
    texts: list[str], counts: Ints, linked_chars: Ints, title: str
) -> tuple[Floats, Wide, Wide]:
    """Return what each block is by itself; its words; how far it is prose."""
    n = len(texts)
    chars = text_lengths(texts)
    spaces = counts.astype(np.float64)
    words = count_words(spaces, chars)
    stops = np.zeros(n)
    long = np.flatnonzero(chars > SHORT)
    stops[long] = [_count_stops(texts[i]) for i in long.tolist()]
    ends = np.fromiter((t[-1] in ENDERS for t in texts), bool, n)
    linked = np.minimum(linked_chars / chars, 1)
    prose = np.minimum(words / 20, 1) * (1 - linked) * ((stops > 0) | ends)
    copies = Counter(texts)
    own = np.empty((n, 9), np.float32)
    own[:, 0], own[:, 1], own[:, 2] = np.log1p(words), linked, prose
    own[:, 3], own[:, 4] = stops / words, ends
    own[:, 6] = np.log(np.fromiter(map(copies.__getitem__, texts), np.float64, n))
    own[:, 7] = 0
    short = np.flatnonzero((chars > 8) & (chars < 200) & (chars <= len(title)))
    own[short, 7] = [texts[i] in title for i in short.tolist()]
    return own, words, prose


def count_words(words: NDArray[Any], chars: Wide) -> Wide:
    """Return the numbers of words of texts, from their parts between spaces and their characters.

    Chinese and Japanese texts count as half of their characters.
    """
    return np.where(chars > 12 * words, chars / 2, words)


def count_siblings(flat: Flat) -> Ints:
    """Return for each container the number of its siblings with the same tag and class."""
    kinds = flat.kinds[flat.holders]
    alike = first_equal(flat.parents * (kinds.max() + 1) + kinds)
    counts: Ints = np.bincount(alike)[alike]
    return counts


def first_equal(numbers: Ints) -> Ints:
    """Return for each number the place of the first equal one, faster than by sorting."""
    firsts: dict[int, int] = {}
    places = map(firsts.setdefault, numbers.tolist(), count())
    return np.fromiter(places, np.int64, len(numbers))


def text_lengths(texts: list[str]) -> Wide:
    """Return how many characters each text has."""
    return np.fromiter(map(len, texts), np.float64, len(texts))


def _count_stops(text: str) -> int:
    count = text.count(",") + text.count(". ")
    if not text.isascii():
        count += len(_STOP.findall(text))
    return count


def _sum_kinds(kin: Ints, words: Wide, prose: Wide, linked: Floats) -> tuple[Wide, Floats]:
    """Return the blocks and words of each tag and class, all over the page, and what they hold."""
    blocks, words_held = np.bincount(kin), np.bincount(kin, words)
    held = np.maximum(words_held, TINY)
    table = np.empty((len(blocks), 4), np.float32)
    table[:, 0] = np.log1p(blocks)
    table[:, 1] = held / words.sum()
    table[:, 2] = np.bincount(kin, prose * words) / held
    table[:, 3] = np.bincount(kin, linked * words) / held
    return np.stack((blocks, words_held)), table


def _describe_page(
    total: Wide, of_kinds: Wide, tags: Ints, words: Wide, linked: Floats, depths: Floats
) -> Floats:
    """Return what tells an article from a forum, a shop or a list: the page as a whole."""
    n = len(words)
    held = max(total[WORDS], TINY)
    long = words > LONG_WORDS
    blocks, words_held = of_kinds
    many = blocks >= MANY
    numbers = (
        np.log1p(n),
        np.log1p(total[WORDS]),
        np.log1p(total[PROSE]),
        total[PROSE] / held,
        total[LINKED] / held,
        depths.sum(dtype=np.float64) / n,
        np.log1p(words.max()),
        np.log1p(long.sum()),
        np.log1p((long & (linked < LITTLE_LINKED)).sum()),
        np.log1p(blocks.max()),
        words_held.max() / held,
        np.log1p(many.sum()),
        (words_held * many).sum() / held,
        *np.bincount(tags, words, len(TAGS)) / held,
        *np.bincount(tags, minlength=len(TAGS)) / n,
    )
    return np.array(numbers, np.float32)


def describe_names(flat: Flat, scores: AnyWords) -> Floats:
    """Return for each element the meaning of its class, of the nearest and of all around it."""
    number = len(flat.names)
    own = scores.mean_values(flat.names)[flat.kinds]
    has_name = np.fromiter(map(bool, flat.names), bool, number)[flat.kinds]
    outer = flat.outer
    nearest = np.where(has_name, np.arange(len(outer)), outer)
    total, most, least = own.copy(), own.copy(), own.copy()
    for _ in range(int(flat.depths.max()).bit_length()):  # twice as many elements each turn
        nearest = nearest[nearest]
        total += total[outer]
        np.maximum(most, most[outer], out=most)
        np.minimum(least, least[outer], out=least)
        outer = outer[outer]
    table = np.empty((len(own), 5), np.float32)
    table[:, 0], table[:, 1], table[:, 3], table[:, 4] = own, own[nearest], most, least
    table[:, 2] = np.minimum(np.maximum(total, -MOST_NAMED), MOST_NAMED)
    return table


with suppress(ImportError):  # compiled, they do the same in less time
    from ._features import describe_blocks, text_lengths  # noqa: F401
