"""Texts of pages for display: invisible characters escaped, differences marked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..dedup.analysis.differences import word_changes
from ..dedup.text.characters import ALONE, DROP, MARK, WORD, load_characters, one_writing
from ..dedup.text.normaliser import compose_text
from ..wording import LONG, shorten_word

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

# Controls except tab and line feed, lone surrogates, and characters that change the direction of
# other text.
_INVISIBLE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff]"
)
_LINK: Final = re.compile(r"https?://[^\s\\\"'<>`]+", re.IGNORECASE)
_MOST_LINK: Final = 2000

# As the words that are compared (dedup/text/normaliser.py). Each byte is a character's kind.
_WORD: Final = re.compile(rb"%c[%c%c]*|%c[%c%c%c]*" % (ALONE, DROP, MARK, WORD, DROP, MARK, WORD))
MOST_WORDS: Final = 5000  # of a text that are compared
_CONTEXT: Final = 10  # words shown around a difference


def spell_out(text: str) -> str:
    r"""Spell out the characters of a text that are invisible or disturb other characters.

    >>> spell_out("a\x00b\u202ec") == "a\\x00b\\u202ec"
    True
    """
    return _INVISIBLE.sub(lambda match: _escape_character(match[0]), text)


def _escape_character(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def is_link(url: str) -> bool:
    """Whether a URL is safe for a link.

    >>> is_link("https://example.com/"), is_link("javascript:alert(1)")
    (True, False)
    """
    return len(url) <= _MOST_LINK and bool(_LINK.fullmatch(url)) and spell_out(url) == url


class Segment(NamedTuple):
    """Running text, and whether only this side has it."""

    text: str
    changed: bool


class Row(NamedTuple):
    """A place where two texts differ, after ``skipped`` equal words."""

    skipped: int
    left: list[Segment]
    right: list[Segment]


class TextComparison(NamedTuple):
    """The differences of two texts, and whether the whole texts were compared.

    ``rows`` is None if more than 1,000 words differ.
    """

    rows: list[Row] | None
    is_whole: bool


class _Word(str):
    """A word in its compared form, with its place in the list of words."""

    place: int


class _Text:
    """A text, its first words, and whether these are all of its words."""

    def __init__(self, text: str, ignore: AbstractSet[str], is_whole: bool) -> None:
        self.text = text
        self.is_whole = is_whole
        drops = not ignore.isdisjoint({"punctuation", "typography"})
        kinds = load_characters(drops, False, True).classify_text(text)
        self.spans: list[tuple[int, int]] = []
        self.words: list[_Word] = []
        for match in _WORD.finditer(kinds):
            if len(self.words) == MOST_WORDS:
                self.is_whole = False
                break
            found = one_writing(compose_text(text[slice(*match.span())]))
            word = _Word(found.casefold() if "case" in ignore else found)
            word.place = len(self.words)
            self.words.append(word)
            self.spans.append(match.span())
        if not is_whole and self.spans and self.spans[-1][1] == len(text):  # a part of a word
            del self.words[-1], self.spans[-1]
        self._long = [(start, end) for start, end in self.spans if end - start > LONG]

    def mark_segments(
        self, start: int, end: int, changes: Iterable[tuple[int, int]]
    ) -> list[Segment]:
        """The words from `start` to `end`; the words in `changes` are marked."""
        if start == end:
            return []
        pieces = []
        shown = self.spans[start][0]
        for first, last in changes:
            if first < last:
                begin, stop = self.spans[first][0], self.spans[last - 1][1]
                pieces += [(shown, begin, False), (begin, stop, True)]
                shown = stop
        pieces.append((shown, self.spans[end - 1][1], False))
        return [
            Segment(spell_out(self._shorten_words(begin, stop)), changed)
            for begin, stop, changed in pieces
            if begin < stop
        ]

    def _shorten_words(self, begin: int, stop: int) -> str:
        """The text from `begin` to `stop`, very long words without their middle."""
        parts = []
        for start, end in self._long:
            if begin <= start and end <= stop:
                parts += [self.text[begin:start], shorten_word(self.text[start:end])]
                begin = end
        return "".join([*parts, self.text[begin:stop]])


def side_by_side(
    a: str, b: str, *, ignore: AbstractSet[str], whole: tuple[bool, bool] = (True, True)
) -> TextComparison:
    """The differences of two texts, with some words around each.

    Of `ignore`, as in ``DEDUP_IGNORE``, case, punctuation and typography have an effect here. The
    first 5,000 words of each text are compared; a text that is not `whole` is the beginning of a
    longer one.

    >>> for row in side_by_side("Tea is hot.", "tea is cold", ignore={"case", "punctuation"}).rows:
    ...     print([tuple(one) for one in row.left], [tuple(one) for one in row.right])
    [('Tea is ', False), ('hot', True)] [('tea is ', False), ('cold', True)]
    """
    left, right = _Text(a, ignore, whole[0]), _Text(b, ignore, whole[1])
    is_whole = left.is_whole and right.is_whole
    changes = word_changes(left.words, right.words, whole=(left.is_whole, right.is_whole))
    if changes is None:
        return TextComparison(None, is_whole)
    spans: list[tuple[int, int, int, int]] = []
    at_a = at_b = 0
    for change in changes:
        # A change that only adds, or only removes, knows its place in one text. Up to there both
        # texts advance by as many words.
        if change.removed:
            start_a = _place_of(change.removed)
            start_b = at_b + start_a - at_a
        else:
            start_b = _place_of(change.added)
            start_a = at_a + start_b - at_b
        at_a, at_b = start_a + len(change.removed), start_b + len(change.added)
        spans.append((start_a, at_a, start_b, at_b))
    rows = []
    shown = 0
    for group in _group_spans(spans):
        before = min(_CONTEXT, group[0][0] - shown)
        after = min(_CONTEXT, len(left.words) - group[-1][1], len(right.words) - group[-1][3])
        start_a, start_b = group[0][0] - before, group[0][2] - before
        end_a, end_b = group[-1][1] + after, group[-1][3] + after
        rows.append(
            Row(
                start_a - shown,
                left.mark_segments(start_a, end_a, [span[:2] for span in group]),
                right.mark_segments(start_b, end_b, [span[2:] for span in group]),
            )
        )
        shown = end_a
    return TextComparison(rows, is_whole)


def _place_of(words: tuple[Any, ...]) -> int:
    place: int = words[0].place
    return place


def _group_spans(spans: list[tuple[int, int, int, int]]) -> list[list[tuple[int, int, int, int]]]:
    """Group changes that are so near each other that their contexts meet."""
    groups: list[list[tuple[int, int, int, int]]] = []
    for span in spans:
        if groups and span[0] - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups
