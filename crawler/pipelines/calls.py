"""The types of functions that parts of a crawl are given to call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

from scrapy.http import Response

from ..chrome import SharedTemplate

Count: TypeAlias = Callable[[str], None]
"""Increases the statistic of this name by one."""
ForgetUrl: TypeAlias = Callable[[str], None]
"""Has the index forget the page at a URL."""
KnownUrl: TypeAlias = Callable[[str], str]
"""Returns the form of a URL by which the index knows it."""
SendReports: TypeAlias = Callable[[bool], Awaitable[None]]
"""Sends the crawl's reports to the index; True says that all responses have come."""
TemplateOf: TypeAlias = Callable[[str], Awaitable[SharedTemplate | None]]
"""Returns what is known about the template of a URL's site; None if templates are off."""
UrlsOf: TypeAlias = Callable[[Any, Response | None], Iterable[str]]
"""Returns the URLs that an item, or its response, has for its page."""
