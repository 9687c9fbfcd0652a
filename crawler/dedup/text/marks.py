"""Marks that do not belong to a text: of notes, verses, times and editing, and line-end hyphens."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

from .segmentation import UNSPACED_LETTER

if TYPE_CHECKING:
    from collections.abc import Iterator

# Phrases in brackets in encyclopedias, in the languages of the largest ones; see `_is_phrase`.
_PHRASES: Final = frozenset(
    """
    edit; edit source; citation needed; clarification needed; dubious – discuss; who?; when?
    by whom?; according to whom?; better source needed; failed verification; dead link
    permanent dead link; original research?; page needed; update; needs update; full citation needed
    vague
    bearbeiten; quelltext bearbeiten; beleg fehlt; beleg?; modifier; modifier le code
    modifier le wikicode; réf. nécessaire; citation nécessaire; réf. souhaitée; réf. à confirmer
    editar; editar código; editar a fonte; editar código-fonte; cita requerida; carece de fontes?
    ¿cuándo?; ¿quién?; modifica; modifica wikitesto; modifica sorgente; senza fonte
    bewerken; brontekst bewerken; bron?; edytuj; edytuj kod; potrzebny przypis; править
    править код; править вики-текст; источник?; ред.; ред. код; джерело?; редагувати
    redigera; redigera wikitext; källa behövs; rediger; rediger kilde; trenger referanse
    kilde mangler; muokkaa; muokkaa wikitekstiä; lähde?; editovat; editovat zdroj; zdroj?
    szerkesztés; forrás?; değiştir; kaynağı değiştir; kaynak belirtilmeli; edita; modifica el codi
    編集; ソースを編集; 要出典; 编辑; 編輯; 编辑源代码; 編輯原始碼; 来源请求; 來源請求; 需要引用
    편집; 원본 편집; 출처 필요; عدل; عدل المصدر; بحاجة لمصدر; ویرایش; ویرایش مبدأ; نیازمند منبع
    עריכה; עריכת קוד מקור; דרוש מקור; επεξεργασία; επεξεργασία κώδικα; εκκρεμεί παραπομπή
    sửa; sửa đổi; sửa mã nguồn; cần dẫn nguồn; sunting; sunting sumber; butuh rujukan
    modificare; modificare sursă; necesită citare; แก้; แก้ไข; ต้องการอ้างอิง; संपादित करें
    """.replace("\n", ";").split(";")
)
_KNOWN: Final = frozenset(phrase.strip() for phrase in _PHRASES) - {""}
_NAMED: Final = re.compile(
    r"(?:note|notes|nb|n|fn|ref|anm|nota|прим|註|注|注釈|註釋|注释|주|lower-alpha|upper-alpha|lower-roman)"
    r"\.?\s?(\d{1,4}|[a-z])"
)
_PAGE: Final = re.compile(
    r"(?:(?:pp?|pg|ss?|стр|с|str|pág|pag|blz)\.|pages?|seiten?|頁|页)\s?\d{1,4}(?:\s?[–-]\s?\d{1,4})?"
)
# The page of a source, which an encyclopedia writes after the number of a note.
_SOURCE_PAGE: Final = re.compile(r":\d{1,4}(?:[–-]\d{1,4})?(?![\w:])")
_KORANIC: Final = re.compile(r"﴿\s?\d{1,3}\s?﴾|﴾\s?\d{1,3}\s?﴿")
_BRACKETED: Final = re.compile(r"[\[［【〔]([^\[\]［］【】〔〕\n]{1,48})[\]］】〕]")
_NUMBERS: Final = re.compile(r"\d{1,4}(?:\s?[,;–-]\s?\d{1,4}){0,5}")
# Ends of a sentence or clause: a number that follows at once can only be a mark.
_END: Final = '.,;:!?…”’"»)。，、；：！？」』）।؟،۔]］】'
_SUPERSCRIPTS: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED_NUMBER: Final = re.compile(rf"\d{{1,3}}(?=\s|$)|[{_SUPERSCRIPTS}]{{1,3}}(?![^\W_])")
# What an exponent follows: a letter that is a word, or a short number.
_BASE: Final = re.compile(r"(?:(?<![^\W_])|^)(?:[^\W\d_]|\d{1,2})$")
_DIGITS: Final = str.maketrans(_SUPERSCRIPTS, "0123456789")
# Verse numbers at the start of a line, perhaps after a chapter, and after a clause. Numbers of list
# items, which a point or bracket follows, are kept.
_AT_LINE: Final = re.compile(r"(?:\d{1,3}[:.])?(\d{1,3})(?:[^\S\n]{1,8}(?=\S)|(?=[^\W\d_]{2}))")
_IN_LINE: Final = re.compile(r"(?:\d{1,3}:)?(\d{1,3})(?:\s{1,2}(?=[^\W\d_]|[“\"])|(?=[^\W\d_]{2}))")
_MOST_NUMBERED: Final = 199  # verses of a psalm, and no year
# What a number counts: the letter beside it, or one of a script without spaces, as 月, else a word.
_COUNTED: Final = re.compile(rf"[{UNSPACED_LETTER}]|(?<=\d)[^\W\d_]|\w+|\S")
# With a capital, as the beginning of a verse: months in English, German, Greek and others.
_MONTH: Final = re.compile(
    "jan|feb|m[aä]r|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz]|"
    "ιαν|φεβ|μαρ|απρ|μαΐ|ιου|αυγ|σεπ|οκτ|νοε|δεκ",
    re.IGNORECASE,
)
_TIME: Final = (
    r"(?:(\d{1,2}):)?(\d{1,2}):(\d{2})(?:[.,]\d{1,3})?"
    r"(?:\s?-->\s?[\d:.,]{4,15}(?:[^\S\n][^\n]{0,60})?)?[\])]?"
)
_STAMP: Final = re.compile(rf"{_TIME}(?=\s|$)")
# Two patterns: each begins with one character, which is found fast.
_BRACKETED_STAMPS: Final = (
    re.compile(r"\((?:(\d{1,2}):)?(\d{1,2}):(\d{2})\)"),
    re.compile(r"\[(?:(\d{1,2}):)?(\d{1,2}):(\d{2})\]"),
)
_CUE: Final = re.compile(r"^\d{1,5}\s{0,3}\n(?=\d{1,2}:\d\d:\d\d[.,]\d{3}\s-->)", re.MULTILINE)
_FEWEST: Final = 3  # so many numbers in order are no chance
_SHARE: Final = 0.6  # of the numbers at places of verse numbers that must be in order
_FEWEST_STAMPS: Final = 4
_FEWEST_LATE_STAMPS: Final = 6  # of a recording that does not begin at zero
_FALLS: Final = 0.1  # of the steps may go back, because times are misread
_LETTERS_AT_STAMP: Final = 25  # for each time of a transcript; timetables have less text
_HYPHENS: Final = "-‐¬⸗\u00ad"
_LINE_END: Final = re.compile(rf"[{_HYPHENS}][^\S\n]{{0,40}}\n[^\S\n]{{0,40}}([^\W\d_]{{1,8}})")
# Words after a hyphen that stands for the rest of a word: Haupt- und Nebensatz.
_JOINERS: Final = frozenset(
    [
        *("and", "or", "to", "und", "oder", "bzw", "bis", "sowie", "et", "ou", "y", "o", "e", "i"),
        *("of", "en", "és", "vagy", "och", "eller", "og", "и", "или", "та", "або"),
    ]
)
_PLACES: Final = re.compile(
    rf"(?P<line>^[^\S\n]{{0,8}}[\[(]?\d)|(?P<end>[{re.escape(_END)}][^\S\n]{{0,2}}\d)"
    rf"|(?P<raised>[{_SUPERSCRIPTS}])|(?P<hyphen>[{_HYPHENS}](?=[^\S\n]{{0,40}}\n))",
    re.MULTILINE,
)


def find_places(text: str) -> tuple[list[int], list[int], list[int]]:
    """The places of hyphens at line ends, of digits at line starts, and of other digits.

    The latter follow the end of a clause, or are superscripts.
    """
    hyphens: list[int] = []
    lines: list[int] = []
    ends: list[int] = []
    kinds = {"hyphen": hyphens, "line": lines}
    for found in _PLACES.finditer(text):
        kinds.get(found.lastgroup or "", ends).append(found.end() - 1)
    return hyphens, lines, ends


def without_marks(text: str) -> str:
    r"""*text* without marks; words that a line end divides are joined.

    Numbers are only removed if they run in order through the text, or are in brackets at the end of
    a clause. So meaningful numbers stay.

    >>> without_marks("A slip.[1] It is un-\nused.[2][citation needed]")
    'A slip. It is unused.'
    >>> without_marks("Read argv[1], then 1990-\n1995")
    'Read argv[1], then 1990-\n1995'
    """
    hyphens, lines, ends = places(text)
    joins = set(_find_divisions(text, hyphens))
    spans = list(joins)
    if any(bracket in text for bracket in "[［【〔"):
        spans += _find_brackets(text)
    if "﴿" in text:
        spans += (found.span() for found in _KORANIC.finditer(text))
    for pattern in _BRACKETED_STAMPS if text.count(":") >= _FEWEST_STAMPS else ():
        spans += _find_transcribed(text, list(pattern.finditer(text)))
    if len(lines) + len(ends) >= _FEWEST:
        spans += [
            *_find_raised_numbers(text, ends),
            *_find_time_stamps(text, lines),
            *_find_verse_numbers(text, lines, ends),
        ]
    if not spans:
        return text
    spans.sort()
    parts, end = [], 0
    for start, stop in spans:
        if start >= end:
            # Two words stay apart, but no space comes between a word and its comma.
            apart = text[start - 1 : start].isalnum() and text[stop : stop + 1].isalnum()
            apart = apart and (start, stop) not in joins
            parts += [text[end:start], " " if apart else ""]
        end = max(end, stop)
    return "".join([*parts, text[end:]])


def _find_divisions(text: str, hyphens: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans that divide words at line ends: a hyphen and the blanks around the end."""
    for at in hyphens:
        found = _LINE_END.match(text, at)
        is_word = at > 1 and text[at - 2 : at].isalpha()
        if found and is_word and found[1][0].islower() and found[1] not in _JOINERS:
            yield at, found.start(1)


def _find_brackets(text: str) -> Iterator[tuple[int, int]]:
    """Marks in brackets: of notes, by number or name, and of editing."""
    doubtful: list[tuple[int, int, int]] = []  # number, start, stop
    certain = 0
    stop = -1
    for found in _BRACKETED.finditer(text):
        inner = found[1].strip()
        start, previous = found.start(), text[found.start() - 1 : found.start()]
        follows = start == stop  # another mark that was taken out
        if _NUMBERS.fullmatch(inner):
            number = int(re.split(r"\D", inner, maxsplit=1)[0])
            if number and (follows or (previous and previous in _END)):
                certain += 1
                page = _SOURCE_PAGE.match(text, found.end())
                stop = page.end() if page else found.end()
                yield start, stop
            else:
                doubtful.append((number, start, found.end()))
        elif _is_phrase(inner.casefold()) or (
            len(inner) == 1 and inner.isascii() and inner.isalpha() and previous in tuple(_END)
        ):
            stop = found.end()
            yield start, stop
    if doubtful and (certain >= 2 or len(doubtful) >= _FEWEST):
        # Note numbers rise from mark to mark, after different words; array indices do not.
        highest = list(accumulate((number for number, _, _ in doubtful), max))
        regular = sum(
            number <= top + 1 for top, (number, _, _) in zip(highest, doubtful[1:], strict=False)
        )
        words = {text[max(0, start - 4) : start] for _, start, _ in doubtful}
        if certain >= 2 or (
            regular >= 0.8 * (len(doubtful) - 1)
            and doubtful[0][0] > 0
            and len(words) > len(doubtful) // 2
        ):
            yield from ((start, stop) for number, start, stop in doubtful if number)


def _is_phrase(inner: str) -> bool:
    """Whether brackets hold an editors' phrase, or several such as `edit | edit source`."""
    if _NAMED.fullmatch(inner) or _PAGE.fullmatch(inner):
        return True
    return all(part.strip() in _KNOWN for part in inner.split("|"))


def _find_raised_numbers(text: str, ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of raised note numbers that run through the text in order."""
    found = []
    stop = -1
    exponents = 0
    for start in ends:
        one = _RAISED_NUMBER.match(text, start) if start >= stop else None
        if one is not None:
            stop = one.end()
            # A number that is not raised follows a word and its full stop, without a space.
            raised = text[start] in _SUPERSCRIPTS
            if raised or (text[start - 1] in _END and text[max(0, start - 2)].isalpha()):
                found.append((int(one[0].translate(_DIGITS)), start, stop))
                exponents += raised and _BASE.search(text[max(0, start - 3) : start]) is not None
    if 2 * exponents > len(found):  # of a polynomial, of powers of ten
        return
    for at in _longest_run([number for number, _, _ in found]):
        yield found[at][1:]


def _find_verse_numbers(text: str, lines: list[int], ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of numbers that begin lines or verses and run through the text in order."""
    in_line = sorted({*lines, *ends})
    for pattern, places, fewest in ((_AT_LINE, lines, _FEWEST), (_IN_LINE, in_line, _FEWEST + 1)):
        matches: list[tuple[int, re.Match[str]]] = []
        for at in places:
            one = pattern.match(text, at)
            if one and not (matches and at < matches[-1][1].end()):  # the verse of a chapter
                matches.append((at, one))
        found = [
            (int(one[1]), at - (text[at - 1 : at] == "("), one.end())
            for at, one in matches
            if one[1].isdecimal() and 0 < int(one[1]) <= _MOST_NUMBERED
        ]
        numbers = [number for number, _, _ in found]
        chain = _longest_run(numbers, fewest)
        restarted = _find_runs(numbers, fewest)
        if len(restarted) > len(chain):
            chain = restarted
        if len(chain) >= _SHARE * len(found) and not _are_counts(text, [found[at] for at in chain]):
            for at in chain:
                yield found[at][1:]


def _are_counts(text: str, numbers: list[tuple[int, int, int]]) -> bool:
    """Whether the same follows all numbers, as in dates: 1 мая, 2 мая, 3 мая."""
    counted = {(found := _COUNTED.match(text, stop)) and found[0] for _, _, stop in numbers}
    word = counted.pop() if len(counted) == 1 else None
    return word is not None and (not word[0].isupper() or _MONTH.match(word) is not None)


def _longest_run(numbers: list[int], fewest: int = _FEWEST) -> list[int]:
    """The places in *numbers* of the longest run n, n + 1, n + 2, …; none if it is short.

    >>> _longest_run([7, 1, 2, 40, 3])
    [1, 2, 4]
    """
    length: dict[int, int] = {}
    before: list[int | None] = []
    latest: dict[int, int] = {}
    best = -1
    for at, number in enumerate(numbers):
        grown = length.get(number - 1, 0) + 1
        before.append(latest.get(number - 1))
        if grown >= length.get(number, 0):
            length[number], latest[number] = grown, at
            if best < 0 or grown > length[numbers[best]]:
                best = at
    chain: list[int] = []
    step: int | None = best if best >= 0 else None
    while step is not None:
        chain.append(step)
        step = before[step]
    return chain[::-1] if len(chain) >= fewest else []


def _find_runs(numbers: list[int], fewest: int) -> list[int]:
    """The places in *numbers* of runs that begin at 1, like the verses of chapters.

    >>> _find_runs([1, 2, 3, 4, 1, 2, 9, 1, 2, 3, 4], 4)
    [0, 1, 2, 3, 7, 8, 9, 10]
    """
    runs: list[list[int]] = []
    for at, number in enumerate(numbers):
        if number == 1:
            runs.append([at])
        elif runs and runs[-1][-1] == at - 1 and numbers[at - 1] == number - 1:
            runs[-1].append(at)
    return [at for run in runs if len(run) >= fewest for at in run]


def _find_time_stamps(text: str, lines: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of times that begin the lines of a transcript, and of its cue numbers."""
    found = [one for at in lines if (one := _STAMP.match(text, at))]
    stamps = list(_find_transcribed(text, found))
    yield from stamps
    if stamps:
        yield from (one.span() for one in _CUE.finditer(text))


def _find_transcribed(text: str, found: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the spans of times if they rise and have much text between them, as in a transcript."""
    if len(found) < _FEWEST_STAMPS:
        return
    times = [int(one[1] or 0) * 3600 + int(one[2]) * 60 + int(one[3]) for one in found]
    written = len(text) - sum(one.end() - one.start() for one in found)
    is_early = times[0] <= 60 and any(time % 300 for time in times)
    # Most times of a timetable, read as minutes and seconds, are multiples of five.
    is_uneven = len(times) >= _FEWEST_LATE_STAMPS and (
        sum(time % 5 == 0 for time in times) < len(times) / 2
    )
    if (
        (is_early or is_uneven)
        and sum(a > b for a, b in pairwise(times)) <= _FALLS * len(times)
        and written >= _LETTERS_AT_STAMP * len(found)
    ):
        yield from (one.span() for one in found)


try:
    from ._normaliser import find_places as places
except ImportError:
    places = find_places
