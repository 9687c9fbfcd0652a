"""What makes two addresses the same page."""

from __future__ import annotations

from contextlib import suppress
from urllib.parse import urlsplit

import xxhash
from w3lib.url import canonicalize_url

_LONG_URL = 2_000


def identity(url: str, *, canonical: bool) -> str:
    """The URL that a page is known by: canonical if so set, bounded in length.

    >>> identity("https://example.com/?b=2&a=1#top", canonical=True)
    'https://example.com/?a=1&b=2'
    """
    if canonical:
        with suppress(ValueError):  # no URL at all, as "http://[": it is itself
            url = canonicalize_url(url)
    url = url.encode("utf-8", "replace").decode()
    if len(url) > _LONG_URL:
        url = f"{url[:_LONG_URL]}~{xxhash.xxh3_128_hexdigest(url.encode())}"
    return url


def host(url: str) -> str:
    """The host and port that a page is counted under; nothing for what is no URL.

    >>> host("https://reader@example.com:8080/")
    'example.com:8080'
    """
    try:
        return urlsplit(url).netloc.rpartition("@")[2][:255]
    except ValueError:
        return ""
