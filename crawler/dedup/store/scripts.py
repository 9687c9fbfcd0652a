"""The server's scripts."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import NamedTuple

from .keys import FAMILIES, FIXED

# The parts that are put in front of a script; scripts not named here have none. Those that write
# several keys begin with the part that looks for missing permissions.
_RECORDS = ("layout", "records", "stored_pages")
_OWN = ("agreed", *_RECORDS)
_TABLES = ("agreed", "layout", "shard")
_PAGES = (*_TABLES, "records", "stored_pages", "pages")
_ATTEMPTS = (*_PAGES, "attempts")
_CLUSTER_PARTS = {
    **dict.fromkeys(("done", "under"), _TABLES),
    **dict.fromkeys(("claim", "bound", "drop"), ("permitted", *_TABLES)),
    **dict.fromkeys(("find", "template", "vanish", "contest", "tell"), _PAGES),
    "look": _ATTEMPTS,
    **dict.fromkeys(("begin", "settle", "depose", "sweep", "bury"), ("permitted", *_ATTEMPTS)),
}
_PARTS = {
    "open": ("permitted",),
    "check": ("permitted", *_OWN, "pages", "similarity", "similar_pages"),
    "show": _RECORDS,
    "match": _OWN,
    **dict.fromkeys(("forget", "restore"), ("permitted", *_OWN)),
    "gone": _OWN,
    **_CLUSTER_PARTS,
    "crawl": ("agreed", "layout"),
    "url_rules": ("agreed", "layout"),
    "seen": ("agreed", "layout"),
    "originals": _OWN,
}
_LUA = files(__package__) / "lua"
_COMMAND = re.compile(r"redis\.p?call\('(\w+)'")
_FOLDERS = {
    **dict.fromkeys(("attempts", "shard", *_CLUSTER_PARTS), "cluster"),
    **dict.fromkeys(("similarity", "similar_pages"), "similar"),
    **dict.fromkeys(("seen", "url_rules"), "spared"),
}


class Script(NamedTuple):
    """A script's text, and the digest by which the server knows it."""

    text: str
    digest: str


@cache
def load_script(name: str) -> Script:
    """Return a script of ``lua/`` or a folder there, with its shared parts in front."""
    parts = (*_PARTS.get(name, ()), name)
    text = "".join(map(_read_part, parts))
    if parts[0] == "permitted":
        # An index is only opened with the permissions that all scripts need.
        needed = {*_PARTS, *chain(*_PARTS.values()), "read"} if name == "open" else parts
        text = _define("COMMANDS", _COMMAND.findall("".join(map(_read_part, needed)))) + text
    if name == "open":
        text = _define("KEY_NAMES", [*FIXED, *(f"{family}:0" for family in FAMILIES)]) + text
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _define(name: str, words: list[str]) -> str:
    """The definition of a list in Lua."""
    return f"local {name} = {{{', '.join(map(repr, sorted({word.lower() for word in words})))}}}\n"


@cache
def _read_part(part: str) -> str:
    return (_LUA / _FOLDERS.get(part, "") / f"{part}.lua").read_text("utf-8")
