"""The URL of the server: DEDUP_REDIS_URL, read and checked; its secrets are never shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio.connection import parse_url

from ...errors import ConfigError

_FORMS = {
    "redis": "redis://[user:password@]host[:port][/db]",
    "rediss": "rediss://[user:password@]host[:port][/db]",
    "unix": "unix://[user:password@]/path/of/socket[?db=0]",
    "redis+sentinel": "redis+sentinel://[user:password@]host[:port][,host…]/service[/db]",
    "rediss+sentinel": "rediss+sentinel://[user:password@]host[:port][,host…]/service[/db]",
    "redis+cluster": "redis+cluster://[user:password@]host[:port][,host…]",
    "rediss+cluster": "rediss+cluster://[user:password@]host[:port][,host…]",
}
_FILE_OPTIONS = ("ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile")
_SENTINEL_OPTIONS = ("sentinel_username", "sentinel_password")
_OPTIONS = (
    *_FILE_OPTIONS,
    "ssl_cert_reqs",
    "ssl_check_hostname",
    "ssl_ciphers",
    "ssl_password",
    *_SENTINEL_OPTIONS,
    "client_name",
    "db",
    "username",
    "password",
)
_HOST = re.compile(r"(\[[^\[\]]+\]|[^:\[\]\s]+)(?::(\d{1,5}))?")
# In place of a port: a password whose host was forgotten, up to its unknown end.
_NO_PORT = re.compile(r"((?://|,)(?:\[[^\]]*\]|[^:/,\[]*)):(?!\d{1,5}(?:[,/]|\Z)).+", re.DOTALL)
_DEFAULT_PORTS = {"server": 6379, "cluster": 6379, "sentinel": 26379}


class Address(NamedTuple):
    """Where a server is.

    Attributes
    ----------
    kind
        `server`, `sentinel` or `cluster`.
    tls
        Whether all connections are encrypted.
    hosts
        The sentinels, or nodes to begin with; empty for a `server`.
    service
        The sentinels' name for the server.
    options
        Arguments of redis-py's connections.
    sentinel_options
        Arguments of connections to the sentinels, as far as they differ.
    """

    kind: str
    tls: bool
    hosts: list[tuple[str, int]]
    service: str
    options: dict[str, Any]
    sentinel_options: dict[str, Any]


def parse_address(url: str) -> Address:
    """The parts of a server's URL. Raises :class:`ConfigError` for an invalid one.

    >>> parse_address("redis+sentinel://a.example,b.example:26380/crawl/2").hosts
    [('a.example', 26379), ('b.example', 26380)]
    """
    try:
        return _parse_url(url)
    except ValueError as error:
        # Only messages of this module are shown: others might repeat parts of a password.
        reason = str(error) if type(error) is _Malformed else "is malformed"
        # A host alone means the usual server.
        form = _FORMS.get(url.partition("://")[0] if "://" in url else "redis")
        hint = f"the form is {form}" if form else f"it begins with one of {', '.join(_FORMS)}"
        raise ConfigError(
            f"DEDUP_REDIS_URL {mask_url(url)} {reason}; {hint}, with the special characters of "
            "passwords percent-encoded"
        ) from None


def mask_url(url: str) -> str:
    """The URL without user, password and options, even if it is malformed.

    >>> mask_url("rediss://crawl:pa/ss@cache.example:6380/0?ssl_password=x")
    'rediss://***@cache.example:6380/0'
    >>> mask_url("redis://crawl:password")
    'redis://crawl:***'
    """
    shown = re.sub(r"(?s)^(\w[\w+.-]*://)?.*@", r"\1***@", url).split("?")[0]
    return _NO_PORT.sub(r"\1:***", shown)


class _Malformed(ValueError):
    pass


def _parse_url(url: str) -> Address:
    if "://" not in url:
        raise _Malformed("has no scheme")
    parts = urlsplit(url)
    if parts.scheme not in _FORMS:
        raise _Malformed("has an unknown scheme")
    if parts.fragment or url.endswith("#"):
        raise _Malformed("has a # in it")
    if "@" in parts.query:
        raise _Malformed("has an @ after a ?")
    tls = parts.scheme.startswith("rediss")
    kind = parts.scheme.partition("+")[2] or "server"
    _check_options(parts.query, tls=tls, kind=kind)
    userinfo, at, places = parts.netloc.rpartition("@")
    path = parts.path
    hosts: list[tuple[str, int]] = []
    service = ""
    if parts.scheme == "unix":
        if places or not path:
            raise _Malformed("lacks the path of a socket, which has three slashes before it")
    else:
        if places or kind != "server":
            hosts = [_split_host(place, _DEFAULT_PORTS[kind]) for place in places.split(",")]
        if kind == "sentinel":
            _, service, *db = path.split("/", 2) if path.count("/") else ("", "")
            if not service:
                raise _Malformed("lacks the name of the service")
            path = "/".join(["", *db])
        if not re.fullmatch(r"/?\d*", path):
            raise _Malformed("has a database that is not a number")
        if kind == "cluster" and path.strip("/0"):
            raise _Malformed("has a database number, which a cluster does not have")
        if kind == "server" and len(hosts) > 1:
            raise _Malformed("has several hosts, as only a cluster or sentinels do")
    plain = parts._replace(
        scheme="unix" if parts.scheme == "unix" else "rediss" if tls else "redis",
        netloc=userinfo + at + (places if kind == "server" else "host"),
        path=path,
    )
    options: dict[str, Any] = dict(parse_url(plain.geturl()))
    sentinel_options = {
        name.removeprefix("sentinel_"): options.pop(name)
        for name in _SENTINEL_OPTIONS
        if name in options
    }
    if kind != "server":
        for name in ("host", "port", "connection_class"):
            options.pop(name, None)
        if kind == "cluster":
            options.pop("db", None)
    return Address(kind, tls, hosts, unquote(service), options, sentinel_options)


def _check_options(query: str, *, tls: bool, kind: str) -> None:
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in _OPTIONS:
            # The option is not named: after an & that is not encoded, it is part of a password.
            raise _Malformed(f"has an unknown option; known are {', '.join(_OPTIONS)}")
        if name.startswith("ssl_") and not tls:
            raise _Malformed(f"has the option {name} without the scheme rediss")
        if name in _SENTINEL_OPTIONS and kind != "sentinel":
            raise _Malformed(f"has the option {name} without sentinels")
        if name in _FILE_OPTIONS and not Path(value).exists():
            raise _Malformed(f"names a file in {name} that does not exist")


def _split_host(place: str, default_port: int) -> tuple[str, int]:
    match = _HOST.fullmatch(place)
    if match is None or not 0 < int(match[2] or default_port) < 65536:
        raise _Malformed("has a host or port that cannot be read")
    return match[1].strip("[]"), int(match[2] or default_port)
