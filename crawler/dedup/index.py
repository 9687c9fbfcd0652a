"""The one front door of the index: a page goes in, a verdict comes out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .errors import InputError, ServerError
from .exchange.replay import replayed
from .exchange.requests import record_of
from .exchange.spool import Waiting
from .identity import host
from .matches import Match, Matcher
from .open_index import OpenIndex
from .sketches.odd import OddSketch
from .store.audit import Audit, audit_index
from .store.keys import AGAIN
from .store.messages import Crawl, Forget, Original, TemplateNews
from .store.sample import sample_sketches
from .store.statistics import IndexStats, read_statistics
from .verdict import Record, Verdict

if TYPE_CHECKING:
    from ..chrome import SharedTemplate
    from .inspection.orphans import Orphan


class DuplicateIndex(OpenIndex):
    """An open index. Use :meth:`open`; all methods raise :class:`ServerError` when the server gives
    no answer, and nothing is then changed that a second call would not put right.

    Attributes:
        config: what the index was opened with.
        store: the index in the server, for those who read all of it: see :mod:`.inspection`.
        fingerprint: makes of a page's main text what the index compares of it.
        crawl: the crawl that was begun and has not ended, if any.
    """

    async def check(
        self,
        url: str,
        text: str,
        *,
        canonical: str | None = None,
        date: datetime | None = None,
        fields: Mapping[str, Any] | None = None,
        preferred: bool = False,
        whole: str | None = None,
        template: SharedTemplate | None = None,
        heading: str = "",
        own_words: int | None = None,
        learnt: int | None = None,
        final: Iterable[str] = (),
        scope: str | None = None,
    ) -> Verdict:
        """Decide about a page with main text `text` and keep it if it is no duplicate.

        `canonical` is the URL that the page names as canonical, `date` when its text was published,
        in local time if it names no zone, `fields` what its item has in the fields that
        ``DEDUP_PREFER`` names; that setting says which of several copies is kept. A `preferred`
        page takes the place of the one that it copies. `whole` is the main text as the page alone
        gives it, whatever is known of its site: by that a page is exact or unchanged, so that
        neither depends on how well the site's template is known. What is known of that is exchanged
        with other workers through `template`.

        Pages with other `heading`s are no copies where they have few words of their own, or where
        their site's template is hardly known: `own_words` of the text are not of that, which was
        `learnt` from so many contents. Records of the hosts `final` that nobody has seen since the
        crawl began give way to the page. `scope` is that of the page, which its URL tells unless
        ``DEDUP_SCOPE`` is a field of items.
        """
        fingerprint = await self._fingerprinted(text, whole, url=url, scope=scope)
        if heading:
            own = self.fingerprint.own(heading, own_words, learnt)
            fingerprint = replace(fingerprint, own=own)
        request = self._request(
            url, fingerprint, canonical=canonical, date=date, fields=fields, final=final
        )
        request = request._replace(
            preferred=preferred,
            template=TemplateNews(template.length, template.offer()) if template else None,
            whole=partial(self._fingerprinted, whole, url=url, scope=scope)
            if whole not in (None, text)
            else None,
        )
        answer = await self._exchange.check(request)
        if template is not None and answer.template is not None:
            template.take(*answer.template)
        return self._verdict_of(url, answer, request)

    async def meet(self, url: str, template: SharedTemplate) -> None:
        """Take in what the index knows of a site's template, before the site's first page is read.

        Else that comes with the answers to its first pages. Without an answer nothing is known.
        """
        site = host(self.config.identity(url))
        question = partial(self.store.template, site)
        with suppress(ServerError):
            pairs = await self._exchange.ask(question)
            if not template.length:  # else the answer to a page has come meanwhile, and is newer
                template.take(0, pairs)

    async def prefer(self, url: str, text: str, *, scope: str | None = None) -> Verdict:
        """Check a known page as `preferred`, by the main text that was compared when it came.

        It keeps the exact hash that the index has, so that :meth:`check` finds it unchanged later:
        that hash is of the page's whole text, which may be another than `text`.
        """
        request = self._request(url, await self._fingerprinted(text, url=url, scope=scope))
        page = await self.store.show(request.url)
        if page is not None:
            fingerprint = replace(request.fingerprint, exact=page.exact)
            request = request._replace(fingerprint=fingerprint)
        return await self._decided(url, request._replace(preferred=True))

    async def check_many(
        self, pages: Iterable[tuple[str, str]], *, scope: str | None = None
    ) -> list[Verdict]:
        """Check `(url, text)` pairs in order, many in each exchange.

        If `pages` raises, those that came before are checked all the same.
        """
        verdicts: list[Verdict] = []
        waiting: list[asyncio.Task[Verdict]] = []
        try:
            for url, text in pages:
                # One after the other: a long text takes longer, and is not to come after the next.
                page = await self._fingerprinted(text, url=url, scope=scope)
                request = self._request(url, page)
                waiting.append(asyncio.create_task(self._decided(url, request)))
                if len(waiting) == self.store.exchange:
                    verdicts += await asyncio.gather(*waiting)
                    waiting.clear()
            return verdicts + await asyncio.gather(*waiting)
        finally:  # nothing goes on behind the back of whoever closes the index now
            await asyncio.gather(*waiting, return_exceptions=True)

    async def begin_crawl(self, resume: Crawl | None = None, *, doubtful: int = 0) -> Crawl:
        """Note that a crawl begins, or goes on with what `resume` says that it was.

        From now on checks tell which records nobody has seen since (:attr:`Verdict.unconfirmed`),
        and which pages this crawl has seen before (``repeated``). Crawls with one ``DEDUP_CRAWL``
        are one, and so are those that begin within seconds of each other, but for ``repeated``.

        What a crawl that was killed has kept may not have been passed on: kept pages seen from
        `doubtful` on, in seconds since 1970, come once more as ``updated``.
        """
        if resume is None:
            await self._is_there()
            question = partial(self.store.begin_crawl, self.config.crawl or "")
            resume = await self._exchange.ask(question)
            if doubtful and self.config.crawl:
                # Under the number that all of that name have, what was kept would be `repeated`.
                own = await self._exchange.ask(partial(self.store.begin_crawl, ""))
                resume = own._replace(start=resume.start)
        self.crawl, self._doubtful = resume, doubtful
        return resume

    async def end_crawl(self) -> None:
        """Note that the crawl has ended: others that begin now are others."""
        if self.crawl is not None:
            ended, self.crawl = self.crawl, None
            await self._exchange.ask(partial(self.store.end_crawl, ended))

    async def originals(self, urls: Iterable[str]) -> dict[str, Original]:
        """What has become of the pages that stand for these URLs, since the crawl began."""
        known = {url: self.config.identity(url) for url in urls}
        found: dict[str, Original] = {}
        start = self.crawl.start if self.crawl is not None else 0
        asked, size = list(known), self.store.exchange
        for begin in range(0, len(asked), size):
            some = asked[begin : begin + size]
            question = partial(self.store.originals, [known[url] for url in some], start)
            found.update(zip(some, await self._exchange.ask(question), strict=True))
        return found

    async def orphans(self) -> AsyncIterator[Orphan]:
        """The URLs whose texts no kept page has any more; it reads the whole index."""
        from .inspection.orphans import read_orphans

        async with aclosing(read_orphans(self)) as found:
            async for one in found:
                yield one

    async def replay(
        self, told: Callable[[str], object] = lambda url: None
    ) -> AsyncIterator[Verdict]:
        """Check the pages in the spool, and report those that are gone; what the server does not
        answer for stays there. `told` is called with each address that was reported.

        A page that was seen with another text since is passed over.
        An index that was deleted meanwhile is made again, for a new one would draw another seed,
        and could not check them. Raises :class:`ParameterMismatch` if somebody else has made it.
        """
        if self._spool is None or not any(self.spooled()[0]):
            return
        await self.store.open()
        answers = replayed(self._spool, self.store, told)
        async with aclosing(answers):  # lest what is not done wait for the collector
            async for request, answer in answers:
                yield self._verdict_of(request.url, answer, request)

    def spooled(self) -> tuple[Waiting, Waiting]:
        """What is in the spool: of this index, and what it cannot check: of others, and damaged
        lines.
        """
        return self._spool.count() if self._spool is not None else (Waiting(), Waiting())

    async def find(
        self,
        text: str,
        *,
        limit: int | None = 10,
        threshold: float | None = None,
        copies: bool = True,
        url: str = "",
        scope: str | None = None,
    ) -> list[Match]:
        """The pages that a main text is like, the most similar first; nothing is changed.

        Of kept pages these are those that :meth:`check` of the text alone would compare with, from
        the `threshold` on, ``DEDUP_THRESHOLD`` unless it is given; below that the bands find fewer.
        With `copies`, the copies of these pages are among them. `url` or `scope` tell whose
        pages they are, if ``DEDUP_SCOPE`` is set. On one server it is one exchange;
        in an index of more than 24,000 pages reading on for copies takes 20 ms per 1,000 pages.
        """
        if threshold is not None and not 0 < threshold <= 1:
            raise InputError(f"expects a threshold above 0, up to 1, not {threshold}")
        if not await self._is_there():
            return []
        page = await self._fingerprinted(text, url=url, scope=scope, least=threshold)
        matcher = Matcher(page, self.config, threshold)
        await matcher.read(self.store, self._exchange.ask, copies=copies)
        return matcher.matches[:limit]

    async def show(self, url: str) -> Record | None:
        """What the index knows of a URL, or None if it never saw it."""
        known = self.config.identity(url)
        page = await self.store.show(known) if await self._is_there() else None
        return record_of(known, page, self.config.sketch_bits) if page is not None else None

    async def gone(self, url: str, since: int | None = None) -> bool:
        """Note that a URL is gone from the web, `since` so many seconds after 1970 if not now.

        False if the index never saw it, or saw it later: then nothing is noted.

        If it stood for copies, the first of them that is checked again, or a new one, takes its
        place: :attr:`Verdict.replaces` says so.
        """
        return await self._exchange.report(self._gone(url, since))

    def keep_gone(self, found: Iterable[tuple[str, int]]) -> None:
        """Keep URLs for which :meth:`gone` had no answer, and since when, for :meth:`replay`."""
        self._exchange.keep([self._gone(url, since) for url, since in found])

    async def override(self, url: str, decision: Literal["keep", "drop"] | None) -> None:
        """Say what shall become of a URL at its next checks, whatever it resembles; None: nothing.

        ``keep``: it is kept. ``drop``: it is taken for a copy of the page that is most like it, if
        any shares a band with it. Raises :class:`InputError` if there is no index.
        """
        if not await self._is_there():
            raise InputError(f"there is no index {self.config.namespace!r}; see DEDUP_NAMESPACE")
        known = self.config.identity(url)
        await self.store.override(known, decision)

    async def overrides(self) -> dict[str, str]:
        """What somebody said with :meth:`override`, by URL."""
        found = await self.store.overrides()
        return {url: wish for url, wish in found.items() if wish != AGAIN}

    async def url_rules(self, site: str) -> dict[str, dict[str, Any]]:
        """What is known of the URLs of a site: which of their features make no difference."""
        if not await self._is_there():
            return {}
        return await self._exchange.ask(partial(self.store.url_rules, site))

    async def note_url_rule(
        self, site: str, feature: str, rule: Mapping[str, Any] | None, *, by_person: bool = False
    ) -> None:
        """Note what is known of a feature, None for nothing more; a person overrules crawls.

        Raises :class:`InputError` if there is no index.
        """
        if not await self._is_there():
            raise InputError(f"there is no index {self.config.namespace!r}; see DEDUP_NAMESPACE")
        told = json.dumps(rule) if rule is not None else ""
        question = partial(self.store.url_rules, site, feature, told, int(by_person))
        await self._exchange.ask(question)

    async def share_seen(
        self, process: str, last: bytes, pages: Sequence[str]
    ) -> tuple[bytes, list[bytes]]:
        """Tell other processes of this crawl of pages, and hear of those of theirs after `last`.

        A crawl without a name (``DEDUP_CRAWL``) has no others.
        """
        if self.crawl is None or not self.config.crawl or not await self._is_there():
            return last, []
        question = partial(self.store.share_seen, self.crawl.number, process, last, pages)
        return await self._exchange.ask(question)

    async def forget(self, url: str) -> bool:
        """Take a URL out of the index; its copies are decided anew when they come again.

        False if the index never saw the URL. Those that are forgotten at the same time share
        exchanges.
        """
        return await self._exchange.forget(Forget(self.config.identity(url)))

    async def leave_out(self, url: str) -> bool:
        """The same for what a crawl leaves out: False, too, if it is a copy, for none is of it."""
        return await self._exchange.forget(Forget(self.config.identity(url), if_kept=True))

    async def stats(self) -> IndexStats:
        """Counts of verdicts, memory in bytes and parameters."""
        return await read_statistics(self.store, bands=self.config.make_method().tables or 1)

    async def sample(self, pages: int) -> list[OddSketch]:
        """Sketches of up to so many kept pages, drawn at random."""
        return await sample_sketches(self.store, pages, odd_bytes=self.config.sketch_bits // 8)

    async def verify(self) -> Audit:
        """Read the whole index and tell whether records, tables and counters agree."""
        if await self._is_there():
            await self.store.finish_dead()
        return await audit_index(self.store, odd_bytes=self.config.sketch_bits // 8)
