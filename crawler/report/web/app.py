"""The pages of the web page, one method each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, cast
from urllib.parse import parse_qs, urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ...dedup.archive import Archive, archive_path
from ...dedup.errors import DedupError
from ..charts import host_rows, s_curve, verdict_rows
from ..document import STATIC, environment
from ..survey import Survey, kept_pages, take_survey
from ..texts import side_by_side
from .guard import Guard, form_token, same
from .metrics import CONTENT_TYPE, open_metrics

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from ...dedup.index import DuplicateIndex

T = TypeVar("T")

PAGE: Final = 25
_MOST_FOUND: Final = 50
_MOST_FORM: Final = 20_000  # bytes
# A survey reads the whole index: it is taken anew after so many seconds, and so many times what it
# took.
_FRESH: Final = 5.0
_PAUSE: Final = 20


def make_app(index: DuplicateIndex, *, token: str, host: str) -> ASGIApp:
    """The application, behind its guard. `host` is where the server listens."""
    site = Site(index, token)
    routes = [
        Route("/", site.overview),
        Route("/decisions", site.decisions),
        Route("/clusters", site.clusters),
        Route("/cluster/{number:int}", site.cluster),
        Route("/search", site.search),
        Route("/page", site.page),
        Route("/threshold", site.threshold),
        Route("/overrides", site.overrides),
        Route("/override", site.override, methods=["POST"]),
        Route("/metrics", site.metrics),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers: Any = {HTTPException: site.failure, DedupError: site.failure}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, host)


class Site:
    """Reads the index for every request; only the survey of all copies is kept for a while."""

    def __init__(self, index: DuplicateIndex, token: str) -> None:
        self._index = index
        self._config = index.config
        self._token = token
        self._survey: Survey | None = None
        self._stale_at = 0.0
        self._surveying = asyncio.Lock()

    async def overview(self, request: Request) -> Response:
        """Counts, similarities, hosts and sizes."""
        stats, survey = await self._index.stats(), await self._look()
        hosts, other_hosts = host_rows(stats.hosts)
        return self._show(
            request,
            "overview.html",
            stats=stats,
            verdicts=verdict_rows(stats.verdicts),
            chart=s_curve(self._config, stats.histogram),
            hosts=hosts,
            other_hosts=other_hosts,
            sizes=survey.size_bins(),
            taken=survey.taken,
        )

    async def decisions(self, request: Request) -> Response:
        """The near-duplicates, the least similar first."""
        survey = await self._look()
        part, pager = _part(request, survey.near)
        kept = await kept_pages(self._index, {page.cluster for page in part})
        decided = await self._index.overrides()
        titles = await self._titles([page.url for page in part])
        return self._show(
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
        survey = await self._look()
        order = "size" if request.query_params.get("order") == "size" else "doubt"
        numbers = survey.by_size() if order == "size" else survey.by_doubt()
        part, pager = _part(request, numbers, order=order)
        kept = await kept_pages(self._index, part)
        titles = await self._titles([page.url for page in kept.values()])
        return self._show(
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
        survey = await self._look()
        number: int = request.path_params["number"]
        kept = (await kept_pages(self._index, [number])).get(number)
        copies = survey.clusters.get(number, [])
        if kept is None and not copies:
            raise HTTPException(404, "There is no such cluster.")
        part, pager = _part(request, copies)
        titles = await self._titles([page.url for page in part] + ([kept.url] if kept else []))
        return self._show(
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
        survey = await self._look()
        found = dict.fromkeys(await self._read(lambda archive: archive.search(words, _MOST_FOUND)))
        for copies in survey.clusters.values():
            if len(found) >= _MOST_FOUND:
                break
            found |= dict.fromkeys(page.url for page in copies if words.lower() in page.url.lower())
        urls = list(found)[:_MOST_FOUND]
        return self._show(
            request, "search.html", words=words, urls=urls, titles=await self._titles(urls)
        )

    async def page(self, request: Request) -> Response:
        """One page: its verdict, what it repeats and where it differs, and what to do about it."""
        url = request.query_params.get("url", "")
        record = await self._index.show(url)
        if record is None:
            raise HTTPException(404, "The index never saw this address.")
        survey = await self._look()
        original = record.duplicate_of

        def read(archive: Archive) -> tuple[Any, ...]:
            own = archive.page(record.url)
            other = archive.page(original) if original else None
            rows = None
            if own and other:
                rows = side_by_side(other.text, own.text, ignore=self._config.ignore)
            return own, other, rows

        own, other, rows = await self._read(read)
        return self._show(
            request,
            "page.html",
            record=record,
            own=own,
            other=other,
            rows=rows,
            decision=(await self._index.overrides()).get(record.url),
            done=request.query_params.get("done"),
            following=survey.after(record.similarity, record.url)
            if record.kind == "near" and record.similarity is not None
            else None,
        )

    async def threshold(self, request: Request) -> Response:
        """What another threshold would change, of the decisions that are stored."""
        least = self._config.threshold
        try:
            value = float(request.query_params.get("t", ""))
        except ValueError:
            value = least
        value = min(max(value, least), 1.0)  # also for what is not a number
        survey = await self._look()
        below = survey.below(value)
        titles = await self._titles([page.url for page in below[:_MOST_FOUND]])
        return self._show(
            request,
            "threshold.html",
            least=least,
            value=value,
            below=below[:_MOST_FOUND],
            count=len(below),
            total=len(survey.near),
            titles=titles,
        )

    async def overrides(self, request: Request) -> Response:
        """What people decided."""
        decided = await self._index.overrides()
        part, pager = _part(request, sorted(decided.items()))
        return self._show(request, "overrides.html", part=part, pager=pager, total=len(decided))

    async def override(self, request: Request) -> Response:
        """Keep a person's decision about a page, or take it back."""
        body = b""
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_FORM:
                raise HTTPException(413, "That form is too long.")
        form = {name: values[-1] for name, values in parse_qs(body.decode("latin-1")).items()}
        if not same(form.get("form", ""), form_token(self._token)):
            raise HTTPException(403, "This form is not from this page; load it again.")
        url, decision = form.get("url", ""), form.get("decision", "")
        if decision not in ("keep", "drop", "none") or await self._index.show(url) is None:
            raise HTTPException(400, "There is nothing to decide about that.")
        said = None if decision == "none" else cast(Literal["keep", "drop"], decision)
        await self._index.override(url, said)
        return RedirectResponse(f"/page?{urlencode({'url': url, 'done': decision})}", 303)

    async def metrics(self, request: Request) -> Response:
        """Counts for Prometheus."""
        stats, decided = await self._index.stats(), await self._index.overrides()
        return Response(open_metrics(stats, len(decided)), media_type=CONTENT_TYPE)

    async def failure(self, request: Request, error: Exception) -> Response:
        """What went wrong, in one sentence."""
        status = error.status_code if isinstance(error, HTTPException) else 503
        text = error.detail if isinstance(error, HTTPException) else str(error)
        return self._show(request, "failure.html", status=status, text=text)

    async def _look(self) -> Survey:
        async with self._surveying:
            start = time.monotonic()
            if self._survey is None or start > self._stale_at:
                self._survey = await take_survey(self._index)
                end = time.monotonic()
                self._stale_at = end + max(_FRESH, _PAUSE * (end - start))
            return self._survey

    async def _titles(self, urls: list[str]) -> dict[str, str]:
        return await self._read(lambda archive: archive.titles(urls))

    async def _read(self, question: Callable[[Archive], T]) -> T:
        def read() -> T:
            path, canonical = archive_path(self._config), self._config.canonical_urls
            with Archive.open(path, canonical=canonical) as archive:
                return question(archive)

        return await asyncio.to_thread(read)

    def _show(self, request: Request, name: str, *, status: int = 200, **values: Any) -> Response:
        values |= {
            "path": request.url.path,
            "namespace": self._config.namespace,
            "form": form_token(self._token),
            "status": status,
        }
        return HTMLResponse(environment().get_template(name).render(values), status)


def _part(request: Request, found: list[Any], **query: str) -> tuple[list[Any], dict[str, Any]]:
    """The part of a list that a request asks for, and where the pages before and after it are."""
    text = request.query_params.get("page", "1")
    last = max(1, -(-len(found) // PAGE))
    number = min(max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1, last)
    start = (number - 1) * PAGE

    def address(page: int) -> str | None:
        return "?" + urlencode({**query, "page": page}) if 1 <= page <= last else None

    pager = {
        "first": start + 1,
        "last": min(start + PAGE, len(found)),
        "total": len(found),
        "before": address(number - 1),
        "after": address(number + 1),
    }
    return found[start : start + PAGE], pager
