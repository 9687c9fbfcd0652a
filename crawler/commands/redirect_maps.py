"""Redirect maps for web servers: from old URLs of moved pages to their current ones.

URLs come from the web and may contain anything: none can become a second entry or a directive.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, urlsplit

from w3lib.url import safe_url_string

from ..wording import counted

if TYPE_CHECKING:
    from ..dedup.inspection.moved import Whereabouts

# Characters that are escaped in a URL: all but those of RFC 3986, and escapes.
_FOREIGN: Final = re.compile(r"[^A-Za-z0-9\-._~:/?\[\]@!$&'()*+,;=%]")
_NETLOC: Final = re.compile(r"(?:[a-z0-9._\-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?", re.IGNORECASE)
_USUAL_PORT: Final = {"http": ":80", "https": ":443"}

_NGINX_LONGEST: Final = 4_000  # bytes of a parameter; nginx takes less than 4,096
_APACHE_LONGEST: Final = 1_000  # bytes of a line; Apache takes those beyond 1,024 for another line

_NGINX_HEAD: Final = """\
# {pages} that moved. Include this in the block http, and in the server of the pages write
#     if ($moved_to) {{ return 301 $moved_to; }}
# nginx compares the URLs on the left ignoring case, except those that begin with ~.
"""
_APACHE_HEAD: Final = """\
# {pages} that moved. In the virtual host of the pages write
#     RewriteEngine on
#     RewriteMap moved "txt:/path/of/this/file"
#     RewriteCond %{{THE_REQUEST}} "^\\S+ (\\S+)"
#     RewriteCond "${{moved:%{{REQUEST_SCHEME}}://%{{HTTP_HOST}}%1}}" "(.+)"
#     RewriteRule ^ %1 [R=301,L,NE,UnsafeAllow3F]
# and leave UnsafeAllow3F out before Apache 2.4.60. Here it is safe: all that comes out of a request
# is the choice of a line.
"""


class RedirectMap(NamedTuple):
    """The text of a map, its number of entries, and the number of moved pages without an entry.

    Pages are left out if no browser requests their URL (not http, an invalid host, or cut because
    it was too long), if it is too long for the server, or if the redirect would lead in a circle.
    """

    text: str
    entries: int
    left_out: int


def nginx_map(moved: Iterable[Whereabouts]) -> RedirectMap:
    """A `map` block for nginx, from scheme, host and request to the new URL."""

    def fits(old: str, new: str) -> bool:
        return max(len(re.escape(old)), len(_escape_variables(new))) <= _NGINX_LONGEST

    entries, left_out = _list_entries(moved, fits)
    # With the new URLs: /Tea that moved to /tea must not redirect that one to itself.
    in_lower_case = Counter(url.lower() for url in {*entries, *entries.values()})
    lines, longest = [], 0
    for old, new in entries.items():
        if in_lower_case[old.lower()] > 1:
            lines.append(f'    "~^{re.escape(old)}$" "{_escape_variables(new)}";\n')
        else:
            lines.append(f'    "{old}" "{_escape_variables(new)}";\n')
            longest = max(longest, len(old))
    # A bucket must hold the longest URL and some pointers; the size of the table is for speed.
    bucket = 1 << max(6, (longest + 32 - 1).bit_length())
    head = _NGINX_HEAD.format(pages=counted(len(entries), "page"))
    if bucket > 64:
        head += f"map_hash_bucket_size {bucket};\n"
    if len(lines) > 1024:
        head += f"map_hash_max_size {1 << (2 * len(lines)).bit_length()};\n"
    head += 'map "$scheme://$http_host$request_uri" $moved_to {\n    default "";\n'
    return RedirectMap("".join([head, *lines, "}\n"]), len(entries), left_out)


def apache_map(moved: Iterable[Whereabouts]) -> RedirectMap:
    """A text file for Apache's `RewriteMap`, from scheme, host and request to the new URL."""

    def fits(old: str, new: str) -> bool:
        return len(old) + len(new) + 2 <= _APACHE_LONGEST

    entries, left_out = _list_entries(moved, fits)
    lines = [f"{old} {new}\n" for old, new in entries.items()]
    head = _APACHE_HEAD.format(pages=counted(len(entries), "page"))
    return RedirectMap("".join([head, *lines]), len(entries), left_out)


def _escape_variables(address: str) -> str:
    """Escape dollar signs, so that nginx finds no variable; it knows no other escape for them."""
    return address.replace("$", "%24")


def _list_entries(
    moved: Iterable[Whereabouts], fits: Callable[[str, str], bool]
) -> tuple[dict[str, str], int]:
    """Old URL → new URL, both as browsers request them; and the number of pages left out."""
    entries: dict[str, str] = {}
    left_out = 0
    for page in moved:
        old = _request_url(page.url)
        new = _request_url(page.places[0].url) if page.places else None
        if old and new and old != new and fits(old, new):
            entries.setdefault(old, new)
        else:
            left_out += 1
    for old, new in list(entries.items()):
        if new in entries:  # two spellings of one URL, for example, would redirect in a circle
            del entries[old]
            left_out += 1
    return entries, left_out


def _request_url(url: str) -> str | None:
    """A URL as a browser requests it, without fragment; None if no browser would."""
    from ..dedup.identity import is_whole

    try:
        parts = urlsplit(safe_url_string(url))
    except ValueError:
        return None
    scheme, netloc = parts.scheme.lower(), parts.netloc.rpartition("@")[2]
    if scheme not in _USUAL_PORT or not _NETLOC.fullmatch(netloc) or not is_whole(url):
        return None
    netloc = netloc.lower().removesuffix(_USUAL_PORT[scheme])
    query = f"?{parts.query}" if parts.query else ""
    path = _FOREIGN.sub(lambda found: quote(found[0], safe=""), (parts.path or "/") + query)
    return f"{scheme}://{netloc}{path}"
