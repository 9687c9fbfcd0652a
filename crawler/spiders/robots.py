"""What a site's ``X-Robots-Tag`` headers forbid."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..chrome.head import directives

_AGENT = re.compile(r"\s*([a-z0-9_*-]+)\s*:\s*(?!//)", re.IGNORECASE)
# Directives with a value of their own, which looks like the name of a robot.
_WITH_VALUE = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def header_directives(values: Iterable[str], agent: str) -> set[str]:
    """The directives for all robots or for ``agent``, in small letters.

    >>> sorted(header_directives(["NoIndex, nofollow", "otherbot: nosnippet"], "mybot"))
    ['nofollow', 'noindex']
    >>> header_directives(["mybot: none"], "MyBot")
    {'none'}
    >>> header_directives(["googlebot: noindex, mybot: nofollow"], "mybot")
    {'nofollow'}
    """
    found: set[str] = set()
    for value in values:
        meant = True  # headers that a proxy has joined speak to one robot after the other
        for part in value.split(","):
            name = _AGENT.match(part)
            if name and name[1].lower() not in _WITH_VALUE:
                meant = name[1].lower() in ("*", "robots", agent.lower())
                part = part[name.end() :]
            if meant:
                found.update(directives(part))
    return found


def product(user_agent: str) -> str:
    """The name under which a robots file or tag speaks to a crawler.

    >>> product("scrapy-neardup/0.1 (+https://example.com)")
    'scrapy-neardup'
    """
    return re.split(r"[/\s(]", user_agent.strip(), maxsplit=1)[0]
