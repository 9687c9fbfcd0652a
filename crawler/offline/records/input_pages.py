"""The pages in the records of files."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...dedup.identity import fetched_url
from ...dedup.preference import criteria_of, read_criteria
from ...dedup.ranks import only_value, rank_of
from ...dedup.scopes import field_scope, scope_of
from .files import DAMAGED, OFFSET_BITS, Format, Piece, known_format
from .input_records import Raw, read_records
from .lines import LIMIT, json_in
from .site_texts import Again, SiteTexts
from .warc import page_in

if TYPE_CHECKING:
    from ...chrome import MainText
    from ...dedup.config import DedupConfig
    from ...dedup.fingerprint import Fingerprint, Fingerprinter

_OF_TEXT: Final = ("text", "heading", "own_words", "learnt", "whole")
_GROUP, _GROUP_CHARACTERS = 256, 8 << 20
_SAID: Final = 200  # characters of an error, which may quote the whole page


class InputPage(NamedTuple):
    """A page of a corpus: its URL or another name, and its main text.

    ``heading``, ``own_words``, ``learnt``, ``canonical``, ``date`` and ``fields`` are as
    :meth:`~...dedup.index.DuplicateIndex.check` takes them, the last three if ``DEDUP_PREFER``
    needs them. ``is_cut`` means that the record has the text, not HTML: its template may have been
    cut already. ``title`` is the record's, which is the heading of a page without title and
    heading. ``scope`` is the record's value of the field that ``DEDUP_SCOPE`` names, if any.
    """

    url: str
    text: str
    heading: str = ""
    own_words: int | None = None
    learnt: int | None = None
    whole: str | None = None
    is_cut: bool = False
    title: str = ""
    again: Again | None = None
    scope: str | None = None
    canonical: str | None = None
    date: datetime | None = None
    fields: Mapping[str, Any] = {}

    def settled(self) -> InputPage:
        """The page with its text taken again, by the template of its site as known now."""
        if self.again is None:
            return self
        found = _page_of(self.url, self.again(), self.title)
        return self._replace(**{name: getattr(found, name) for name in _OF_TEXT}, again=None)

    def complete(
        self, page: Fingerprint, fingerprinter: Fingerprinter, config: DedupConfig
    ) -> Fingerprint:
        """Complete the fingerprint of the page's text from its other fields and its scope."""
        page = fingerprinter.with_own(page, self.heading, self.own_words, self.learnt)
        if self.whole is not None:
            page = replace(page, exact=fingerprinter.exact(self.whole))
        scope = scope_of(config, config.identity(self.url), self.scope)
        return fingerprinter.scoped(page, scope)

    def rank(self, config: DedupConfig, words: int) -> bytes:
        """The rank of the page, whose text has so many words, among its copies."""
        values = criteria_of(
            config, self.url, words, canonical=self.canonical, date=self.date, fields=self.fields
        )
        return rank_of(config.prefer, values)


class Left(StrEnum):
    """Why a record without a fault is not a page that can be checked."""

    BINARY = "binary"  # a PDF, say, that a server called a page
    SKIPPED = "skipped"  # an empty line, another kind of record, an answer that is no page


class InputReader:
    """Finds the page in a record with the fields and the extractor of a configuration.

    It learns the templates of sites from all pages that it reads, if ``DEDUP_TEMPLATES`` is on.
    Raises :class:`ConfigError` if there is no such extractor.
    """

    def __init__(self, config: DedupConfig) -> None:
        self.config = config
        self.texts = SiteTexts()
        if config.templates:
            self.texts.begin()
        self._extract: Callable[[str | bytes], Any] | None = None
        if config.extractor is not None:
            from ...extractor import load_extractor

            self._extract = load_extractor(config)

    def __call__(self, raw: Raw, kind: Format, name: str = "") -> InputPage | Left:
        """The page in a record, or why the record is not a page that can be checked.

        `name` takes the place of a missing URL. Raises ValueError for a page that cannot be read.
        """
        name = "" if self.config.scope in ("host", "domain") else name
        try:
            item = None if kind is Format.WARC else json_in(raw) if isinstance(raw, bytes) else raw
            page = self._of_warc(raw, name) if kind is Format.WARC else self._of_item(item, name)
            if isinstance(page, Left):
                return page
            field = self.config.scope_field
            if field is not None:
                page = page._replace(scope=field_scope(item.get(field) if item else None))
            return page._replace(**read_criteria(self.config, page.url, item)) if item else page
        except ValueError:
            raise
        except Exception as error:  # no page may end the whole job
            said = str(error)[:_SAID]
            raise ValueError(f"cannot be read: {type(error).__name__}: {said}") from error

    def _of_item(self, item: Any, name: str) -> InputPage | Left:
        if item is None:
            return Left.SKIPPED
        config = self.config
        if not isinstance(item, dict):
            raise ValueError("not a JSON object")
        url = _decode_cell(only_value(item.get(config.url_field)))
        url = name or None if url is None else url
        if url is None or not str(url).strip():
            raise ValueError(f"has no field {config.url_field!r}; DEDUP_URL_FIELD names it")
        if not isinstance(url, (str, int)):
            raise ValueError(f"its field {config.url_field!r} is no text, but {url!r:.40}")
        text, html = (
            _join_texts(item.get(config.text_field)),
            only_value(item.get(config.html_field)),
        )
        title = _decode_cell(only_value(item.get(config.title_field)))
        title = title if isinstance(title, str) else ""
        if isinstance(text, str) and text.strip():
            return InputPage(str(url), text, title, is_cut=True)
        if isinstance(html, (str, bytes)):
            return self._make_page(str(url), html, None, title=title)
        if isinstance(text, str):
            return InputPage(str(url), text)
        raise ValueError(f"has no text in {config.text_field!r} or {config.html_field!r}")

    def _of_warc(self, raw: Any, name: str) -> InputPage | Left:
        found = page_in(raw, LIMIT)
        if found is None:
            return Left.SKIPPED
        url = found.url or name
        if not url:
            raise ValueError("has no WARC-Target-URI")
        if found.content_type is None:
            return InputPage(url, found.body.decode("utf-8", "replace"))
        return self._make_page(url, found.body, found.content_type, is_response=True)

    def _make_page(
        self,
        url: str,
        html: str | bytes,
        content_type: str | None,
        *,
        title: str = "",
        is_response: bool = False,
    ) -> InputPage | Left:
        if not html.strip():
            return InputPage(url, "")
        if self._extract is None:
            from ...chrome import canonical, parse, published

            document = parse(html[:LIMIT], content_type=content_type)
            if document.is_binary:  # what a server calls a page may be a PDF
                return Left.BINARY
            found, again = self.texts.read_text(url, document)
            page = _page_of(url, found, title)._replace(again=again)
            if not is_response or not self.config.prefer:
                return page
            config = self.config
            head = {config.canonical_field: canonical(document)}
            head[config.date_field] = published(document)
            return page._replace(**read_criteria(config, url, head))
        return _page_of(url, self._extract(html[:LIMIT]), title)


def _page_of(url: str, found: MainText | str, title: str) -> InputPage:
    if isinstance(found, str):
        return InputPage(url, found, title)
    whole = found.whole if found.whole != found.text else None
    page = InputPage(
        url, found.text, found.heading_below(title), found.own_words, found.learnt, whole
    )
    return page._replace(title=title)


class InputRecord(NamedTuple):
    """A record's position and page; the URL is in the form in which the index knows it.

    ``fetched`` is the URL of the record, if it is another spelling. A record that cannot be read
    has a `fault`, the reason, and no `page`. The position where a damaged file ends has no `url`
    either. A record that is not a page has neither page nor fault, and :class:`Left` in place of
    the URL. A page that comes again, with another text or fewer own words, ``is_again``.
    """

    position: int
    piece: int
    url: str | None
    page: InputPage | None
    fault: str | None = None
    fetched: str = ""
    is_again: bool = False

    @property
    def shown_url(self) -> str | None:
        """The URL as the record has it."""
        return self.fetched or self.url

    @property
    def text(self) -> str | None:
        """The main text of the page."""
        return self.page.text if self.page is not None else None


def pages_of(
    piece: Piece, reader: InputReader, content: bytes | None = None
) -> Iterator[InputRecord]:
    """Yield the pages of a piece in order; unreadable content gives faults, not errors.

    Then those come again whose own words turned out to be a note of their site.
    """
    if reader.config.templates:
        reader.texts.begin()
    yield from _read_pages(piece, reader, content)
    if doubtful := reader.texts.take_doubtful():
        for one in _read_pages(piece, reader, content, doubtful):
            yield one._replace(is_again=True)


def _read_pages(
    piece: Piece, reader: InputReader, content: bytes | None, only: Container[int] | None = None
) -> Iterator[InputRecord]:
    kind, position = known_format(piece.path), piece.number
    config = reader.config
    try:
        for position, raw in read_records(piece, config, content, is_copied=True):
            if only is not None and position not in only:
                continue
            reader.texts.place = position if only is None else None
            record = position & ((1 << OFFSET_BITS) - 1)
            try:
                page = reader(raw, kind, f"{piece.path}:{record}")
            except ValueError as error:
                yield InputRecord(position, piece.number, "", None, _describe_error(error))
                continue
            if isinstance(page, Left):
                yield InputRecord(position, piece.number, str(page), None)
            else:
                url = config.identity(page.url)
                fetched = fetched_url(page.url, url)
                yield InputRecord(position, piece.number, url, page, fetched=fetched)
    except DAMAGED as error:
        if only is None:
            yield InputRecord(position + 1, piece.number, None, None, _describe_error(error))


def _decode_cell(value: Any) -> Any:
    """A cell of Parquet as text: not all writers declare that their bytes are UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _join_texts(value: Any) -> Any:
    """A text: paragraphs in a list are joined, as in a crawl."""
    is_list = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
    return "\n".join(value) if is_list else _decode_cell(value)


def _describe_error(error: Exception) -> str:
    """The message of an error without lone surrogates, which an extractor may quote."""
    return (str(error) or type(error).__name__).encode(errors="replace").decode()


def group_pages(found: Iterable[InputRecord]) -> Iterator[list[InputRecord]]:
    """Group pages to be fingerprinted together, limited in number and in characters."""
    group: list[InputRecord] = []
    characters = 0
    for one in found:
        group.append(one)
        characters += len(one.text or "")
        if len(group) == _GROUP or characters > _GROUP_CHARACTERS:
            yield group
            group, characters = [], 0
    if group:
        yield group


def settle_pages(group: Iterable[InputRecord]) -> list[InputRecord]:
    """The pages of a group, settled by the templates of their sites as known at its end."""
    return [one if one.page is None else one._replace(page=one.page.settled()) for one in group]
