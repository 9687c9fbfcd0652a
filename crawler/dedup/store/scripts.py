"""The server's scripts."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

# The parts that are put in front of a script; scripts not named here have none.
_RECORDS = ("layout", "records", "stored_pages")
_OWN = ("agreed", *_RECORDS)
_TABLES = ("agreed", "layout", "shard")
_PAGES = (*_TABLES, "records", "stored_pages", "pages")
_ATTEMPTS = (*_PAGES, "attempts")
_CLUSTER_PARTS = {
    **dict.fromkeys(("claim", "bound", "drop", "done", "under"), _TABLES),
    **dict.fromkeys(("find", "template", "vanish", "contest", "tell"), _PAGES),
    **dict.fromkeys(("begin", "look", "settle", "depose", "sweep", "bury"), _ATTEMPTS),
}
_PARTS = {
    "check": (*_OWN, "pages", "similarity", "similar_pages"),
    "show": _RECORDS,
    "match": _OWN,
    "forget": _OWN,
    "restore": _OWN,
    "gone": _OWN,
    **_CLUSTER_PARTS,
    "crawl": ("agreed", "layout"),
    "url_rules": ("agreed", "layout"),
    "seen": ("agreed", "layout"),
    "originals": _OWN,
}
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
    text = "".join(map(_read_part, (*_PARTS.get(name, ()), name)))
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


def _read_part(part: str) -> str:
    folder = files(__package__) / "lua"
    return (folder / _FOLDERS.get(part, "") / f"{part}.lua").read_text("utf-8")
