"""The public interface of the index: a page goes in, a verdict comes out."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .asked_index import AskedIndex
from .errors import InputError, ServerError
from .exchange.replay import replay_spool
from .identity import fetched_url, host
from .store.messages import UNANNOUNCED, Crawl, Forget, TemplateNews
from .verdict import Verdict

if TYPE_CHECKING:
    from ..chrome import SharedTemplate


class DuplicateIndex(AskedIndex):
    """An open index of pages. Open one with :meth:`open`.

    All methods raise :class:`ServerError` if the server gives no answer. A second call then
    completes whatever the first one left undone.

    Attributes
    ----------
    config
        The configuration that the index was opened with.
    store
        The index on the server, for code that reads all of it.
    fingerprint
        Computes the fingerprint of a main text.
    crawl
        The crawl that has begun and not ended, if any.
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
        """Decide about a page, and keep it if it is not a duplicate.

        Parameters
        ----------
        url, text
            The page's URL and main text.
        canonical
            The URL that the page names as canonical.
        date
            When the text was published, in local time if it has no time zone.
        fields
            The item's values of the fields that ``DEDUP_PREFER`` names.
        preferred
            Whether the page takes the place of the page that it copies.
        whole
            The main text without what is known about the site's template. Whether a page is
            ``exact`` or ``unchanged`` is decided by it, so learning a template changes neither.
        template
            The site's template. What this and other workers have learnt is exchanged through it.
        heading, own_words, learnt
            The page's heading, the number of words that do not belong to the template (by default
            all), and the number of texts from which the template was learnt. Pages with different
            headings are not copies if they have few words of their own, or if the template is
            hardly known.
        final
            Hosts whose unconfirmed records give way to the page.
        scope
            The page's scope, if ``DEDUP_SCOPE`` names a field of items.

        Returns
        -------
        Verdict
            The decision. If it is ``exact`` or ``near``, the page is not kept.

        Raises
        ------
        ServerError
            The server gives no answer. The request is in the spool, if there is one.
        """
        fingerprint = await self._fingerprinted(text, whole, url=url, scope=scope)
        fingerprint = self.fingerprint.with_own(fingerprint, heading, own_words, learnt)
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
        """Load what the index knows about a site's template, before its first page is read.

        If the server gives no answer, the template stays empty. It is also updated by the answers
        to the site's first pages.
        """
        site = host(self.config.identity(url))
        question = partial(self.store.template, site)
        with suppress(ServerError):
            pairs = await self._exchange.ask(question)
            if not template.length:  # otherwise a page's answer has filled it, and is newer
                template.take(0, pairs)

    async def prefer(self, url: str, text: str, *, scope: str | None = None) -> Verdict:
        """Make a known page the kept page of its cluster. `text` is its main text.

        The page keeps its exact hash in the index, so a later :meth:`check` finds it unchanged.
        That hash is of the whole text, which may differ from `text`.
        """
        request = self._request(url, await self._fingerprinted(text, url=url, scope=scope))
        page = await self.store.show(request.url)
        if page is not None:
            fingerprint = replace(request.fingerprint, exact=page.exact)
            fetched = fetched_url(page.shown_url, request.url)
            request = request._replace(fingerprint=fingerprint, fetched=fetched)
        return await self._decided(url, request._replace(preferred=True))

    async def check_many(
        self, pages: Iterable[tuple[str, str]], *, scope: str | None = None
    ) -> list[Verdict]:
        """Check `(url, text)` pairs in order, many in each exchange.

        If `pages` raises, the pages before that are checked all the same.
        """
        verdicts: list[Verdict] = []
        waiting: list[asyncio.Task[Verdict]] = []
        try:
            for url, text in pages:
                # One after the other, so that a long text is not overtaken by the next.
                page = await self._fingerprinted(text, url=url, scope=scope)
                request = self._request(url, page)
                waiting.append(asyncio.create_task(self._decided(url, request)))
                if len(waiting) == self.store.exchange:
                    verdicts += await asyncio.gather(*waiting)
                    waiting.clear()
            return verdicts + await asyncio.gather(*waiting)
        finally:  # no check may still be running when the caller closes the index
            await asyncio.gather(*waiting, return_exceptions=True)

    async def begin_crawl(
        self, resume: Crawl | None = None, *, killed: Crawl | None = None
    ) -> Crawl:
        """Record that a crawl begins, or that the crawl `resume` continues.

        From now on, verdicts say which records have not been seen since
        (:attr:`Verdict.unconfirmed`), and which pages this crawl has already seen (``repeated``).
        Crawls with the same ``DEDUP_CRAWL`` are one crawl. So are crawls that begin within seconds
        of each other, except for ``repeated``.

        A crawl that was killed may have kept pages that are in no feed. Pages that it was the last
        to keep are therefore ``updated`` once. It is known by `killed`, or since it began earlier
        and has not ended.
        """
        await self._is_there()
        ask, store, name = self._exchange.ask, self.store, self.config.crawl or ""
        if killed is not None:
            await self.settle_crawl(killed, failed=True)
        if resume is not None:
            crawl = await ask(partial(store.resume_crawl, resume, name))
        else:
            crawl = await ask(partial(store.begin_crawl, name))
            if killed is not None and name:
                # Crawls of one name share a number: with it, kept pages would be `repeated`.
                own = await ask(partial(store.begin_crawl, ""))
                await ask(partial(store.end_crawl, crawl))
                crawl = own._replace(start=crawl.start)
        self.crawl = crawl
        return crawl

    async def settle_crawl(self, crawl: Crawl, *, failed: bool) -> None:
        """Record that a crawl has ended, or that it was killed or has `failed`."""
        end = self.store.give_up_crawl if failed else self.store.end_crawl
        await self._exchange.ask(partial(end, crawl))

    async def end_crawl(self, *, failed: bool = False) -> None:
        """Record that the crawl has ended: what it kept was passed on, unless it has `failed`.

        Crawls that begin now are not part of it. If it failed, it counts as killed. A crawl with a
        name is one with its other processes, and has not ended while one has failed.
        """
        if self.crawl is not None and not (failed and self.config.crawl):
            ended, self.crawl = self.crawl, None
            await self.settle_crawl(ended, failed=failed)

    async def replay(
        self, told: Callable[[str], object] = lambda url: None
    ) -> AsyncIterator[Verdict]:
        """Check the pages in the spool, and report its gone URLs.

        Requests that get no answer stay in the spool. `told` is called with each gone URL that was
        reported. Pages that were seen with another text since are skipped. If the index was deleted
        meanwhile, it is made again with the same seed. Raises :class:`ParameterMismatch` if the
        index has been made again with another seed.
        """
        if self._spool is None or not any(self.spooled()[0]):
            return
        asked = time.monotonic()
        try:
            await self.store.open()
            answers = replay_spool(self._spool, self.store, told)
            async with aclosing(answers):  # closed at once, not by the garbage collector
                async for request, answer in answers:
                    yield self._verdict_of(request.fetched or request.url, answer, request)
                    asked = time.monotonic()
        except ServerError as error:
            # The end of a crawl need not wait again.
            self._exchange.breaker.note_failure(asked, error)
            raise
        # Otherwise the crawl could not end, and would count as killed.
        self._exchange.breaker.note_answer()

    async def gone(self, url: str, since: int | None = None) -> bool:
        """Record that a URL is gone from the web, `since` a time in seconds since 1970, or now.

        Returns False, and records nothing, if the index never saw the URL or saw it later. If the
        page has copies, the first of them to be checked, or a new copy, takes its place:
        :attr:`Verdict.replaces` says so.
        """
        return await self._exchange.report(self._gone(url, since))

    def keep_gone(self, found: Iterable[tuple[str, int]]) -> None:
        """Put gone URLs and their times into the spool, if :meth:`gone` got no answer."""
        self._exchange.keep([self._gone(url, since) for url, since in found])

    async def override(self, url: str, decision: Literal["keep", "drop"] | None) -> None:
        """Override the decision about a URL at its next checks; None removes the override.

        ``keep`` keeps the page. ``drop`` makes it a copy of the most similar page that shares a
        band with it, if there is one. Raises :class:`InputError` if there is no index.
        """
        if not await self._is_there():
            raise InputError(f"there is no index {self.config.namespace!r}; see DEDUP_NAMESPACE")
        known = self.config.identity(url)
        await self.store.override(known, decision)

    async def note_url_rule(
        self, site: str, feature: str, rule: Mapping[str, Any] | None, *, by_person: bool = False
    ) -> None:
        """Store a URL rule, or remove it with None. A person's rule overrides that of a crawl.

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
        """Tell the other processes of this crawl about pages, and get their pages after `last`.

        Does nothing in a crawl without a name (``DEDUP_CRAWL``).
        """
        if self.crawl is None or self.crawl == UNANNOUNCED or not self.config.crawl:
            return last, []
        if not await self._is_there():
            return last, []
        question = partial(self.store.share_seen, self.crawl.number, process, last, pages)
        return await self._exchange.ask(question)

    async def forget(self, url: str) -> bool:
        """Remove a URL from the index. Its copies are decided again when they are next seen.

        Returns False if the index never saw the URL.
        """
        return await self._exchange.forget(Forget(self.config.identity(url)))

    async def leave_out(self, url: str) -> bool:
        """Remove a kept page that a crawl leaves out. Returns False if it is a copy or unknown."""
        return await self._exchange.forget(Forget(self.config.identity(url), if_kept=True))
