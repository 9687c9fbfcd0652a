"""Marks that do not belong to a text: of notes, verses, times and editing, and line-end hyphens."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from .running_numbers import (
    BRACKETED_STAMPS,
    END,
    FEWEST,
    FEWEST_STAMPS,
    SUPERSCRIPTS,
    find_raised_numbers,
    find_time_stamps,
    find_transcribed,
    find_verse_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Phrases in brackets in encyclopedias, in the languages of the largest ones; see `_is_phrase`.
_PHRASES: Final = """
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
"""
_KNOWN: Final = frozenset(map(str.strip, _PHRASES.replace("\n", ";").split(";"))) - {""}
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
    rf"(?P<line>^[^\S\n]{{0,8}}[\[(]?\d)|(?P<end>[{re.escape(END)}][^\S\n]{{0,2}}\d)"
    rf"|(?P<raised>[{SUPERSCRIPTS}])|(?P<hyphen>[{_HYPHENS}](?=[^\S\n]{{0,40}}\n))",
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
    for pattern in BRACKETED_STAMPS if text.count(":") >= FEWEST_STAMPS else ():
        spans += find_transcribed(text, list(pattern.finditer(text)))
    if len(lines) + len(ends) >= FEWEST:
        spans += [
            *find_raised_numbers(text, ends),
            *find_time_stamps(text, lines),
            *find_verse_numbers(text, lines, ends),
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
            if number and (follows or (previous and previous in END)):
                certain += 1
                page = _SOURCE_PAGE.match(text, found.end())
                stop = page.end() if page else found.end()
                yield start, stop
            else:
                doubtful.append((number, start, found.end()))
        elif _is_phrase(inner.casefold()) or (
            len(inner) == 1 and inner.isascii() and inner.isalpha() and previous in tuple(END)
        ):
            stop = found.end()
            yield start, stop
    if doubtful and (certain >= 2 or len(doubtful) >= FEWEST):
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


try:
    from ._normaliser import find_places as places
except ImportError:
    places = find_places
