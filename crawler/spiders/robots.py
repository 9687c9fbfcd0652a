"""What a site's ``X-Robots-Tag`` headers forbid."""

from __future__ import annotations

import re
from collections.abc import Iterable

_AGENT = re.compile(r"\s*([a-z0-9_*-]+)\s*:\s*(?!//)", re.IGNORECASE)
# Directives with a value of their own, which looks like the name of a robot.
_WITH_VALUE = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")


def header_directives(values: Iterable[str], agent: str) -> set[str]:
    """The directives for all robots or for ``agent``, in small letters.

    >>> sorted(header_directives(["NoIndex, nofollow", "otherbot: nosnippet"], "mybot"))
    ['nofollow', 'noindex']
    >>> header_directives(["mybot: none"], "MyBot")
    {'none'}
    """
    found: set[str] = set()
    for value in values:
        name = _AGENT.match(value)
        if name and name[1].lower() not in _WITH_VALUE:
            if name[1].lower() not in ("*", "robots", agent.lower()):
                continue
            value = value[name.end() :]
        found.update(word for part in value.lower().split(",") if (word := part.strip()))
    return found


def product(user_agent: str) -> str:
    """The name under which a robots file or tag speaks to a crawler.

    >>> product("scrapy-neardup/0.1 (+https://example.com)")
    'scrapy-neardup'
    """
    return re.split(r"[/\s(]", user_agent.strip(), maxsplit=1)[0]
