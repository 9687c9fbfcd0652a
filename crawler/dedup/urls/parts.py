"""A URL taken apart: what names its page, and features that may make no difference."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote_plus, urlsplit

# Values that nobody has typed: long, and of letters and digits.
_SESSION: Final = re.compile(
    r"(?=\w*\d)(?=\w*[A-Za-z])(?:[0-9a-fA-F]{8,}|\w{16,})|[0-9a-fA-F]{16,}|\d{10,}"
)
# A segment that holds a session: ASP.NET's, or one that is a long hash.
_SEGMENT: Final = re.compile(r"\([A-Z]\([^/]*\)\)|\([a-z0-9]{20,}\)|[0-9a-fA-F]{24,}|sid[=:-]\w+")
_INDEX: Final = re.compile(
    r"(?:index|default)\.(?:html?|php\d?|aspx?|jsp|cgi|shtml)", re.IGNORECASE
)
_VIEWS: Final = frozenset({"amp", "print", "printable"})
_MOST_FEATURES: Final = 32
_LONGEST: Final = 2_000  # characters; of longer URLs nothing is learnt

PREFIX: Final = "prefix"
"""The feature of a path's folders: nested relative links add ever more of them."""
FEATURES: Final = frozenset(
    {"session", "view", PREFIX, "index", "slash", "slashes", "repeats", "scheme", "www"}
)
"""All features but arguments, which are called ``?NAME`` or ``;NAME``."""


class Parts(NamedTuple):
    """A URL of a site: its `skeleton` and, by name and sorted, the values of its features.

    Features are ``?NAME`` for an argument of the query and ``;NAME`` for one of the path,
    ``session`` for a segment of the path that looks like one, ``view`` (AMP and print),
    ``prefix`` (folders), ``index``, ``slash``, ``slashes``, ``repeats``, ``scheme`` and ``www``.
    """

    site: str
    skeleton: str
    features: tuple[tuple[str, str], ...]

    @property
    def section(self) -> str:
        """The first folder of the path, if there is one: a rule proves itself in each."""
        folders = dict(self.features).get(PREFIX, "")
        return folders.split("/", 2)[1] if folders else ""

    def differences(self, other: Parts) -> list[str]:
        """The names of the features that two URLs do not have alike."""
        if self.features == other.features:
            return []
        mine, others = dict(self.features), dict(other.features)
        return [name for name in mine.keys() | others.keys() if mine.get(name) != others.get(name)]


def site_of(url: str) -> str:
    """The site that a URL is of: its host and port, without ``www.``.

    >>> site_of("https://www.example.com/a"), site_of("http://localhost:80/")
    ('example.com', 'localhost')
    """
    parts = take_apart(url)
    return parts.site if parts is not None else ""


@lru_cache(maxsize=1024)  # a URL is looked at when it is found, when it is asked for, when it came
def take_apart(url: str) -> Parts | None:
    """The parts of an http or https URL; None for what is none, or too long.

    >>> parts = take_apart("http://www.example.com/docs/tea;jsessionid=1?b=2&a=1")
    >>> parts.site, parts.skeleton, dict(parts.features)["?a"]
    ('example.com', 'tea', '1')
    >>> [name for name, value in parts.features]
    [';jsessionid', '?a', '?b', 'prefix', 'www']
    """
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
    return Parts(host, skeleton, tuple(sorted(found.items())[:_MOST_FEATURES]))


def _read_path(path: str, found: dict[str, str]) -> str:
    segments = [segment for segment in path.split("/") if segment]
    if segments and path.endswith("/"):
        found["slash"] = "/"
    if "//" in path:
        found["slashes"] = "//"
    kept = []
    for whole in segments:
        segment, *parameters = whole.split(";")
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            found[";" + name[:64]] = value
        if _SEGMENT.fullmatch(segment):
            found["session"] = segment
        elif segment.lower() in _VIEWS and len(segments) > 1:
            found["view"] = segment.lower()
        else:
            kept.append(segment)
    if kept and _INDEX.fullmatch(kept[-1]):
        found["index"] = kept.pop()
        if kept:
            found["slash"] = "/"
    if not kept:
        return ""
    *folders, name = kept
    if folders:
        found[PREFIX] = "/" + "/".join(folders)
    return name


def _read_query(query: str, found: dict[str, str]) -> None:
    values: dict[str, list[str]] = {}
    for pair in query.split("&"):
        name, _, value = pair.partition("=")
        if not name and not value:
            continue
        many = values.setdefault("?" + unquote_plus(name)[:64], [])
        value = unquote_plus(value)
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
