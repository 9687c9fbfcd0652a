"""The index in the server: one script for each thing that can be done with it."""

from __future__ import annotations

import struct
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from redis.exceptions import NoScriptError

from ..candidates import Rule
from ..errors import ServerError
from ..fingerprint import Fingerprint
from .connect import Client
from .faults import DAMAGED
from .keys import Keys
from .parameters import Parameters
from .reading import NO_KEY, Entry, Reader, table_key
from .scripts import explained, load_script

_REQUEST = struct.Struct(">4s4sI12sII4sBHHHHHH")  # these three as in the scripts
_ODD = struct.Struct(">BH")
# Stands for a level where a verdict rests on keys: of `sampled`, `odd_bits` are shared.
BY_KEYS = 255
_EVIDENCE = struct.Struct(">ccIHHHBB")
EVIDENCE_BYTES = _EVIDENCE.size
NO_TEMPLATE = 65_535  # stands for the length where nothing is asked
_CANONICAL_KNOWN, _REPLACES, _GONE = 1, 2, 4
_PREFERRED, _YIELDS = 1, 2
KINDS = {
    b"u": "unique", b"e": "exact", b"n": "near", b"s": "short", b"=": "unchanged", b"!": "updated",
}  # fmt: skip


class TemplateNews(NamedTuple):
    """What a worker knows of a host's template: so many entries of the shared log, and ``pairs``, 4
    bytes each, to be added to it. In an answer the entries from number ``length`` on.
    """

    length: int
    pairs: bytes


class CheckRequest(NamedTuple):
    """A page to check. The same `token` again is the same check, tried again.

    ``canonical`` is the other URL that the page names as canonical, if it does; ``yields`` says
    that it gives its place in the index to that. ``date`` is its text's, in seconds since 1970, 0
    if unknown: of two copies the earlier takes the place. ``preferred`` takes it in any case. With
    ``template`` the answer tells what is new in the template of the page's host. ``since`` is when
    it was kept for later, in seconds since 1970, 0 if it was not. ``whole`` gives the fingerprint
    of its text before the template of its site was cut, if that is another.
    """

    url: str
    host: str
    token: bytes
    fingerprint: Fingerprint
    canonical: str = ""
    yields: bool = False
    date: int = 0
    preferred: bool = False
    since: int = 0
    template: TemplateNews | None = None
    whole: Callable[[], Awaitable[Fingerprint]] | None = None


class Gone(NamedTuple):
    """A URL that is gone from the web, and since when, in seconds since 1970."""

    url: str
    since: int


class Evidence(NamedTuple):
    """What the server says of a page: its kind, the decision that stands, and what they rest on.

    ``page`` is the number of the kept page that stands for it, ``duplicate_of`` that page's URL if
    it is another. ``odd_bits`` of the two odd sketches differ; ``sampled`` and ``other_sampled``
    are the shingles sampled at ``level``. ``replaces`` is the URL of the page whose place it took;
    ``canonical_known`` tells that the index has the URL that it names as canonical, ``gone`` that
    it was reported gone. ``template`` is what the worker did not know of the host's template.
    """

    kind: str
    standing: str
    duplicate_of: str | None
    page: int
    odd_bits: int
    sampled: int
    other_sampled: int
    level: int
    canonical_known: bool = False
    gone: bool = False
    replaces: str | None = None
    template: TemplateNews | None = None


class StoredPage(NamedTuple):
    """What the index holds of one URL; times are seconds since 1970, `gone` is 0 if it is not."""

    evidence: Evidence
    first_seen: int
    last_seen: int
    words: int
    gone: int
    exact: bytes


class RedisIndex(Reader):
    """The tables and records of one namespace on one server."""

    exchange = 32  # pages in one: the server does nothing else for about 0.1 ms a page meanwhile

    def __init__(
        self,
        client: Client,
        namespace: str,
        parameters: Mapping[str, Any],
        rule: Rule,
        *,
        secret: int | None = None,
    ) -> None:
        self.keys = Keys(namespace)
        agreed = Parameters(namespace, parameters, secret=secret)
        super().__init__(client, namespace, [self.keys], self.keys, agreed)
        self._tables = int(parameters["tables"])
        self._rule = rule

    async def open(self, *, make: bool = True) -> dict[str, str]:
        """Make the index, or see that the one that is there has these parameters; return them.

        Unless one is to be made, where there is none it is read as one without pages. Raises
        :class:`ParameterMismatch` naming those that differ, and :class:`ServerError`.
        """
        asked = self._parameters.flat if make else []
        return self._parameters.agree(await self._run("open", asked))

    async def check(
        self, requests: Sequence[CheckRequest], *, threshold: float, bits: int, ttl: float | None
    ) -> list[Evidence]:
        """Check pages in order, all in one atomic step and one exchange.

        Pages not seen for `ttl` seconds count no more; None: they count for ever.
        """
        threshold = max(threshold, self._rule.least_similarity)
        now = int(time.time())
        oldest = 0 if ttl is None else now - int(ttl)
        rule = (self._rule.min_matches, "keys" if self._rule.by_keys else "sketch")
        arguments: list[Any] = [self._parameters.digest, now, threshold, bits, oldest, *rule]
        seed = self._parameters.seed
        arguments += [pack_request(request, seed) for request in requests]
        return [unpack_answer(reply) for reply in await self._run("check", arguments)]

    async def show(self, url: str) -> StoredPage | None:
        """What the index holds of a URL, or None if it never saw it."""
        reply = await self._run("show", [url, self.url_key(url)])
        if reply is None:
            return None
        evidence, *rest = reply
        return StoredPage(unpack_evidence(evidence), *rest)

    async def gone(self, reports: Sequence[Gone]) -> list[bool]:
        """Note that URLs are gone from the web; False for those that were never there.

        Of a page that was checked later than it was found gone nothing is noted: False, too.
        """
        items = [pack_gone(report, self.url_key(report.url)) for report in reports]
        replies = await self._run("gone", [self._parameters.digest, *items])
        return [bool(known) for known in replies]

    async def override(self, url: str, decision: str | None) -> None:
        """Keep what somebody wants of a URL: that it is kept or dropped; None: nothing more."""
        await self.write_override(self.keys, url, decision)

    async def forget(self, url: str, *, bits: int) -> bool:
        """Take a URL out of the index; False if it was not there."""
        return bool(await self._run("forget", [url, self.url_key(url), bits]))

    def home(self, url: str) -> int:
        """See :meth:`Reader.home`."""
        return 0

    def tables(self, bands: int) -> list[tuple[str, str]]:
        """See :meth:`Reader.tables`."""
        return [("url", "url"), ("exact", "exact"), *((f"band{i}", "band") for i in range(bands))]

    def entries(self, shard: int, page: int, exact: bytes, words: int, bands: bytes) -> list[Entry]:
        """See :meth:`Reader.entries`."""
        found = [Entry(shard, "exact", "exact", exact[:4], page)] if words else []
        for band in range(len(bands) // 4):
            key = bands[band * 4 : band * 4 + 4]
            found.append(Entry(shard, f"band{band % self._tables}", "band", key, page))
        return found

    async def mend(self) -> None:
        """Nothing: a check is one step and leaves nothing half done."""

    async def close(self) -> None:
        """Nothing: a check is one step and all is done when it returns."""

    async def _run(self, name: str, arguments: Sequence[Any]) -> Any:
        script = load_script(name)
        with explained():
            try:
                return await self._client.evalsha(script.digest, 1, self.keys.params, *arguments)
            except NoScriptError:  # a new server, or one that was restarted
                return await self._client.eval(script.text, 1, self.keys.params, *arguments)


def pack_request(request: CheckRequest, seed: int) -> bytes:
    """A page as the scripts read it, see lua/pages.lua."""
    page = request.fingerprint
    url, host, canonical = (
        part.encode() for part in (request.url, request.host, request.canonical)
    )
    words = min(page.words, 0xFFFFFFFF)
    pairs = request.template.pairs if request.template is not None else b""
    parts = [
        _REQUEST.pack(
            table_key(request.url, seed),
            request.token,
            words,
            page.exact,
            request.date,
            request.since,
            table_key(request.canonical, seed) if canonical else NO_KEY,
            _PREFERRED * request.preferred + _YIELDS * request.yields,
            NO_TEMPLATE if request.template is None else request.template.length,
            len(pairs),
            len(url),
            len(host),
            len(page.bands),
            len(canonical),
        ),
        url,
        host,
        page.bands,
        canonical,
        pairs,
    ]
    for level, members, sketch in page.odd:
        parts += (_ODD.pack(level, members), sketch)
    return b"".join(parts)


def pack_gone(report: Gone, key: bytes) -> bytes:
    """A URL that is gone and its table key as the scripts read them, see lua/gone.lua."""
    return report.since.to_bytes(4) + key + report.url.encode()


def unpack_answer(reply: bytes | list[bytes]) -> Evidence:
    """The evidence in an answer of lua/check.lua."""
    if isinstance(reply, bytes):
        return unpack_evidence(reply)
    evidence, news = reply
    return unpack_evidence(evidence)._replace(template=unpack_news(news))


def unpack_news(reply: bytes) -> TemplateNews | None:
    """What is new in a host's template, see lua/pages.lua."""
    return TemplateNews(int.from_bytes(reply[:2]), reply[2:]) if reply else None


def unpack_evidence(reply: bytes) -> Evidence:
    """The evidence that a script returned, see lua/records.lua.

    Raises :class:`ServerError` if the record that it is from holds no verdict.
    """
    kind, standing, page, odd_bits, sampled, other, level, flags = _EVIDENCE.unpack_from(reply)
    if kind not in KINDS or standing not in KINDS:
        raise ServerError(DAMAGED.sentence)
    url = reply[_EVIDENCE.size :].decode("utf-8", "replace") or None
    return Evidence(
        KINDS[kind],
        KINDS[standing],
        None if flags & _REPLACES else url,
        page,
        odd_bits,
        sampled,
        other,
        level,
        bool(flags & _CANONICAL_KNOWN),
        bool(flags & _GONE),
        url if flags & _REPLACES else None,
    )
