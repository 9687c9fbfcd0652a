"""Pages on which people override decisions, and choose the original of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast
from urllib.parse import unquote, urlencode

from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ...dedup.errors import InputError
from .view import View, part_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

_MOST_FORM: Final = 50_000  # bytes of a form; a character of an encoded URL may take twenty


class OverridePages:
    """Writes what people decide to the index at once."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._index = view.index

    async def list_overrides(self, request: Request) -> Response:
        """The current overrides."""
        decided = await self._index.overrides()
        part, pager = part_of(request, sorted(decided.items()))
        return self._view.render_page(
            request, "overrides.html", part=part, pager=pager, total=len(decided)
        )

    async def keep_override(self, request: Request) -> Response:
        """Store a person's override for a page, or remove it."""
        form = await self._view.read_form(request, _MOST_FORM)
        url, decision = _quote_url(form), form.get("decision", "")
        if decision not in ("keep", "drop", "none") or await self._index.show(url) is None:
            raise HTTPException(400, "The index never saw this URL, or there is no such override.")
        override = None if decision == "none" else cast(Literal["keep", "drop"], decision)
        await self._index.override(url, override)
        return _redirect_back(url, decision)

    async def prefer_copy(self, request: Request) -> Response:
        """Make a copy the original of its cluster, with its text from the archive."""
        url = _quote_url(await self._view.read_form(request, _MOST_FORM))
        record = await self._index.show(url)
        if record is None or record.duplicate_of is None or record.gone:
            raise HTTPException(400, "Only a copy can be preferred.")
        try:
            text = await self._view.ask_archive(lambda archive: archive.whole_text(record.url))
        except InputError as error:
            hint = "use scrapy dedup override … prefer --fetch, which fetches the page."
            raise HTTPException(400, f"This cannot be done here: {error}; {hint}") from None
        await self._index.prefer(record.url, text)
        self._view.forget_surveys()
        return _redirect_back(url, "prefer")


def _quote_url(form: Mapping[str, str]) -> str:
    """The URL in a form, where it is quoted because browsers change line feeds and NULs."""
    return unquote(form.get("url", ""))


def _redirect_back(url: str, done: str) -> Response:
    return RedirectResponse(f"/page?{urlencode({'url': url, 'done': done})}", 303)
