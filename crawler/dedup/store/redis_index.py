"""The index in the server: one script for each thing that can be done with it."""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, NamedTuple

import xxhash
from redis.exceptions import NoScriptError, RedisError, ResponseError

from ..errors import ParameterMismatch, ServerError
from ..fingerprint import Fingerprint
from .connect import Client
from .faults import explain
from .keys import Keys

SECRET = "secret:"  # stands before the digest of a seed that is not stored
FORMAT = 1  # of the layout in the server; raised with every change that older code cannot read

_REQUEST = struct.Struct(">4s4sI16sHHH")  # these three as in the scripts
_ODD = struct.Struct(">BH")
_EVIDENCE = struct.Struct(">ccIHHHB")
_KINDS = {
    b"u": "unique", b"e": "exact", b"n": "near", b"s": "short", b"=": "unchanged", b"!": "updated",
}  # fmt: skip


class CheckRequest(NamedTuple):
    """A page to check. The same `token` again is the same check, tried again."""

    url: str
    host: str
    token: bytes
    fingerprint: Fingerprint


class Evidence(NamedTuple):
    """What the server says of a page: its kind, the decision that stands, and what they rest on.

    ``page`` is the number of the kept page that stands for it, ``duplicate_of`` that page's URL if
    it is another. ``odd_bits`` of the two odd sketches differ; ``sampled`` and ``other_sampled``
    are the shingles sampled at ``level``.
    """

    kind: str
    standing: str
    duplicate_of: str | None
    page: int
    odd_bits: int
    sampled: int
    other_sampled: int
    level: int


class StoredPage(NamedTuple):
    """What the index holds of one URL; times are seconds since 1970."""

    evidence: Evidence
    first_seen: int
    last_seen: int
    words: int


class RedisIndex:
    """The tables and records of one namespace on one server."""

    def __init__(self, client: Client, namespace: str, parameters: Mapping[str, Any]) -> None:
        self.keys = Keys(namespace)
        self._client = client
        self._parameters = {name: str(value) for name, value in parameters.items()}
        self._parameters["format"] = str(FORMAT)
        self._sign()
        self._scripts: dict[str, tuple[str, str]] = {}

    def _sign(self) -> None:
        named = sorted(item for item in self._parameters.items() if item[0] != "digest")
        self._parameters["digest"] = hashlib.sha256(repr(named).encode()).hexdigest()[:16]

    async def open(self) -> dict[str, str]:
        """Make the index, or see that the one that is there has these parameters; return them.

        A seed that is no secret is only proposed: the index that is there keeps its own. Raises
        :class:`ParameterMismatch` naming those that differ, and :class:`ServerError`.
        """
        flat = [part for item in self._parameters.items() for part in item]
        listing = [_text(part) for part in await self._run("open", flat)]
        found = dict(zip(listing[::2], listing[1::2], strict=True))
        drawn = found.get("seed", SECRET)
        if not drawn.startswith(SECRET) and not self._parameters["seed"].startswith(SECRET):
            self._parameters["seed"] = drawn
            self._sign()
        if found.get("digest") == self._parameters["digest"]:
            return found
        names = sorted((found.keys() | self._parameters.keys()) - {"digest"})
        differing = [
            f"{name}: index {found.get(name, '–')}, settings {self._parameters.get(name, '–')}"
            for name in names
            if found.get(name) != self._parameters.get(name)
        ]
        raise ParameterMismatch(
            f"the index {self.keys.namespace!r} was made with other parameters "
            f"({'; '.join(differing)}): set them as they were, or choose another DEDUP_NAMESPACE"
        )

    async def check(
        self, requests: Sequence[CheckRequest], *, threshold: float, bits: int, ttl: float | None
    ) -> list[Evidence]:
        """Check pages in order, all in one atomic step and one exchange.

        Pages not seen for `ttl` seconds count no more; None: they count for ever.
        """
        now = int(time.time())
        oldest = 0 if ttl is None else now - int(ttl)
        arguments: list[Any] = [self._parameters["digest"], now, threshold, bits, oldest]
        arguments += map(_packed, requests)
        return [_evidence(reply) for reply in await self._run("check", arguments)]

    async def show(self, url: str) -> StoredPage | None:
        """What the index holds of a URL, or None if it never saw it."""
        reply = await self._run("show", [url, table_key(url)])
        if reply is None:
            return None
        evidence, *rest = reply
        return StoredPage(_evidence(evidence), *rest)

    async def forget(self, url: str, *, bits: int) -> bool:
        """Take a URL out of the index; False if it was not there."""
        return bool(await self._run("forget", [url, table_key(url), bits]))

    async def counters(self) -> dict[str, dict[str, str]]:
        """The hashes ``params``, ``state``, ``stats``, ``hosts`` and ``histogram``."""
        names = ("params", "state", "stats", "hosts", "histogram")
        pipe = self._client.pipeline(transaction=True)
        for name in names:
            pipe.hgetall(getattr(self.keys, name))
        with _explained():
            replies = await pipe.execute()
        return {
            name: {_text(k): _text(v) for k, v in reply.items()}
            for name, reply in zip(names, replies, strict=True)
        }

    async def memory_usage(self, keys: Sequence[str]) -> list[int | None] | None:
        """Bytes that each key takes, None for one that is not there; None if not allowed to ask."""
        pipe = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.memory_usage(key, samples=0)
        with _explained():
            try:
                sizes: list[int | None] = await pipe.execute()
            except ResponseError:  # managed servers may not know the command, or forbid it
                return None
        return sizes

    async def scan(self) -> AsyncIterator[list[str]]:
        """The names of all keys of the index, some hundreds at a time; one may come twice."""
        pattern = self.keys.prefix + "*"
        seen: set[int] = set()
        batch: list[str] = []
        with _explained():
            async for key in self._client.scan_iter(match=pattern, count=500):
                if hash(key) in seen:
                    continue
                seen.add(hash(key))
                batch.append(_text(key))
                if len(batch) == 500:
                    yield batch
                    batch = []
        yield batch

    async def read_hashes(self, keys: Sequence[str]) -> list[dict[bytes, bytes]]:
        """The fields of each key."""
        pipe = self._client.pipeline(transaction=False)
        for key in keys:
            pipe.hgetall(key)
        with _explained():
            hashes: list[dict[bytes, bytes]] = await pipe.execute()
        return hashes

    async def read_long_url(self, page: int) -> bytes | None:
        """The URL of a page if it is too long for the page's record."""
        with _explained():
            url = await self._client.get(self.keys.numbered("long", page))
        return url if isinstance(url, bytes) else None

    async def _run(self, name: str, arguments: Sequence[Any]) -> Any:
        if name not in self._scripts:
            self._scripts[name] = _script(name)
        text, digest = self._scripts[name]
        with _explained():
            try:
                return await self._client.evalsha(digest, 1, self.keys.params, *arguments)
            except NoScriptError:  # a new server, or one that was restarted
                return await self._client.eval(text, 1, self.keys.params, *arguments)


@contextmanager
def _explained() -> Iterator[None]:
    """Turns what the client library raises into a :class:`ServerError` that says what to do."""
    try:
        yield
    except (RedisError, OSError) as error:
        if str(error).startswith("PARAMETERS"):
            raise ServerError(
                "the index was deleted or replaced while it was in use: start the crawl again"
            ) from error
        raise ServerError(explain(error)) from error


def _script(name: str) -> tuple[str, str]:
    folder = files(__package__) / "lua"
    parts = ("layout", name) if name != "open" else (name,)
    text = "".join((folder / f"{part}.lua").read_text() for part in parts)
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def table_key(url: str) -> bytes:
    """The key of a URL in the table of URLs."""
    return xxhash.xxh32_digest(url.encode())


def _packed(request: CheckRequest) -> bytes:
    page = request.fingerprint
    url, host = request.url.encode(), request.host.encode()
    words = min(page.words, 0xFFFFFFFF)
    parts = [
        _REQUEST.pack(
            xxhash.xxh32_digest(url),
            request.token,
            words,
            page.exact,
            len(url),
            len(host),
            len(page.bands),
        ),
        url,
        host,
        page.bands,
    ]
    for level, members, sketch in page.odd:
        parts += (_ODD.pack(level, members), sketch)
    return b"".join(parts)


def _evidence(reply: bytes) -> Evidence:
    kind, standing, *numbers = _EVIDENCE.unpack_from(reply)
    duplicate_of = _text(reply[_EVIDENCE.size :]) or None
    return Evidence(_KINDS[kind], _KINDS[standing], duplicate_of, *numbers)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
