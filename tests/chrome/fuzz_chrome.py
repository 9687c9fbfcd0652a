"""Mutates pages until one is found that breaks a promise.  Needs atheris; `make fuzz` installs it.

    python -m tests.chrome.fuzz_chrome -max_total_time=300 -timeout=5 [FOLDER OF PAGES]

Arguments are libFuzzer's.  What it finds belongs into `test_hostile.py`.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def main() -> None:
    """Run until libFuzzer's arguments say that it is enough, or a page is found."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["crawler.chrome"]):
        chrome: Any = importlib.import_module("crawler.chrome")
        unparsed: Any = importlib.import_module("crawler.chrome.page.unparsed")

    def check(data: bytes) -> None:
        """Any bytes give a text that consists of the kept blocks and can be written as UTF-8."""
        document = chrome.parse(data)
        found = chrome.strip_chrome(document)
        blocks = found.blocks
        kept = " ".join(block.text for block in blocks if block.kept)
        if found.text.split() != kept.split() or bool(blocks) != bool(kept):
            raise AssertionError("the text is not that of the kept blocks")
        learnt = chrome.strip_chrome(document, template=set(found.hashes()))
        if learnt.text != found.text:
            raise AssertionError("a template that knows all of a page took something of it")
        flat = document.flat
        starts = flat.firsts.tolist()
        if (flat.firsts > flat.ends).any():
            raise AssertionError("a container ends before it begins")
        if starts != sorted(starts):
            raise AssertionError("containers are not in the order of the document")
        f"{found.text}{found.title}{list(chrome.links(document))}".encode()
        for ask in (chrome.robots, chrome.canonical, chrome.base, chrome.published):
            ask(document)
        seen = unparsed.visible_part(data)
        links, lines = unparsed.find_links(seen, 999), unparsed.split_lines(seen)
        f"{unparsed.text_in_one_piece(seen)}{list(links)}{list(lines)}".encode()

    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
