"""The pages of the web page, one method each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from ...dedup.errors import DedupError
from ..document import STATIC
from ..s_curve import report_curve
from ..survey import kept_pages
from ..tables import host_rows, verdict_rows
from ..texts import MOST_WORDS, side_by_side
from .deciding import Deciding
from .guard import Guard
from .metrics import CONTENT_TYPE, open_metrics
from .supposing import Supposing
from .view import MOST_FOUND, View, part_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from ...dedup.archive.pages import Archive
    from ...dedup.index import DuplicateIndex


def make_app(index: DuplicateIndex, *, token: str, host: str) -> ASGIApp:
    """The application, behind its guard. `host` is where the server listens."""
    view = View(index, token)
    site, deciding, supposing = Site(view), Deciding(view), Supposing(view)
    pages: list[tuple[str, str, Any]] = [
        ("GET", "/", site.overview),
        ("GET", "/decisions", site.decisions),
        ("GET", "/clusters", site.clusters),
        ("GET", "/cluster/{number}", site.cluster),
        ("GET", "/search", site.search),
        ("GET", "/page", site.page),
        ("GET", "/threshold", supposing.threshold),
        ("GET", "/stories", supposing.stories),
        ("POST", "/nearest", supposing.nearest),
        ("GET", "/overrides", deciding.overrides),
        ("POST", "/override", deciding.override),
        ("POST", "/prefer", deciding.prefer),
        ("GET", "/metrics", site.metrics),
    ]
    routes: list[BaseRoute] = [
        Route(path, view.current(page), methods=[method]) for method, path, page in pages
    ]
    routes.append(Mount("/static", StaticFiles(directory=STATIC)))
    handlers: Any = {HTTPException: site.failure, DedupError: site.failure}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, host)


class Site:
    """What the index holds, for people to look at; nothing is changed by it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._index = view.index
        self._config = view.config

    async def overview(self, request: Request) -> Response:
        """Counts, similarities, hosts and sizes."""
        stats = await self._index.stats()
        survey, pairs = await self._view.surveys()
        hosts, other_hosts = host_rows(survey.hosts.values())
        return self._view.show(
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

    async def decisions(self, request: Request) -> Response:
        """The near-duplicates, the least similar first."""
        survey = await self._view.survey()
        part, pager = part_of(request, survey.near)
        kept = await kept_pages(self._index, {page.cluster for page in part})
        decided = await self._index.overrides()
        titles = await self._view.titles([page.url for page in part])
        return self._view.show(
            request,
            "decisions.html",
            part=part,
            kept=kept,
            decided=decided,
            titles=titles,
            pager=pager,
            total=len(survey.near),
        )

    async def clusters(self, request: Request) -> Response:
        """All clusters, those in doubt or the largest first."""
        survey = await self._view.survey()
        order = "size" if request.query_params.get("order") == "size" else "doubt"
        numbers = survey.by_size() if order == "size" else survey.by_doubt()
        part, pager = part_of(request, numbers, order=order)
        kept = await kept_pages(self._index, part)
        titles = await self._view.titles([page.url for page in kept.values()])
        return self._view.show(
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

    async def cluster(self, request: Request) -> Response:
        """One cluster: the kept page and its copies."""
        text = request.path_params["number"]
        if not re.fullmatch("[0-9]{1,10}", text):
            raise HTTPException(404, "There is no such cluster.")
        survey = await self._view.survey()
        number = survey.moved.get(int(text), int(text))
        kept = (await kept_pages(self._index, [number])).get(number)
        copies = survey.clusters.get(number, [])
        if kept is None and not copies:
            raise HTTPException(404, "There is no such cluster.")
        part, pager = part_of(request, copies)
        titles = await self._view.titles([page.url for page in part] + ([kept.url] if kept else []))
        return self._view.show(
            request,
            "cluster.html",
            number=number,
            kept=kept,
            part=part,
            size=survey.sizes[number] or 1,
            titles=titles,
            pager=pager,
            decided=await self._index.overrides(),
        )

    async def search(self, request: Request) -> Response:
        """A page by its address, or the pages with such words in their address or title."""
        words = request.query_params.get("q", "").strip()
        if not words:
            return RedirectResponse("/", 303)
        if await self._index.show(words) is not None:
            return RedirectResponse(f"/page?{urlencode({'url': words})}", 303)
        survey = await self._view.survey()
        found = dict.fromkeys(
            await self._view.read(lambda archive: archive.search(words, MOST_FOUND))
        )
        for copies in survey.clusters.values():
            if len(found) >= MOST_FOUND:
                break
            found |= dict.fromkeys(page.url for page in copies if words.lower() in page.url.lower())
        urls = list(found)[:MOST_FOUND]
        return self._view.show(
            request, "search.html", words=words, urls=urls, titles=await self._view.titles(urls)
        )

    async def page(self, request: Request) -> Response:
        """One page: its verdict, what it repeats and where it differs, and what to do about it."""
        url = request.query_params.get("url", "")
        record = await self._index.show(url)
        if record is None:
            raise HTTPException(404, "The index never saw this address.")
        survey = await self._view.survey()
        original = record.duplicate_of

        def read(archive: Archive) -> tuple[Any, ...]:
            own = archive.page(record.url)
            other = archive.page(original) if original else None
            found = None
            if own and other:
                whole = other.is_whole, own.is_whole
                found = side_by_side(other.text, own.text, ignore=self._config.ignore, whole=whole)
            return own, other, found

        own, other, found = await self._view.read(read)
        return self._view.show(
            request,
            "page.html",
            record=record,
            own=own,
            other=other,
            found=found,
            most_words=MOST_WORDS,
            decision=(await self._index.overrides()).get(record.url),
            done=request.query_params.get("done"),
            following=survey.after(record.similarity, record.url)
            if record.kind == "near" and record.similarity is not None
            else None,
        )

    async def metrics(self, request: Request) -> Response:
        """Counts for Prometheus."""
        stats, decided = await self._index.stats(), await self._index.overrides()
        return Response(open_metrics(stats, len(decided)), media_type=CONTENT_TYPE)

    async def failure(self, request: Request, error: Exception) -> Response:
        """What went wrong, in one sentence."""
        status = error.status_code if isinstance(error, HTTPException) else 503
        text = error.detail if isinstance(error, HTTPException) else str(error)
        if request.url.path.startswith("/static/"):  # for which nobody needs the token
            return PlainTextResponse(text, status)
        return self._view.show(request, "failure.html", status=status, text=text)
