"""Pages that show what would be decided with another threshold, or about another text."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from ...chrome.page.encoding import decode_body
from ...dedup.candidates import Rule
from ...dedup.inspection import find_nearest, find_shares
from ...dedup.parsing import integer, number
from ...dedup.verdict import Containment
from ...extractor import load_extractor, text_of
from .view import MOST_COMPARED, MOST_FOUND, View, part_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

T = TypeVar("T")

_STEP: Final = 0.005  # of the slider
# How far the slider goes below the threshold: farther down, the bands find next to nothing.
_DOWN: Final = 60  # steps
_STORY: Final = 0.5
_LIMIT: Final = 10  # pages in an answer to a program
_FIND_ARGUMENTS: Final = {"limit", "threshold", "copies", "url", "scope"}
_MOST_FORM: Final = 3_000_000  # bytes of a form; an encoded character may take nine


class WhatIfPages:
    """Pages that change nothing."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._least = view.config.threshold

    async def try_threshold(self, request: Request) -> Response:
        """What another threshold would change: near-duplicates kept, or kept pages dropped."""
        now = self._least
        lowest = round(now - _STEP * min(_DOWN, math.ceil(now / _STEP) - 1), 6)
        value = _parse_number(request, "t", now, lowest)
        stories = await self._view.read_stories(value) if value < now else None
        survey = await self._view.take_survey()
        pages: list[Any] = survey.below_threshold(value)
        if value < now:
            pages = [page for one in stories.stories for page in one.members[1:]] if stories else []
            pages.sort(key=lambda page: (-page.similarity, page.url))
        shown = pages[:MOST_FOUND]
        return self._view.render_page(
            request,
            "threshold.html",
            now=now,
            lowest=lowest,
            step=_STEP,
            value=value,
            stories=stories,
            pages=shown,
            count=len(pages),
            total=len(survey.near),
            titles=await self._view.read_titles([page.url for page in shown]),
            most_compared=MOST_COMPARED,
        )

    async def list_stories(self, request: Request) -> Response:
        """Kept pages in groups, at a lower threshold; nothing is dropped for it."""
        highest = round(self._least - _STEP, 6)
        value = _parse_number(request, "t", min(_STORY, highest), _STEP, highest)
        found = await self._view.read_stories(value)
        part, pager = part_of(request, found.stories if found else [], t=f"{value:g}")
        urls = [page.url for one in part for page in one.members[:MOST_FOUND]]
        return self._view.render_page(
            request,
            "stories.html",
            value=value,
            step=_STEP,
            highest=highest,
            stories=found,
            part=part,
            pager=pager,
            titles=await self._view.read_titles(urls),
            most_shown=MOST_FOUND,
            most_compared=MOST_COMPARED,
        )

    async def find_nearest(self, request: Request) -> Response:
        """The pages that a text resembles, or else the kept pages nearest to it."""
        form = await self._view.read_form(request, _MOST_FORM)
        text = form.get("text", "")
        url, index = form.get("url", ""), self._view.index
        matches = await index.find(text, limit=MOST_FOUND, url=url)
        matches = [one for one in matches if one.kind not in Containment._fields]
        fingerprint = index.scoped(await asyncio.to_thread(index.fingerprint, text), url)
        found = await find_nearest(index, fingerprint)
        copied = [one.url for one in matches]
        rule = Rule.of(self._view.config.make_method())
        return self._view.render_page(
            request,
            "nearest.html",
            url=url,
            text=text,
            words=fingerprint.words,
            short=not fingerprint.bands,
            matches=matches,
            found=found,
            shares=await find_shares(index, fingerprint, url, copied),
            least=max(self._least, rule.least_similarity),
            titles=await self._view.read_titles([one.page.url for one in found] + copied),
        )

    async def find_pages(self, request: Request) -> Response:
        """The pages that the text resembles, as JSON that `scrapy dedup find --json` prints."""
        if unknown := sorted(set(request.query_params) - _FIND_ARGUMENTS):
            known = ", ".join(sorted(_FIND_ARGUMENTS))
            raise HTTPException(400, f"There is no {unknown[0]!r}; known: {known}.")
        body = await self._view.read_body(request, _MOST_FORM)
        content_type = request.headers.get("content-type", "")
        _, text = decode_body(body, content_type)
        if "html" in content_type.lower():
            extract = load_extractor(self._view.config)
            text = await asyncio.to_thread(lambda: text_of(extract(text)))
        found = await self._view.index.find(
            text,
            limit=_read_argument(request, "limit", _LIMIT, integer(1, 10**9)),
            threshold=_read_argument(request, "threshold", self._least, number(0, 1)),
            copies=_read_argument(request, "copies", 1, integer(0, 1)) == 1,
            url=request.query_params.get("url", ""),
            scope=request.query_params.get("scope"),
        )
        return JSONResponse([one.to_dict() for one in found])


def _read_argument(request: Request, name: str, default: float, parse: Callable[[Any], T]) -> T:
    """An argument of a program, which is told if it is wrong: no person sees what was taken."""
    value = request.query_params.get(name, default)
    try:
        return parse(value)
    except ValueError as error:
        raise HTTPException(400, f"{name} {error}, not {value!r}.") from None


def _parse_number(
    request: Request, name: str, default: float, low: float, high: float = 1.0
) -> float:
    """A number of the query, limited to `low` and `high`; `default` if it is not a number."""
    try:
        value = float(request.query_params.get(name, ""))
    except ValueError:
        value = math.nan
    return round(min(max(value, low), high), 6) if math.isfinite(value) else default
