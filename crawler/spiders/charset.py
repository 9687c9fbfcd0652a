"""Pages that declare an encoding which is none, as rot13: read as if they declared nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from scrapy.http import TextResponse

from ..chrome.encoding import decode, is_charset

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class CharsetMiddleware:
    """Gives a response the encoding of its bytes where the declared one cannot be used.

    Scrapy takes any codec of Python for an encoding, and the part of it that looks for a page's
    redirect raises on the text of such a page, which is lost before a spider sees it.
    """

    # Between what unpacks a body (590), before which its own declaration cannot be seen, and what
    # looks into its text for a redirect (580).
    priority: Final = 585

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the response, with another encoding if need be."""
        if not isinstance(response, TextResponse) or is_charset(response.encoding):
            return response
        return response.replace(encoding=decode(response.body)[0])
