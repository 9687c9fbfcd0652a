"""Mutate pages until strip_chrome raises, loses a block or takes too long.  Needs `atheris`.

python tests/chrome/fuzz_chrome.py -timeout=5 -max_len=20000 [FOLDER OF PAGES]
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["crawler.chrome"]):
        chrome: Any = importlib.import_module("crawler.chrome")

    def check(data: bytes) -> None:
        """Any bytes give a text that consists of the kept blocks, and can be written as UTF-8."""
        document = chrome.parse(data)
        found = chrome.strip_chrome(document)
        blocks = found.blocks
        if found.text != "\n".join(block.text for block in blocks if block.kept):
            raise AssertionError("the text is not that of the kept blocks")
        if bool(blocks) != bool(found.text):
            raise AssertionError("a page that has text came out empty")
        f"{found.text}{found.title}{list(chrome.links(document))}".encode()
        for ask in (chrome.robots, chrome.canonical, chrome.base):
            ask(document)

    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
