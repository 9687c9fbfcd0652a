"""The most probable encoding of a text that declares none, by its non-ASCII letters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from logging import CRITICAL, Logger
from math import log
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from w3lib.encoding import resolve_encoding

if TYPE_CHECKING:
    from bs4.dammit import UnicodeDammit

_SILENT: Final = Logger(__name__, CRITICAL)
_GUESSED: Final = 2000  # bytes shown to UnicodeDammit, which takes seconds for a megabyte
BEYOND: Final = re.compile(rb"[\x80-\xff]+")
FEW: Final = 20  # bytes
# Bytes beyond ASCII that follow each other, on average; of Western texts: 1.1.
_LATIN_RUN: Final = 2
# The commonest characters beyond ASCII of the languages written in an encoding, each once, and the
# share of them in a text that is read with the right one.
_KANA: Final = (
    "のにはをたがでてとしれさあるいもなからりうっくこそまよんきすけどだつめみやせわえちおー、。"
)
_HAN: Final = (
    "的一是不了在人有他中上大和地到以就出也你生能而子那得下自之年後作用道行所然家成方多如同心，。、"
)
_COMMON: Final = {
    "gb18030": (0.3, f"{_HAN}我这个们来为国说时要会可对着过发里种事经么去法学现当没动面起"),
    "big5hkscs": (0.3, f"{_HAN}我這個們來為國說時要會可對著過發裡種事經麼去法學現當沒動面起"),
    "cp932": (0.5, _KANA),
    "euc_jp": (0.5, _KANA),
    "cp949": (0.3, "이다는에의을가고하지로한은를사기자도대어인시서나리해일라수전정그부있제"),
}
_LAST: Final = 0xFFFF  # the code of the last character of the basic plane, which is none
# Encodings with a byte for each letter, and the letters beyond ASCII of a language in these, the
# commonest first.  Where texts are alike in several encodings, the first is meant.
_CYRILLIC: Final = "cp1251 iso8859-5"
_CENTRAL: Final = "cp1250 iso8859-2"
_BALTIC: Final = "cp1257 iso8859-13"
_ALPHABETS: Final = (
    ("cp1252 iso8859-15", "éäöüèàáóíçßêñúôâåïëøæîùûòìãõ"),  # of several, as in a list of names
    ("cp1252", "éèêàçôûîâùïëœ"),
    ("cp1252", "üäöß"),
    ("cp1252", "óíáéñúü¿¡"),
    ("cp1252", "èàìòùé"),
    ("cp1252", "ãçáéíóêõâúàô"),
    ("cp1252", "àéóíèòçúïü"),
    ("cp1252", "äåöé"),
    ("cp1252", "øåæé"),
    ("cp1252", "áíðéúöóþýæ"),
    ("cp1252", "ëéïèöü"),
    (f"{_BALTIC} cp1252", "äõüöšž"),
    (_BALTIC, "ėšųžąūįčę"),
    (_BALTIC, "āīēšņūļģžčķ"),
    (_CENTRAL, "íáěéřýžčšůúťďňó"),
    (_CENTRAL, "áíčéýžšúľťôňäďóŕĺ"),
    (_CENTRAL, "ąęłóśżćńź"),
    (_CENTRAL, "áéöóőüíúű"),
    (_CENTRAL, "čšžćđ"),
    (_CENTRAL, "ăîâşţ"),
    ("cp1254", "ıüşöçğİâî"),
    ("cp1258", "\u0301\u0300\u0323\u0309\u0303ưđâôêơăàáóéèíúòùìý"),
    (f"{_CYRILLIC} koi8-r", "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё"),
    (f"{_CYRILLIC} koi8-u", "оанивтеріслкудмпзяьбгчйхжїцшєющфґ"),
    (f"{_CYRILLIC} koi8-r", "аоиентрсвлкдпмзугъябчжцщхйюшфь"),
    (_CYRILLIC, "аоиенрјтсвкмудлпзбгћцњчхшљжђфџќѓѕ"),
    (_CYRILLIC, "аніыеркоядстлўшупвбзцгчмьйёхжюэф"),
    ("cp1253 iso8859-7", "αοιετσνηυρπκμλςωίδγάόήθέχφύβώξζψϊ"),
    ("cp1255", "יוהלאמרבתשנםדקעחפטגצסזכןךףץ"),
    ("cp1256 iso8859-6", "اليمونرتبعدهسفةكقحأجشصطخىإذضئثغزءظؤآ"),
    ("cp874", "านรอกเง่มยลว้ิดทีสัตะปบคุห์แจพชขูใไ็ืโผถธณซศภฟญฉษฐฝ"),
)
_GREEK: Final = "\u0370"  # letters from here on are not Latin
_MARKS: Final = "‘«»“”„–—…’·°©®№€£§\xa0"
# Shares, among characters beyond ASCII, of letters in the text's case, letters in the other case,
# and marks; the rest may be anything.  Most Latin letters are in ASCII.
_LATIN: Final = 0.62, 0.06, 0.3
_OTHER: Final = 0.86, 0.06, 0.06
# Logarithms of likelihoods: of a text in capitals, of Western letters (which most pages without a
# declaration have), of a character of ASCII, of a rare one among thousands, of an invalid one.
_CAPITALS: Final = -2.0
_WESTERN: Final = 1.0
_PLAIN: Final = -3.0
_RARE: Final = -log(6000)
_NONE: Final = log(1e-5)
_RANDOM: Final = -log(128)  # of a byte beyond ASCII, if all are equally likely


def sniff_encoding(sample: bytes) -> str:
    """Return the most probable encoding of text that declares none.

    >>> sniff_encoding("Чай, напиток из листа чайного куста".encode("koi8-r"))
    'koi8-r'
    """
    likely = score_encodings(sample, latin=not is_foreign(sample, few=0))
    best = max(likely, key=likely.__getitem__)
    if likely[best] < _RANDOM * np.count_nonzero(_pairs_beyond_ascii(sample)):
        guess = _import_guesser()(sample[:_GUESSED], is_html=True).original_encoding
        return resolve_encoding(guess or "") or "cp1252"
    return best


def score_encodings(sample: bytes, latin: bool | None = None) -> dict[str, float]:
    """Return log-probabilities of the bytes in each encoding, for Latin or other letters.

    Single-byte encodings come first.
    """
    counts = np.bincount(np.frombuffer(sample, np.uint8), minlength=256)
    likely: dict[str, float] = {}
    names, logs = _list_alphabets()
    for (name, of_latin, prior), value in zip(names, (logs @ counts[128:]).tolist(), strict=True):
        if latin in (None, of_latin):
            likely[name] = max(value + prior, likely.get(name, -np.inf))
    for name, (usual, common) in _COMMON.items():
        text = sample.decode(name, "replace")
        beyond, wrong = count_beyond(text), text.count("\ufffd")
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        found = int(np.count_nonzero(_mark_characters(common)[np.minimum(codes, _LAST)]))
        swallowed = int(counts[:128].sum()) - (len(text) - beyond)  # ASCII in two-byte characters
        likely[name] = (
            found * log(usual / len(common))
            + (beyond - found - wrong) * (log(1 - usual) + _RARE)
            + wrong * _NONE
            - swallowed * _PLAIN
        )
    return likely


@cache
def _mark_characters(common: str) -> NDArray[np.bool_]:
    """Whether each character of the basic plane is one of these, by its code."""
    table = np.zeros(_LAST + 1, np.bool_)
    table[[ord(character) for character in common]] = True
    return table


def is_foreign(sample: bytes, few: int = FEW) -> bool:
    """Whether a text is in no Western encoding: its non-ASCII letters are side by side."""
    beyond = _pairs_beyond_ascii(sample)
    begins = int(np.count_nonzero(beyond[1:] > beyond[:-1]) + np.count_nonzero(beyond[:1]))
    return int(np.count_nonzero(beyond)) > max(_LATIN_RUN * begins, few)


def _pairs_beyond_ascii(sample: bytes) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.frombuffer(sample, np.uint8) >= 128
    return found


def count_beyond(text: str) -> int:
    """The number of non-ASCII characters."""
    return len(text) - len(text.encode("ascii", "ignore"))


@cache
def _list_alphabets() -> tuple[list[tuple[str, bool, float]], NDArray[np.float64]]:
    """Return name, whether of Latin letters, and prior of each alphabet in each encoding.

    Then the logarithms of how frequent bytes beyond ASCII are in it, 128 in each row.  A letter's
    frequency follows from its rank (S. M. Gusein-Zade, Problems of Information Transmission, 1988).
    """
    names, rows = [], []
    for encodings, letters in _ALPHABETS:
        weights = np.log((len(letters) + 1) / np.arange(1, len(letters) + 1))
        capitals = [letter.upper() for letter in letters]
        latin = letters < _GREEK
        small, large, marks = _LATIN if latin else _OTHER
        for name in encodings.split():
            # Windows added the marks that Latin-1 has not.
            known = [mark for mark in _MARKS if name.startswith("cp") or mark <= "\xff"]
            western = _WESTERN if name == "cp1252" else 0.0
            for prior, shares in ((0.0, (small, large)), (_CAPITALS, (large, small))):
                row = np.full(128, (1 - small - large - marks) / 128)
                _add_shares(row, name, known, [marks / len(_MARKS)] * len(known))
                for text, share in zip((letters, capitals), shares, strict=True):
                    _add_shares(row, name, text, share * weights / weights.sum())
                names.append((name, latin, prior + western))
                rows.append(np.log(row))
    return names, np.array(rows)


def _add_shares(
    row: NDArray[np.float64],
    name: str,
    characters: Sequence[str],
    shares: Sequence[float] | NDArray[np.float64],
) -> None:
    """Add the shares of characters to the bytes that stand for them in an encoding."""
    for character, share in zip(characters, shares, strict=True):
        code = character.encode(name, "ignore")
        if len(code) == 1 and code > b"\x7f":
            row[code[0] - 128] += share


@cache
def _import_guesser() -> type[UnicodeDammit]:
    from bs4.dammit import UnicodeDammit  # its own imports take as long as all of this room's

    class Guesser(UnicodeDammit):
        """Logs no warnings: they would name no page."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, _SILENT if name == "log" else value)

    return Guesser
