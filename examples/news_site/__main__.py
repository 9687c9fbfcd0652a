"""``python ../news_site COMMAND``: twelve newspapers that print each other's stories.

Serves the papers on one port of localhost while COMMAND runs; ``{url}`` in it stands for their
address. Without a command it serves until Ctrl-C. Standard library only.

python ../news_site scrapy crawl site -a url={url} -O pages.jsonl
python ../news_site --edition 2 COMMAND      # a week later: one story rewritten, one moved
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

TEXTS = Path(__file__).parents[1] / "demo_site" / "texts"
PORT = 8911

PAPERS = (
    *("argus", "beacon", "chronicle", "dispatch", "echo", "examiner"),
    *("herald", "journal", "mercury", "observer", "post", "tribune"),
)
# The stories that came over the wire, and how many of the papers print them.
WIRE = {"lighthouse": 12, "wreck": 5, "salt": 4}
# One story that only this paper has.
LOCAL = (
    *("ferry", "bakery", "bridge", "choir", "clock", "flood"),
    *("library", "orchard", "owls", "seaweed", "guides/fog", "guides/radio"),
)

Edit = Callable[[list[str]], list[str]]


def _closing(words: str) -> Edit:
    """Print the story with an ending of one's own, set as one paragraph."""
    return lambda text: [" ".join([*text, words])]


# What an editor does to a story of the wire; the paper's place in the list says which. What is
# changed is little enough for every index to find the copy, whatever its seed. The papers share a
# host: paragraphs that came back on three of its pages could be taken for its template.
EDITS: tuple[Edit, ...] = (
    lambda text: text,
    lambda text: text,
    _closing("(Skerry Wire)"),
    lambda text: [" ".join(text).replace("promised both in writing", "promised both")],
    lambda text: text,
    _closing("With our correspondent."),
    lambda text: text[:2],  # there was no more room
    lambda text: text,
    _closing("(Wire)"),
    lambda text: [
        "Readers of this paper had been writing to us about it for weeks, some of them twice, and "
        "what they feared has now come to pass, though not in the way most of them expected. "
        + " ".join(text[:-1])
    ],
    lambda text: text,
    _closing("All rights reserved."),
)


class Story(NamedTuple):
    """A page of a paper."""

    path: str
    title: str
    paragraphs: list[str]


def stories(edition: int) -> dict[str, list[Story]]:
    """The stories of each paper."""
    found: dict[str, list[Story]] = {}
    for place, paper in enumerate(PAPERS):
        found[paper] = []
        for name, papers in WIRE.items():
            if place < papers:
                title, paragraphs = _text(name)
                found[paper].append(Story(f"/{paper}/{name}", title, EDITS[place](paragraphs)))
        name = LOCAL[place]
        folder = "/archive" if edition == 2 and name == "bakery" else ""
        title, paragraphs = _text(f"ferry-{edition}" if name == "ferry" else name)
        found[paper].append(Story(f"/{paper}{folder}/{name}", title, paragraphs))
    return found


def _text(name: str) -> tuple[str, list[str]]:
    title, *paragraphs = (TEXTS / f"{name}.txt").read_text(encoding="utf-8").split("\n\n")
    return title.removeprefix("# "), [" ".join(part.split()) for part in paragraphs]


def pages(edition: int) -> dict[str, str]:
    """The HTML of each path."""
    papers = stories(edition)
    links = "".join(f'<li><a href="/{paper}/">The {paper.title()}</a></li>' for paper in papers)
    found = {"/": _html("Twelve papers", f"<ul>{links}</ul>", robots="noindex")}
    for paper, printed in papers.items():
        listed = "".join(f'<li><a href="{s.path}">{escape(s.title)}</a></li>' for s in printed)
        found[f"/{paper}/"] = _html(f"The {paper.title()}", f"<ul>{listed}</ul>", robots="noindex")
        for story in printed:
            body = "".join(f"<p>{escape(part)}</p>" for part in story.paragraphs)
            found[story.path] = _html(
                f"{escape(story.title)} | The {paper.title()}",
                _THEMES[PAPERS.index(paper) % 3].format(
                    name=f"The {paper.title()}", title=escape(story.title), body=body, links=listed
                ),
            )
    return found


def _html(title: str, body: str, robots: str = "all") -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="robots" content="{robots}"></head><body>{body}</body></html>'
    )


_THEMES = (
    '<header><a href="/">{name}</a><nav><ul>{links}</ul></nav></header><main><article>'
    "<h1>{title}</h1>{body}</article></main><footer><p>&copy; {name}</p></footer>",
    '<div id="nav" class="navbar"><a href="/">{name}</a></div><div class="content">'
    '<h1>{title}</h1>{body}</div><div class="sidebar"><h3>Most read</h3><ul>{links}</ul></div>'
    '<div id="footer"><p>Terms of use. Privacy. Imprint of {name}.</p></div>',
    '<div class="cookie-banner"><p>We value your privacy.</p><button>Accept</button></div>'
    '<div role="main"><h1>{title}</h1>{body}</div><aside><h2>More from {name}</h2><ul>{links}'
    '</ul><p>Subscribe to our letter.</p></aside><footer role="contentinfo">{name}</footer>',
)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a page would wait until its header is acknowledged

    def __init__(self, served: dict[str, str], *args: object) -> None:
        self.served = served
        super().__init__(*args)  # type: ignore[arg-type]

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client had read enough
            super().handle()

    def do_GET(self) -> None:
        html = self.served.get(self.path)
        body = (html or "<h1>Not found</h1>").encode()
        self.send_response(200 if html else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the crawler has its own log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def main() -> int:
    """Serve while the command runs; the exit code is that of the command."""
    parser = argparse.ArgumentParser(prog="python ../news_site", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--edition", type=int, choices=(1, 2), default=1)
    port = int(os.environ.get("NEWS_SITE_PORT", PORT))
    parser.add_argument("--port", type=int, default=port, help="(default: %(default)s)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="COMMAND")
    options = parser.parse_args()
    server = _Server(("127.0.0.1", options.port), partial(_Handler, pages(options.edition)))
    url = f"http://localhost:{server.server_address[1]}/"
    with server, suppress(KeyboardInterrupt):
        if not options.command:
            print(f"news site: {url}", file=sys.stderr, flush=True)
            server.serve_forever()
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        command = [word.replace("{url}", url) for word in options.command]
        return subprocess.run(command, check=False).returncode
    return 130


if __name__ == "__main__":
    sys.exit(main())
