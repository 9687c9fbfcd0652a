"""Splits a URL into the name of its page and features that may make no difference."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple
from urllib.parse import unquote_plus, urlsplit

_UUID: Final = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# Values that nobody types: long, with letters and digits.
_SESSION: Final = re.compile(
    r"(?=\w*\d)(?=\w*[A-Za-z])(?:[0-9a-fA-F]{8,}|\w{16,})|[0-9a-fA-F]{16,}|\d{10,}|" + _UUID
)
# A segment that may hold a session: in ASP.NET's form, with a name (`sid=`), or a hash.
_SEGMENT: Final = re.compile(
    r"\([A-Z]\([^/]*\)\)|\([a-z0-9]{20,}\)|sid[=:-]\w+|[0-9a-fA-F]{24,}|"
    r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])(?:[0-9a-fA-F]{8,}|[0-9A-Za-z]{16,})|" + _UUID
)
# A segment that announces a session in the next one.
_ANNOUNCES: Final = re.compile(r"(?:(?:php|j)?sess(?:ion)?(?:id)?|sid)", re.IGNORECASE)
_INDEX: Final = re.compile(
    r"(?:index|default)\.(?:html?|php\d?|aspx?|jsp|cgi|shtml)", re.IGNORECASE
)
_DIGIT: Final = re.compile(r"\d")
_VIEWS: Final = frozenset({"amp", "print", "printable"})
_MOST_FEATURES: Final = 32
_LONGEST: Final = 2_000  # characters; nothing is learnt from longer URLs

PREFIX: Final = "prefix"
"""The feature of a path's folders: nested relative links add ever more of them."""
FEATURES: Final = frozenset(
    {"session", "volatile", "view", PREFIX, "index", "slash", "slashes", "repeats", "scheme", "www"}
)
"""All features except arguments, which are called ``?NAME`` or ``;NAME``."""

Features = tuple[tuple[str, str], ...]
"""Names and values of features."""


class UrlKind(NamedTuple):
    """The kind of a URL, which the pages of one script share, or numbered pages of one series.

    `section` is the first folder of the path. `stem` is the last segment up to its first digit,
    with ``#`` for the rest.
    """

    section: str
    stem: str

    @property
    def is_numbered(self) -> bool:
        """Whether it is the kind of a numbered series."""
        return self.stem.endswith("#")


class UrlParts(NamedTuple):
    """A URL of a site: its `skeleton` and, by name and sorted, the values of its features.

    Features are ``?NAME`` for an argument of the query and ``;NAME`` for one of the path,
    ``session`` for segments of the path that look like one, ``view`` (AMP and print),
    ``prefix`` (folders), ``index``, ``slash``, ``slashes``, ``repeats``, ``scheme`` and ``www``.
    """

    site: str
    skeleton: str
    features: Features
    kind: UrlKind

    def list_differences(self, other: UrlParts) -> list[str]:
        """The names of the features in which two URLs differ."""
        if self.features == other.features:
            return []
        mine, others = dict(self.features), dict(other.features)
        return [name for name in mine.keys() | others.keys() if mine.get(name) != others.get(name)]

    def without(self, name: str) -> tuple[Any, ...]:
        """The skeleton and all features but this one."""
        return (self.skeleton, *(one for one in self.features if one[0] != name))

    def may_nest(self, other: UrlParts) -> bool:
        """Whether this URL may have the folders of another and more, or has the same first one.

        Other folders are another user's, language or version, whatever their pages are called.
        """
        return self.kind.section == other.kind.section or self.nests(other)

    def nests(self, other: UrlParts) -> bool:
        """Whether this URL has the folders of another and more, before or behind them."""
        mine, others = (dict(one.features).get(PREFIX, "") for one in (self, other))
        return len(mine) > len(others) and (mine.startswith(others + "/") or mine.endswith(others))


def read_site(url: str) -> str:
    """The site of a URL: its host and port, without ``www.``; '' if it is no URL.

    >>> read_site("https://www.example.com/a"), read_site("http://localhost:80/")
    ('example.com', 'localhost')
    """
    parts = split_url(url)
    return parts.site if parts is not None else ""


def split_url(url: str) -> UrlParts | None:
    """The parts of an http or https URL; None for others, long ones, and very many arguments.

    >>> parts = split_url("http://www.example.com/docs/tea;jsessionid=1?b=2&a=1")
    >>> parts.site, parts.skeleton, dict(parts.features)["?a"]
    ('example.com', 'tea', '1')
    >>> [name for name, value in parts.features]
    [';jsessionid', '?a', '?b', 'prefix', 'www']
    >>> split_url("http://example.com/docs/page-12.html").kind
    UrlKind(section='docs', stem='page-#')
    """
    # In many manuals most links lead to a part of a page.
    return _split_bare(url.partition("#")[0])


@lru_cache(maxsize=4096)  # each URL is split when it is found, requested and fetched
def _split_bare(url: str) -> UrlParts | None:
    """The same for a URL without a fragment."""
    if len(url) > _LONGEST:
        return None
    try:
        split = urlsplit(url)
        host, port = (split.hostname or "").rstrip("."), split.port
    except ValueError:
        return None
    if split.scheme not in ("http", "https") or not host:
        return None
    found: dict[str, str] = {}
    if split.scheme == "https":
        found["scheme"] = "https"
    if host.startswith("www."):
        host, found["www"] = host[4:], "www"
    if port is not None and port != (443 if split.scheme == "https" else 80):
        host = f"{host}:{port}"
    skeleton = _read_path(split.path, found)
    if split.query:
        _read_query(split.query, found)
    if len(found) > _MOST_FEATURES:
        return None
    folders = found.get(PREFIX, "/").split("/", 2)
    stem, *rest = _DIGIT.split(skeleton, maxsplit=1)
    kind = UrlKind(folders[1], f"{stem}#" if rest else stem)
    return UrlParts(host, skeleton, tuple(sorted(found.items())), kind)


def _read_path(path: str, found: dict[str, str]) -> str:
    """Note the features of a path, and return its skeleton: its last segment, mostly."""
    segments = [segment for segment in path.split("/") if segment]
    if segments and path.endswith("/"):
        found["slash"] = "/"
    if "//" in path:
        found["slashes"] = "//"
    kept: list[str] = []
    sessions: list[str] = []
    for number, whole in enumerate(segments, 1):
        segment, *parameters = whole.split(";")
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            _add_value(found, ";" + name[:64], value)
        if kept and _ANNOUNCES.fullmatch(kept[-1]):
            sessions.append(segment)
            kept[-1] = "*"
        elif _SEGMENT.fullmatch(segment):
            sessions.append(segment)
            kept.append("*")
        elif segment.lower() in _VIEWS and len(segments) > 1:
            _add_value(found, "view", segment.lower() + "/" * (number < len(segments)))
        else:
            kept.append(segment)
    if kept and _INDEX.fullmatch(kept[-1]):
        found["index"] = kept.pop()
        if kept:
            found["slash"] = "/"
    if sessions and len(sessions) == len(kept):  # with nothing else, they name the page
        kept = sessions
    elif sessions:
        found["session"] = "/".join(sessions)
    end = len(kept)
    while end > 1 and kept[end - 1] == "*":
        end -= 1
    folders, names = kept[: max(end - 1, 0)], kept[max(end - 1, 0) :]
    if folders:
        found[PREFIX] = "/" + "/".join(folders)
    return "/".join(names)


def _add_value(found: dict[str, str], name: str, value: str) -> None:
    found[name] = f"{found[name]}/{value}" if name in found else value


def _read_query(query: str, found: dict[str, str]) -> None:
    values: dict[str, list[str]] = {}
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if not name and not value:
            continue
        # Bytes that are not UTF-8 are kept: %F7%E0%E9 and %EC%E5%E4 are different words.
        name, value = (unquote_plus(one, errors="backslashreplace") for one in (name, value))
        many = values.setdefault("?" + name[:64], [])
        if value in many:
            found["repeats"] = "&"
        else:
            many.append(value)
    for name, many in values.items():
        found[name] = "&".join(many)


def is_session_like(value: str) -> bool:
    """Whether a value looks drawn by a machine, one for each visitor or link.

    >>> is_session_like("8f14e45fceea167a"), is_session_like("price"), is_session_like("2026")
    (True, False, False)
    """
    return _SESSION.fullmatch(value) is not None
