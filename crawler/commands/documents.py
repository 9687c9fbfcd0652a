"""Documents for commands: files, standard input and URLs.

Like the rest of this package, slow imports are made where they are used.
"""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from ..chrome import MainText
    from ..dedup.archive.archived_pages import ArchivedPage
    from ..dedup.config import DedupConfig
    from ..extractor import Extractor


class InputText(NamedTuple):
    """A text, its origin, and whether it is complete."""

    text: str
    origin: str
    is_whole: bool = True


def archived_page(
    url: str, config: DedupConfig, digest: str | None = None
) -> tuple[ArchivedPage, str] | None:
    """A page in the archive of an index, and its origin in words; None if it is not there.

    Raises :class:`InputError` for a damaged archive.
    """
    from ..dedup.archive.archived_pages import Archive

    with Archive.of(config, digest) as archive:
        stored = archive.page(url)
    if stored is None:
        return None
    part = "" if stored.is_whole else ", its beginning"
    return stored, f"archive, {stored.checked:%Y-%m-%d %H:%M} UTC{part}"


def find_document(
    source: str, config: DedupConfig, *, raw: bool = False, user_agent: str | None = None
) -> InputText:
    """The text of a file, of ``-`` or of an http(s) URL.

    The text of a URL is the archived one, as it was compared when the page was crawled. If there is
    none, or with `raw`, the URL is fetched. All else is read, and errors are raised, as by
    :func:`read_document`. Main text is extracted from HTML as in a crawl.
    """
    from ..extractor import load_extractor

    is_url = is_web_url(source)
    if is_url and not raw and (found := archived_page(source, config)):
        page, origin = found
        return InputText(page.text, origin, page.is_whole)
    text = read_document(source, load_extractor(config), raw=raw, user_agent=user_agent)
    origin = "fetched now" if is_url else "standard input" if source == "-" else "file"
    return InputText(text, origin)


LIMIT: Final = 50 * 1024 * 1024  # bytes of a document
_TIMEOUT: Final = 30.0  # seconds for all of a download

_FEEDS: Final = (".jsonl", ".jl", ".ndjson")
_HTML_NAMES: Final = (".html", ".htm", ".xhtml")


class _Body(NamedTuple):
    data: bytes
    content_type: str | None = None


def read_document(
    source: str,
    extract: Extractor | None = None,
    *,
    raw: bool = False,
    user_agent: str | None = None,
) -> str:
    """The text of a file, of ``-`` (standard input) or of an http(s) URL.

    Unless `raw`, the main text of HTML is taken, by `extract` or by this package. HTML is
    recognised by its content type, by a name that ends with .html, or by its beginning.

    Raises :class:`InputError` for input that cannot be read, is binary, is larger than 50 MB,
    takes longer than 30 seconds to arrive or, unless `raw`, is a feed of many pages.
    """
    from ..extractor import text_of

    return text_of(read_main(source, extract, raw=raw, user_agent=user_agent))


def web_url(url: str) -> str:
    """The URL of a page to fetch.

    Raises :class:`InputError` if it is not an http(s) URL, so that no file of that name is read.
    """
    from ..dedup.errors import InputError

    if not is_web_url(url):
        raise InputError(f"cannot fetch {url!r}: it is not an http(s) URL")
    return url


def is_web_url(source: str) -> bool:
    """Whether a name is an http(s) URL, and not a file."""
    return re.match(r"https?://", source, re.IGNORECASE) is not None


def read_main(
    source: str,
    extract: Extractor | None = None,
    *,
    raw: bool = False,
    user_agent: str | None = None,
) -> MainText | str:
    """The main text of a page, with its blocks if this package extracts it; a text as it is.

    Reads and raises like :func:`read_document`.
    """
    from ..chrome.page.encoding import decode_body, is_binary
    from ..dedup.errors import InputError
    from ..extractor import extract_main_text
    from ..files import is_file

    if not raw and not is_web_url(source) and source.lower().endswith(_FEEDS):
        raise InputError(
            f"{source!r} is a feed of many pages, not one: `scrapy dedup clusters` and "
            "`scrapy dedup load` read it"
        )
    body = _read_source(source, user_agent)
    if is_file(body.data):
        return _read_file_text(source, body.data)
    _, text = decode_body(body.data, body.content_type)
    # Not the original bytes: those of UTF-16 look binary, too.
    if is_binary(text.encode("utf-8", "replace")):
        raise InputError(f"{source!r} is neither text nor HTML")
    return text if raw or not _is_html(source, body) else (extract or extract_main_text)(text)


def _read_file_text(source: str, data: bytes) -> str:
    from ..dedup.errors import InputError, MissingExtra
    from ..files import FileError, can_read_files, read_file

    if not can_read_files():
        missing = ImportError("pypdfium2 or mammoth is not installed")
        raise MissingExtra("a PDF, Word or EPUB file", "files", missing)
    try:
        return read_file(data).text
    except FileError as error:
        raise InputError(f"cannot read {source!r}: {error}") from None


def _read_source(source: str, user_agent: str | None) -> _Body:
    from ..dedup.errors import InputError

    if not source:
        raise InputError("expects a file, - or an http(s) URL, not an empty name")
    if is_web_url(source):
        body = _download_page(source, user_agent)
    elif source == "-":
        body = _Body(sys.stdin.buffer.read(LIMIT + 1))
    else:
        try:
            with Path(source).open("rb") as file:
                body = _Body(file.read(LIMIT + 1))
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"cannot read {source!r}: {reason}") from None
    if len(body.data) > LIMIT:
        raise InputError(f"{source!r} is larger than {LIMIT >> 20} MB")
    return body


def _is_html(source: str, body: _Body) -> bool:
    from ..chrome.page.encoding import begins_as_html

    if body.content_type is not None:
        return "html" in body.content_type.lower()
    is_named = Path(source).suffix.lower() in _HTML_NAMES
    return is_named or begins_as_html(body.data)


def _download_page(url: str, user_agent: str | None) -> _Body:
    """Fetch a URL in a thread, so that a very slow server cannot exceed the time limit."""
    from http.client import HTTPException
    from urllib.error import HTTPError

    from ..dedup.errors import InputError

    answers: list[_Body | Exception] = []

    def read() -> None:
        try:
            answers.append(_fetch_page(url, user_agent))
        except Exception as error:
            answers.append(error)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(_TIMEOUT)
    if not answers:
        raise InputError(f"{url!r} did not arrive within {_TIMEOUT:g} seconds")
    answer = answers[0]
    if isinstance(answer, _Body):
        return answer
    if not isinstance(answer, (OSError, HTTPException, ValueError)):
        raise answer
    cause = getattr(answer, "reason", None) or answer
    reason = getattr(cause, "strerror", None) or str(cause)
    if isinstance(answer, HTTPError):
        reason = f"{answer.code} {reason}"
        answer.close()
    raise InputError(f"cannot read {url!r}: {reason}")


def _fetch_page(url: str, user_agent: str | None) -> _Body:
    from urllib import request

    from w3lib.url import safe_url_string

    opener = request.OpenerDirector()  # unlike the usual one, without file: and ftp:
    for handler in (
        request.ProxyHandler,
        request.UnknownHandler,
        request.HTTPHandler,
        request.HTTPSHandler,
        request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler,
        request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    headers = {"User-Agent": user_agent} if user_agent else {}
    sent = safe_url_string(url)  # as a browser sends it: requests are ASCII
    with opener.open(request.Request(sent, headers=headers), timeout=_TIMEOUT) as response:
        if response.headers.get("Content-Encoding", "identity") != "identity":
            raise OSError("the server sends it compressed without being asked")
        return _Body(response.read(LIMIT + 1), response.headers.get("Content-Type"))
