"""Normalised words: two texts with the same words are equal."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from .characters import ALONE, DROP, WORD, load_characters, one_writing
from .marks import without_marks
from .segmentation import UNSPACED_LETTER, segment_text
from .sign_words import Sign, find_sign, with_signs

try:
    from ._normaliser import encode, has_gaps

    COMPILED = True
except ImportError:  # texts with characters beyond ASCII then take some ten times as long
    COMPILED = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .segmentation import Segmenter

_SPACE: Final = ord(" ")

_ASCII: Final = bytes(
    ord(chr(byte).lower()) if chr(byte).isalnum() or byte == ord("_") else _SPACE
    for byte in range(128)
).ljust(256)

# The same if signs count: signs that do not have been removed before.
_ASCII_SIGNS: Final = bytes(
    byte if find_sign(chr(byte)) else _ASCII[byte] for byte in range(128)
).ljust(256)

# Typographic punctuation and the no-break space: most English pages have no others beyond ASCII.
_TYPOGRAPHY: Final = "\u2019\u201c\u201d\u2018\u2013\u2014\u2026\xa0"
# Quotes among them, which are never signs, and an accent in place of an apostrophe.
_QUOTES: Final = "\u2019\u201c\u201d\u2018\u00b4"

# Code points normalised at a time, so that the working arrays do not grow with the page.
_PIECE: Final = 1 << 18

# In scripts without spaces, the text goes on right after a URL or a name in Latin letters, so
# letters and punctuation of such scripts end both. The rest of a URL that contains them stays, so
# that no word of the text is dropped.
_URL: Final = re.compile(rf"(?i:https?://|www\.)[^\s\u3001-\u303f{UNSPACED_LETTER}]+")
_REPOST: Final = re.compile(
    rf"(?i:\b(?:RT|MT|via)\b[\s:]*@)(?:[^\W{UNSPACED_LETTER}]+|\w+):?|(?i:^\s*(?:RT|MT)\b:?)"
)
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
# A number with an English suffix: 3rd, 5:30 pm.
_NUMBER: Final = (
    r"\d+(?:[.,:/\-'\u2019\u066b\u066c\u2044]\d+)*(?:(?:st|nd|rd|th)\b|\s?[ap]\.?m\b\.?)?"
)
_DATE_OR_NUMBER: Final = re.compile(
    rf"{_NUMBER}\s?\b{_MONTH}(?:,?\s{_NUMBER})?|\b{_MONTH}\s{_NUMBER}(?:,\s?{_NUMBER})?|{_NUMBER}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Normaliser:
    r"""How a text is cut into words before it is hashed.

    Always: Unicode NFKC; invisible characters (zero-width, soft hyphen, bidi controls) vanish
    without splitting the word around them; combining marks stay with their letter. A letter of a
    script that is written without spaces (Han, Kana, Thai, Khmer, …) is a word of its own.

    Parameters
    ----------
    fold_case
        ``Straße`` and ``STRASSE`` are one word (Unicode case folding).
    drop_punctuation
        Words are runs of letters, digits and ``_``, like ``\w+``; otherwise every punctuation mark
        and symbol is a word of its own.
    keep_signs
        Punctuation is dropped, but signs that carry meaning at their place are words: signs of
        money, arithmetic and comparison, check marks, stars, a minus before a number, a symbol
        alone in its line; a number keeps the point, comma, colon or slash within it.
    drop_marks
        ``[1]``, ``[edit]``, and numbers of notes and verses and times of a transcript that run
        through the text are dropped; words divided at line ends are joined.
    fold_accents
        ``é`` is ``e``; also Greek and Cyrillic accents, Hebrew points and Arabic vowel marks.
    fold_numbers
        Numbers, times and dates (with digits or English month names) all read ``0``: pages that
        differ only in a date or a counter become equal.
    drop_urls
        ``http://…``, ``https://…`` and ``www.…`` are dropped.
    drop_reposts
        ``RT @name:``, ``MT @name`` and ``via @name`` are dropped.
    segment
        Cuts a run of letters of unspaced scripts into words, for example ``rjieba.cut``.

    Examples
    --------
    >>> Normaliser()("A rose\u00ad\u200b is a ROSE, isn't it?")
    'a rose is a rose isn t it'
    >>> Normaliser(fold_numbers=True)("Seen 12,345 times, last on 3 May 2021 at 10:15")
    'seen 0 times last on 0 at 0'
    >>> Normaliser(drop_reposts=True, drop_urls=True)("RT @phpnw09: 1 Week 'til http://t.co/x")
    '1 week til'
    >>> Normaliser(keep_signs=True, drop_marks=True)("-1.5 °C and ★★ in A - B.[1]")
    '- 1.5 ° c and ★ ★ in a b'
    >>> Normaliser().words("東京 & Füße")
    ['東', '京', 'füsse']
    """

    fold_case: bool = True
    drop_punctuation: bool = True
    fold_accents: bool = False
    fold_numbers: bool = False
    drop_urls: bool = False
    drop_reposts: bool = False
    segment: Segmenter | None = None
    keep_signs: bool = False
    drop_marks: bool = False

    def __call__(self, text: str) -> str:
        """The words of *text*, one space between them."""
        return " ".join(self.words(text))

    def words(self, text: str) -> list[str]:
        """The words of *text*, in order."""
        return self.encode(text).decode().split()

    def encode(self, text: str) -> bytes:
        """The words of *text* in UTF-8, one or more spaces (0x20) between them.

        The shingler reads this form: it needs no Python object for a word.
        """
        text = str.__str__(text)  # lxml and Beautiful Soup have subclasses of str
        if self.drop_marks:
            text = without_marks(text)
        patterns = self.drop_urls or self.drop_reposts or self.fold_numbers
        if patterns or self.segment is not None:
            text = self.reduce_text(text)
        if self.segment is not None:
            text = segment_text(text, self.segment)
        if self.fold_case and self.drop_punctuation:
            most = _PIECE * (8 if self.keep_signs else 1)  # Python takes seconds for many signs
            if COMPILED and not (self.fold_accents or self.segment) and len(text) <= most:
                ask = _by_itself_signs if self.keep_signs else _by_itself
                found = encode(text, ask, self.keep_signs)
                if found is not None:
                    return found
            if not text.isascii():
                text = _plain_quotes(text, self.keep_signs)
            if text.isascii():
                if self.keep_signs:
                    return with_signs(text).encode("ascii").translate(_ASCII_SIGNS)
                return text.encode("ascii").translate(_ASCII)
        return b"".join(map(self._encode_piece, _cut_pieces(text)))

    def reduce_text(self, text: str) -> str:
        """*text* in NFKC, without the URLs, reposts, numbers and accents that are ignored.

        :class:`~.spelling.shape.Shapes`, which rewrites letters, is given this text, because they
        would not be recognised afterwards.
        """
        text = compose_text(text, self.fold_accents)  # for 1½ and invisible characters in numbers
        if self.drop_urls:
            text = _URL.sub(" ", text)
        if self.drop_reposts:
            text = _REPOST.sub(" ", text)
        if self.fold_numbers:
            text = _DATE_OR_NUMBER.sub("0", text)
        return text

    def _encode_piece(self, text: str) -> bytes:
        signs = self.keep_signs and self.drop_punctuation
        known = load_characters(
            self.drop_punctuation, self.fold_accents, self.segment is None, signs
        )
        text = known.drop_invisible(text)
        if self.fold_accents:
            text = known.drop_invisible(unicodedata.normalize("NFKD", text))
        text = one_writing(unicodedata.normalize("NFKC", text))
        text = unicodedata.normalize("NFKC", text.casefold() if self.fold_case else text)
        return known.encode_spaced(with_signs(text) if signs else text)


def compose_text(text: str, fold_accents: bool = False) -> str:
    r"""*text* in NFKC, without invisible characters: equal words have equal letters.

    >>> compose_text("An o\ufb03ce in Zu\u0308\u00adrich\u200b")
    'An office in Zürich'
    """
    if text.isascii():
        return text
    visible = load_characters(True, fold_accents, True).drop_invisible
    pieces = [visible(piece) for piece in _cut_pieces(text)]
    if fold_accents:
        pieces = [visible(unicodedata.normalize("NFKD", piece)) for piece in pieces]
    return "".join(unicodedata.normalize("NFKC", piece) for piece in pieces)


def single_spaced(encoded: bytes) -> bytes:
    """*encoded* words with exactly one space between them and none at the ends.

    >>> single_spaced(b"  to be  or ")
    b'to be or'
    """
    if COMPILED and not has_gaps(encoded):
        return encoded.strip(b" ")
    read = np.frombuffer(encoded + b" ", np.uint8)
    this, following = read[:-1], read[1:]
    spaced: bytes = this[(this != _SPACE) | (following != _SPACE)].tobytes()
    return spaced.lstrip()


def _plain_quotes(text: str, keep_signs: bool) -> str:
    """*text* with ASCII in place of typographic punctuation that makes no difference."""
    for char in _QUOTES if keep_signs else _TYPOGRAPHY:
        text = text.replace(char, "'")
    return text.replace("\xa0", " ").replace("\u2026", "...")


def _by_itself(char: str) -> bytes | None:
    """What the default normaliser writes for *char*; None if that depends on its neighbours.

    NFKC can be applied to characters one by one, unless a character, decomposed, begins with one
    that combines with a letter before it (UAX #15): a mark, or a vowel or final of Hangul. A few
    letters of scripts above the basic plane combine, too, so all of these give None.
    """
    if char.isascii() or char in _TYPOGRAPHY:  # these need no table of characters
        return (char if char.isascii() else " ").encode("ascii").translate(_ASCII)
    known = load_characters(True, False, True)
    if known.of_one(char) == DROP:
        return b""
    first = known.drop_invisible(unicodedata.normalize("NFKD", char))[0]
    if "\u1160" <= first <= "\u11ff" or "\U00010000" <= first < "\U0001d400":
        return None
    if unicodedata.category(first)[0] == "M":
        return None
    folded = one_writing(unicodedata.normalize("NFKC", char))
    folded = unicodedata.normalize("NFKC", folded.casefold())
    found = {known.of_one(letter) for letter in folded}
    if found == {WORD}:
        return folded.encode()
    if found == {ALONE} and len(folded) == 1:
        return f" {folded} ".encode()
    # The letter that follows shows whether `char` ends with a letter that is a word by itself.
    written = Normaliser()._encode_piece(char + "a").removesuffix(b"a")
    return re.sub(b" +", b" ", written)


def _by_itself_signs(char: str) -> bytes | tuple[int, bytes, bytes] | None:
    """Like :func:`_by_itself` if signs count, but a tuple for a sign that may be a word.

    The tuple has the sign's rule, its spelling, and the letters after it that are always written.
    """
    if char in _QUOTES:
        return b" "
    folded = one_writing(unicodedata.normalize("NFKC", char))
    known = [find_sign(letter) for letter in folded]
    rules = [one[0] for one in known if one is not None]
    if not rules:
        return None if folded[:1] == " " and len(folded) > 1 else _by_itself(char)
    if None not in known:
        between = b"" if rules[0] is Sign.SEPARATOR else b" "
        written = between.join(one[1].encode() for one in known if one is not None)
        if len(rules) == 1 or (len({*rules}) == 1 and rules[0] in (Sign.SEPARATOR, Sign.UNIT)):
            return int(rules[0]), written, b""
        if {*rules} <= {Sign.MARK, Sign.NOT}:
            return int(Sign.MARK), written, b""
    elif rules == [Sign.UNIT] and known[0] is not None and folded[1:].isalpha():
        return int(Sign.UNIT), known[0][1].encode(), folded[1:].casefold().encode()
    elif {*rules} == {Sign.SEPARATOR} and known[0] is None and known[-1] is None:
        return with_signs(folded).encode() if folded.replace("\u2044", "").isdecimal() else None
    return None  # it depends on the neighbours


def _cut_pieces(text: str) -> Iterator[str]:
    """Cut *text* at ASCII white space, or anywhere in a text that has none for too long."""
    start = 0
    while len(text) - start > _PIECE:
        end = max(text.rfind(space, start, start + _PIECE) for space in " \n") + 1
        end = end or start + _PIECE
        yield text[start:end]
        start = end
    yield text[start:]
