"""Shared by all pages of the web page: the index, the archive, cached surveys, and forms."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import parse_qs, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, Response

from ...dedup.archive.archived_pages import Archive
from ...dedup.errors import ParameterMismatch
from ...dedup.inspection import Stories, read_stories
from ..html_file import make_environment
from ..survey import KeptPairs, Survey, sample_pairs, take_survey
from .guard import equal_secrets, form_token

if TYPE_CHECKING:
    from starlette.requests import Request

    from ...dedup.index import DuplicateIndex

T = TypeVar("T")

PAGE: Final = 25
MOST_FOUND: Final = 50
# Kept pages that are compared with each other in a request: two seconds of one processor.
MOST_COMPARED: Final = 20_000
# A survey reads the whole index. It is taken anew after _FRESH seconds, or _PAUSE times the seconds
# that it took if that is more.
_FRESH: Final = 5.0
_PAUSE: Final = 20
_MOST_FIELDS: Final = 10  # of a form
_MOST_STORIES: Final = 8  # thresholds whose answers are kept as long as a survey


class View:
    """Reads the index for every request; only surveys of all pages are kept for a while."""

    def __init__(self, index: DuplicateIndex, token: str) -> None:
        self.index = index
        self.config = index.config
        self._token = token
        self._survey: tuple[Survey, KeptPairs] | None = None
        self._stories: dict[float, Stories] = {}
        self._stale_at = 0.0
        self._surveying = asyncio.Lock()

    def check_current(
        self, page: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """The page, with an error if the opened index has been deleted or replaced.

        A new index may have another seed, with which nothing would be found. Without an index, as
        after a restart of a server that keeps no files, it would look empty.
        """

        async def shown(request: Request) -> Response:
            if await self.index.store.is_replaced():
                raise ParameterMismatch(
                    f"the index {self.config.namespace!r} was deleted, lost by its server or made "
                    "anew: start scrapy dedup serve again"
                )
            return await page(request)

        return shown

    async def take_survey(self) -> Survey:
        """A recent survey of all copies."""
        return (await self.take_surveys())[0]

    async def take_surveys(self) -> tuple[Survey, KeptPairs]:
        """Recent surveys of all copies, and of the similarity of kept pages."""
        async with self._surveying:
            start = time.monotonic()
            if self._survey is None or start > self._stale_at:
                self._survey = await take_survey(self.index), await sample_pairs(self.index)
                self._stories.clear()
                end = time.monotonic()
                self._stale_at = end + max(_FRESH, _PAUSE * (end - start))
            return self._survey

    async def read_stories(self, threshold: float) -> Stories | None:
        """The kept pages in groups, by another threshold; None if there are too many."""
        await self.take_surveys()  # stories expire together with the survey
        if (await self.index.stats()).kept > MOST_COMPARED:
            return None
        async with self._surveying:
            if threshold not in self._stories:
                if len(self._stories) == _MOST_STORIES:
                    self._stories.clear()
                self._stories[threshold] = await read_stories(self.index, threshold)
            return self._stories[threshold]

    def forget_surveys(self) -> None:
        """Take the surveys anew at the next question: something was changed."""
        self._survey = None

    async def read_titles(self, urls: list[str]) -> dict[str, str]:
        """The titles of the archived ones of `urls`, by URL."""
        return await self.ask_archive(lambda archive: archive.titles(urls))

    async def read_overrides(self, urls: Iterable[str]) -> dict[str, str]:
        """The overrides of those of `urls` that have one, by URL."""
        decided, identity = await self.index.overrides(), self.config.identity
        return {url: decided[identity(url)] for url in urls if identity(url) in decided}

    async def ask_archive(self, question: Callable[[Archive], T]) -> T:
        """The answer of the archive to `question`, which runs in a thread."""

        def read() -> T:
            with Archive.of(self.config, self.index.digest) as archive:
                return question(archive)

        return await asyncio.to_thread(read)

    async def read_body(self, request: Request, most: int) -> bytes:
        """The body of a request, up to `most` bytes."""
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise HTTPException(413, "The request is too long.")
        except ClientDisconnect:
            raise HTTPException(400, "The request is incomplete.") from None
        return body

    async def read_form(self, request: Request, most: int) -> dict[str, str]:
        """The fields of a form of this web page, of up to `most` bytes."""
        body = await self.read_body(request, most)
        try:
            fields = parse_qs(body.decode("latin-1"), max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise HTTPException(400, "This is not a form of this page.") from None
        form = {name: values[-1] for name, values in fields.items()}
        if not equal_secrets(form.get("form", ""), form_token(self._token)):
            raise HTTPException(403, "This form is not from this page. Load the page again.")
        return form

    def render_page(
        self, request: Request, name: str, *, status: int = 200, **values: Any
    ) -> Response:
        """Render the template `name` as a page."""
        values |= {
            "path": request.url.path,
            "namespace": self.config.namespace,
            "form": form_token(self._token),
            "status": status,
        }
        return HTMLResponse(make_environment().get_template(name).render(values), status)


def part_of(request: Request, found: list[Any], **query: str) -> tuple[list[Any], dict[str, Any]]:
    """The part of a list that a request asks for, and a pager with the URLs of its neighbours."""
    text = request.query_params.get("page", "1")
    last = max(1, -(-len(found) // PAGE))
    number = min(max(1, int(text)) if text.isdecimal() and len(text) < 9 else 1, last)
    start = (number - 1) * PAGE

    def page_url(page: int) -> str | None:
        return "?" + urlencode({**query, "page": page}) if 1 <= page <= last else None

    pager = {
        "first": start + 1,
        "last": min(start + PAGE, len(found)),
        "total": len(found),
        "before": page_url(number - 1),
        "after": page_url(number + 1),
    }
    return found[start : start + PAGE], pager
