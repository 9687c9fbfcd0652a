"""Waiting as long as servers ask to that refuse requests for a while."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from scrapy.utils.httpobj import urlparse_cached

from ..scrapy_versions import is_asyncio_available

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

_REFUSING: Final = (429, 503)
_LONGEST: Final = 60  # seconds; longer waits would hold up the crawl of all other sites
# Refusals of a host, none of whose requests has waited with success since, after which no request
# waits: a site that blocks the crawler should not cost a wait for each page. Scrapy has 16 requests
# under way.
_MOST: Final = 100
_TRIES: Final = 10  # of a request that waits: after a wait, those that are first use up the limit
_WAITED: Final = "site_waited"  # in the meta of a request


class RetryAfterMiddleware:
    """Holds a refused response back until its header Retry-After lets it be requested again.

    Scrapy retries at once, so that of a site with a limit most pages were lost. Requests that wait
    count as under way, so that soon no others are made. How often Scrapy then tries, it reads from
    the meta of the request.
    """

    def __init__(self) -> None:
        self._refused: Counter[str] = Counter()  # by host

    async def process_response(
        self, request: Request, response: Response, **others: Any
    ) -> Response:
        """Return the response, after a while if necessary."""
        host = urlparse_cached(request).netloc
        if response.status not in _REFUSING:
            if request.meta.get(_WAITED):
                del self._refused[host]
            return response
        self._refused[host] += 1
        wait = seconds_of((response.headers.get(b"Retry-After") or b"").decode("latin-1"))
        if 0 < wait <= _LONGEST and self._refused[host] <= _MOST and is_asyncio_available():
            request.meta.update({_WAITED: True, "max_retry_times": _TRIES})
            await asyncio.sleep(wait)
        return response


def seconds_of(header: str) -> float:
    """How long the header Retry-After asks to wait: seconds, or a date; 0 if it is neither.

    >>> seconds_of("120"), seconds_of("Wed, 21 Oct 2015 07:28:00 GMT") < 0, seconds_of("soon")
    (120.0, True, 0.0)
    """
    header = header.strip()[:100]
    if header.isdecimal():
        return float(header)
    with suppress(ValueError):
        date = parsedate_to_datetime(header)
        return date.timestamp() - time.time()
    return 0.0
