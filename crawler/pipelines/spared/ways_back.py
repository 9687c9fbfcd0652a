"""Forms to log in, whose URLs name the page to go back to: `/login?next=/tea` on /tea."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin

from .novelty import page_number

if TYPE_CHECKING:
    from ...dedup.urls.parts import UrlParts

_MOST_FORMS: Final = 3  # of a site, such as one to log in and one to sign up
_NAME: Final = b"password"
# Comments and the like may ask for a password, too, to add one: where there are none, on each page.
_LOGS_IN: Final = re.compile(
    r"(log[-_]?[io]n|sign[-_]?(in|on|up)|regist(er|ration)|auth)(?![a-z])", re.IGNORECASE
)
_ASKS: Final = re.compile(rb"\btype\s*=\s*[\"']?password\b", re.IGNORECASE)


def asks_password(body: bytes) -> bool:
    """Whether a page has a field for a password.

    >>> asks_password(b"<input type='Password'>"), asks_password(b"<p>Your password")
    (True, False)
    """
    return _NAME in body.lower() and _ASKS.search(body) is not None


class WaysBack:
    """Finds the arguments by which a form to log in leads back to the page with its link.

    A site with a field for a password on more pages has none: its pages may have comments, say, on
    pages whose URLs name them.
    """

    def __init__(self) -> None:
        self._forms = 0

    def note_new_text(self) -> None:
        """Note that a page with a new text asks for a password."""
        self._forms += 1

    def list_ways(self, url: str, parts: UrlParts, found_on: int) -> frozenset[str]:
        """The arguments of a page that asks for a password that name the page it was found on.

        That is known by its :func:`page_number`. The rest of the URL has to say what the form is.
        """
        names = set()
        for name, value in parts.features if self._forms <= _MOST_FORMS else ():
            if name.startswith("?"):
                with suppress(ValueError):
                    page = urljoin(url, value).partition("#")[0]
                    if page_number(page) == found_on and _is_to_log_in(parts, name):
                        names.add(name)
        return frozenset(names)


def _is_to_log_in(parts: UrlParts, way: str) -> bool:
    """Whether a URL says that its page is a form to log in, apart from the argument `way`."""
    said = [value for name, value in parts.features if name.startswith("?") and name != way]
    return any(map(_LOGS_IN.search, [parts.skeleton, *said]))
