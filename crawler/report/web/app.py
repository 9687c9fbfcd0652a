"""The pages of the web page, one method each."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ...dedup.errors import DedupError, InputError
from ...dedup.inspection import explain_decision
from ..html_file import STATIC
from ..s_curve import report_curve
from ..survey import kept_pages
from ..tables import host_rows, verdict_rows
from ..texts import MOST_WORDS, side_by_side
from .guard import Guard
from .metrics import CONTENT_TYPE, Watched, open_metrics
from .override_pages import OverridePages
from .view import MOST_FOUND, View, part_of
from .what_if_pages import WhatIfPages

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from ...dedup.archive.archived_pages import Archive
    from ...dedup.index import DuplicateIndex


def make_app(index: DuplicateIndex, *, token: str, host: str) -> ASGIApp:
    """The application behind its guard. `host` is where the server listens."""
    view = View(index, token)
    index_pages, overrides, what_if = IndexPages(view), OverridePages(view), WhatIfPages(view)
    pages: list[tuple[str, str, Any]] = [
        ("GET", "/", index_pages.show_overview),
        ("GET", "/decisions", index_pages.list_decisions),
        ("GET", "/clusters", index_pages.list_clusters),
        ("GET", "/cluster/{number}", index_pages.show_cluster),
        ("GET", "/search", index_pages.search_pages),
        ("GET", "/page", index_pages.show_page),
        ("GET", "/threshold", what_if.try_threshold),
        ("GET", "/stories", what_if.list_stories),
        ("POST", "/nearest", what_if.find_nearest),
        ("POST", "/find", what_if.find_pages),
        ("GET", "/overrides", overrides.list_overrides),
        ("POST", "/override", overrides.keep_override),
        ("POST", "/prefer", overrides.prefer_copy),
        ("GET", "/metrics", index_pages.show_metrics),
    ]
    routes: list[BaseRoute] = [
        Route(path, view.check_current(page), methods=[method]) for method, path, page in pages
    ]
    routes.append(Mount("/static", StaticFiles(directory=STATIC)))
    handlers: Any = {HTTPException: index_pages.show_failure, DedupError: index_pages.show_failure}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, host)


class IndexPages:
    """The pages that show the index as it is."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._index = view.index
        self._config = view.config

    async def show_overview(self, request: Request) -> Response:
        """Counts, similarities, hosts and sizes."""
        stats = await self._index.stats()
        survey, pairs = await self._view.take_surveys()
        hosts, other_hosts = host_rows(survey.hosts.values())
        return self._view.render_page(
            request,
            "overview.html",
            stats=stats,
            verdicts=verdict_rows(stats.verdicts),
            chart=report_curve(self._config, stats.histogram, pairs),
            pairs=pairs,
            hosts=hosts,
            other_hosts=other_hosts,
            sizes=survey.size_bins(),
            taken=survey.taken,
        )

    async def list_decisions(self, request: Request) -> Response:
        """The near-duplicates, the least similar first."""
        survey = await self._view.take_survey()
        part, pager = part_of(request, survey.near)
        kept = await kept_pages(self._index, {page.cluster for page in part})
        urls = [page.url for page in part]
        decided = await self._view.read_overrides(urls)
        titles = await self._view.read_titles(urls)
        return self._view.render_page(
            request,
            "decisions.html",
            part=part,
            kept=kept,
            decided=decided,
            titles=titles,
            pager=pager,
            total=len(survey.near),
        )

    async def list_clusters(self, request: Request) -> Response:
        """All clusters, those in doubt or the largest first."""
        survey = await self._view.take_survey()
        order = "size" if request.query_params.get("order") == "size" else "doubt"
        numbers = survey.by_size() if order == "size" else survey.by_doubt()
        part, pager = part_of(request, numbers, order=order)
        kept = await kept_pages(self._index, part)
        titles = await self._view.read_titles([page.url for page in kept.values()])
        return self._view.render_page(
            request,
            "clusters.html",
            part=part,
            kept=kept,
            survey=survey,
            titles=titles,
            pager=pager,
            order=order,
            total=len(numbers),
        )

    async def show_cluster(self, request: Request) -> Response:
        """One cluster: the kept page and its copies."""
        text = request.path_params["number"]
        if not re.fullmatch("[0-9]{1,10}", text):
            raise HTTPException(404, "There is no such cluster.")
        survey = await self._view.take_survey()
        number = survey.moved.get(int(text), int(text))
        kept = (await kept_pages(self._index, [number])).get(number)
        copies = survey.clusters.get(number, [])
        if kept is None and not copies:
            raise HTTPException(404, "There is no such cluster.")
        part, pager = part_of(request, copies)
        urls = [page.url for page in part] + ([kept.url] if kept else [])
        return self._view.render_page(
            request,
            "cluster.html",
            number=number,
            kept=kept,
            part=part,
            size=survey.sizes[number] or 1,
            titles=await self._view.read_titles(urls),
            pager=pager,
            decided=await self._view.read_overrides(urls),
        )

    async def search_pages(self, request: Request) -> Response:
        """A page by its URL, or the pages with such words in their URL or title."""
        words = request.query_params.get("q", "").strip()
        if not words:
            return RedirectResponse("/", 303)
        if await self._index.show(words) is not None:
            return RedirectResponse(f"/page?{urlencode({'url': words})}", 303)
        survey = await self._view.take_survey()
        # The archive has identities, and people copy parts of the URLs that they were shown.
        place = "" if "//" in words else "//host/"  # a part alone would be no URL
        spelt = dict.fromkeys((words, self._config.identity(place + words).removeprefix(place)))

        def search(archive: Archive) -> list[str]:
            # Of a fragment alone nothing is left, which every page has.
            found = (archive.search(one, MOST_FOUND) for one in spelt if one)
            return list(chain.from_iterable(found))[:MOST_FOUND]

        archived = await self._view.ask_archive(search)
        records = await asyncio.gather(*map(self._index.show, archived))
        found = dict.fromkeys(
            record.url if record else url for url, record in zip(archived, records, strict=True)
        )
        for copies in survey.clusters.values():
            if len(found) >= MOST_FOUND:
                break
            found |= dict.fromkeys(page.url for page in copies if words.lower() in page.url.lower())
        urls = list(found)[:MOST_FOUND]
        return self._view.render_page(
            request,
            "search.html",
            words=words,
            urls=urls,
            titles=await self._view.read_titles(urls),
        )

    async def show_page(self, request: Request) -> Response:
        """One page: its verdict, what it copies and where it differs, and what to do about it."""
        url = request.query_params.get("url", "")
        record = await self._index.show(url)
        if record is None:
            raise HTTPException(404, "The index never saw this URL.")
        survey = await self._view.take_survey()
        original = record.duplicate_of

        def read(archive: Archive) -> tuple[Any, ...]:
            own = archive.page(record.url)
            other = archive.page(original) if original else None
            found = None
            if own and other:
                whole = other.is_whole, own.is_whole
                found = side_by_side(other.text, own.text, ignore=self._config.ignore, whole=whole)
            return own, other, found

        own, other, found = await self._view.ask_archive(read)
        shares = None
        if own is not None and self._config.containment is not None:
            shares = (await explain_decision(self._index, url, own.text)).shares
        return self._view.render_page(
            request,
            "page.html",
            record=record,
            own=own,
            other=other,
            found=found,
            shares=shares,
            most_words=MOST_WORDS,
            decision=(await self._view.read_overrides([record.url])).get(record.url),
            done=request.query_params.get("done"),
            following=survey.next_after(record.similarity, record.url)
            if record.kind == "near" and record.similarity is not None
            else None,
        )

    async def show_metrics(self, request: Request) -> Response:
        """Counts for Prometheus."""
        stats, decided = await self._index.stats(), await self._index.overrides()
        waiting = None
        with suppress(OSError):
            waiting = await asyncio.to_thread(self._index.count_waiting)
        servers = await self._index.store.server_memory()
        watched = Watched(len(decided), waiting, servers)
        return Response(open_metrics(stats, watched), media_type=CONTENT_TYPE)

    async def show_failure(self, request: Request, error: Exception) -> Response:
        """What went wrong, in one sentence."""
        status = 400 if isinstance(error, InputError) else 503
        status = error.status_code if isinstance(error, HTTPException) else status
        text = error.detail if isinstance(error, HTTPException) else str(error)
        if request.url.path.startswith("/static/"):  # needs no token
            return PlainTextResponse(text, status)
        return self._view.render_page(request, "failure.html", status=status, text=text)
