"""Messages to and from the scripts of an index, as values and as bytes."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeAlias

from ..candidates import Evidence
from ..errors import ServerError
from ..fingerprint import Fingerprint
from ..sketches.anchors import anchor_keys, asked_keys, stored_anchors
from .layout import KINDS, NO_KEY, pack_fetched, table_key
from .records import PageRecord
from .server.faults import DAMAGED

ReadRecords: TypeAlias = Callable[[list[Any]], list[PageRecord]]

_REQUEST = struct.Struct(">4s4sI12sI4sBI4sHHHHHHHHB")  # these three as in the scripts
_ODD = struct.Struct(">BH")
_ANSWER = struct.Struct(">ccIHHHBB")
ANSWER_BYTES = _ANSWER.size
_LONGEST = 65_535  # the greatest length, in bytes, that fits into two bytes
NO_TEMPLATE = 65_535  # length of the log in a request that asks for no template
_CANONICAL_KNOWN, _REPLACES, _GONE, _UNCONFIRMED = 1, 2, 4, 8
_PREFERRED, _YIELDS, _CUT, _ANCHORED, _SPELLED = 1, 2, 4, 8, 16


class TemplateNews(NamedTuple):
    """News about a host's template.

    In a request, ``length`` is the known length of the shared log, and ``pairs``, 4 bytes each, are
    to be added to it. In an answer, ``pairs`` are the entries of the log from number ``length`` on.
    """

    length: int
    pairs: bytes


class CheckRequest(NamedTuple):
    """A page to check. A repeated `token` is a retry of the same check.

    ``canonical`` is another URL that the page names as canonical; ``yields`` means that the page
    gives its place in the index to that URL. Of two copies the one with the better ``rank`` takes
    the place, see :mod:`..ranks`; a ``preferred`` one does in any case. With ``template`` the
    answer contains what is new in the template of the page's host. ``since`` is when the page was
    spooled, in seconds since 1970, or 0. ``whole`` gives the fingerprint of its text before the
    template was cut, if that differs. ``crawl`` is the start of the crawl that checks the page, in
    seconds since 1970, or 0. Records of the hosts ``final`` that were last seen before it give way
    to the page. Kept pages last seen by crawls that are ``unended``, see :class:`Crawl`, are
    ``updated`` even with the same text.
    ``is_cut`` means that the template may have been cut from the text before it came here: then an
    equal sketch also means an unchanged text. ``url`` is the page's identity, and ``fetched`` the
    URL under which it was fetched, if that is another.
    """

    url: str
    host: str
    token: bytes
    fingerprint: Fingerprint
    canonical: str = ""
    yields: bool = False
    rank: bytes = b""
    preferred: bool = False
    since: int = 0
    template: TemplateNews | None = None
    whole: Callable[[], Awaitable[Fingerprint]] | None = None
    crawl: int = 0
    unended: bytes = b""
    final: tuple[str, ...] = ()
    is_cut: bool = False
    fetched: str = ""


class Gone(NamedTuple):
    """A URL that is gone from the web, and since when, in seconds since 1970."""

    url: str
    since: int


class Forget(NamedTuple):
    """A URL to remove from the index; with ``if_kept`` only if its page is not a copy."""

    url: str
    if_kept: bool = False


class Answer(NamedTuple):
    """The server's answer about a page: its kind, the current decision, and the evidence.

    ``page`` is the number of the kept page that stands for the page, ``duplicate_of`` its URL if it
    is another page, and ``evidence`` shows how similar the two are. ``replaces`` is the URL of the
    page whose place the page took, and ``canonical`` that of the page that it names as canonical,
    if the index knows it; all URLs are as fetched. ``gone`` means that it was reported gone.
    ``unconfirmed`` means that ``duplicate_of`` has not been seen since the crawl began.
    ``template`` is what is new in the host's template. ``overlapping`` are kept pages that share
    anchors with the page.
    """

    kind: str
    standing: str
    duplicate_of: str | None
    page: int
    evidence: Evidence
    canonical: str | None = None
    gone: bool = False
    replaces: str | None = None
    template: TemplateNews | None = None
    unconfirmed: bool = False
    overlapping: tuple[PageRecord, ...] = ()


class Crawl(NamedTuple):
    """A crawl in an index: its ``number``, and its ``start`` in seconds since 1970.

    Pages seen from the start on are seen in this crawl; all earlier ones were seen before it.
    ``unended`` are the numbers, 2 bytes each, of crawls that were killed, or began before it and
    had not ended. ``entry`` is a random name of this process in it: other processes have the same
    number, and so may a crawl in an index that was made again.
    """

    number: int
    start: int
    unended: bytes = b""
    entry: str = ""


UNANNOUNCED: Final = Crawl(0xFFFE, 0)
"""Any crawl that could not be announced to the index yet."""


class Original(NamedTuple):
    """The state of the kept page of a copy.

    ``state`` is ``confirmed`` (seen since the crawl began, or the page is not a copy),
    ``unconfirmed`` (not seen; ``url`` names it), or ``lost`` (it has another text, is gone, is a
    copy itself, or the index does not know the page).
    """

    state: str
    url: str = ""


class StoredPage(NamedTuple):
    """What the index stores about a URL; times are seconds since 1970, `gone` may be 0.

    ``shown_url`` is the URL as the page was last fetched.
    """

    answer: Answer
    shown_url: str
    first_seen: int
    last_seen: int
    words: int
    gone: int
    exact: bytes


def pack_request(request: CheckRequest, seed: int) -> bytes:
    """A page as the scripts read it, see lua/pages.lua."""
    page = request.fingerprint
    url, host, canonical = (
        part.encode() for part in (request.url, request.host, request.canonical)
    )
    words = min(page.words, 0xFFFFFFFF)
    pairs = request.template.pairs if request.template is not None else b""
    final = f" {'  '.join(request.final)} ".encode()[:_LONGEST] if request.final else b""
    parts = [
        _REQUEST.pack(
            table_key(request.url, seed),
            request.token,
            words,
            page.exact,
            request.since,
            table_key(request.canonical, seed) if canonical else NO_KEY,
            _PREFERRED * request.preferred
            + _YIELDS * request.yields
            + _CUT * request.is_cut
            + _ANCHORED * bool(page.anchors)
            + _SPELLED * bool(request.fetched),
            request.crawl,
            page.own,
            NO_TEMPLATE if request.template is None else request.template.length,
            len(request.unended),
            len(pairs),
            len(url),
            len(host),
            len(page.bands),
            len(canonical),
            len(final),
            len(request.rank),
        ),
        url,
        host,
        page.bands,
        canonical,
        pairs,
        final,
        request.rank,
        request.unended,
    ]
    if page.anchors:
        parts += _pack_anchors(page)
    if request.fetched:
        fetched = pack_fetched(url, request.fetched.encode())
        parts += [len(fetched).to_bytes(2), fetched]
    for level, members, sketch in page.odd:
        parts += (_ODD.pack(level, members), sketch)
    return b"".join(parts)


def _pack_anchors(page: Fingerprint) -> list[bytes]:
    """The anchors that the index stores of a page, and the keys of the others, after both sizes."""
    stored = stored_anchors(page.anchors, page.words)
    known = set(anchor_keys(stored))
    others = b"".join(key for key in asked_keys(page.anchors) if key not in known)
    return [len(stored).to_bytes(2), len(others).to_bytes(2), stored, others]


def pack_gone(report: Gone, key: bytes) -> bytes:
    """A URL that is gone and its table key as the scripts read them, see lua/gone.lua."""
    return report.since.to_bytes(4) + key + report.url.encode()


def pack_forget(request: Forget, key: bytes) -> bytes:
    """A URL to be forgotten and its table key as the scripts read them, see lua/forget.lua."""
    return bytes([request.if_kept]) + key + request.url.encode()


def unpack_original(reply: bytes) -> Original:
    """The answer of lua/originals.lua about a page."""
    state = {b"c": "confirmed", b"u": "unconfirmed"}.get(reply[:1], "lost")
    return Original(state, reply[1:].decode("utf-8", "replace"))


def unpack_check(reply: bytes | list[Any], read: ReadRecords) -> Answer:
    """The answer of lua/check.lua about a page; `read` parses the records in it."""
    if isinstance(reply, bytes):
        return unpack_answer(reply)
    answer, news, *others = reply
    overlapping = tuple(read(others[0])) if others else ()
    return unpack_answer(answer)._replace(template=unpack_news(news), overlapping=overlapping)


def unpack_news(reply: bytes) -> TemplateNews | None:
    """The news about a host's template, see lua/pages.lua."""
    return TemplateNews(int.from_bytes(reply[:2]), reply[2:]) if reply else None


def unpack_answer(reply: bytes) -> Answer:
    """The answer of a script about a page, see lua/stored_pages.lua.

    Raises :class:`ServerError` if its record holds no verdict.
    """
    kind, standing, page, odd_bits, sampled, other, level, flags = _ANSWER.unpack_from(reply)
    if kind not in KINDS or standing not in KINDS:
        raise ServerError(DAMAGED.sentence)
    rest, canonical = reply[_ANSWER.size :], None
    if flags & _CANONICAL_KNOWN:
        end = 2 + int.from_bytes(rest[:2])
        canonical, rest = rest[2:end].decode("utf-8", "replace"), rest[end:]
    url = rest.decode("utf-8", "replace") or None
    return Answer(
        KINDS[kind],
        KINDS[standing],
        None if flags & _REPLACES else url,
        page,
        Evidence(odd_bits, level, sampled, other),
        canonical,
        bool(flags & _GONE),
        url if flags & _REPLACES else None,
        unconfirmed=bool(flags & _UNCONFIRMED),
    )
