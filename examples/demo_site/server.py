"""Serves the demo site: three hosts on three ports of localhost, standard library only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self

from .pages import HERE, HOSTS, of_host
from .themes import encoding, render

DEFAULT_PORTS = (8901, 8902, 8903)

REDIRECTS = {"/old/ferry": "/news/ferry", "/elsewhere": "http://printer.invalid/"}
# Big enough to show that a crawler which wants HTML does not download it to the end.
FILES = {
    "/tide-table.csv": ("text/csv", b"day,high,low\n" + b"1,06:12,12:31\n" * 16_000),
    "/harbour.png": ("image/png", b"\x89PNG\r\n\x1a\n" + b"\0" * 2_000),
}
# Reached only by a crawler that does not read robots.txt, or follows rel=nofollow.
UNWANTED = ("/private/ledger", "/login")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


class DemoSite:
    """The three hosts, serving while the ``with`` block lasts.

    ``ports`` are tried in order of :data:`~.pages.HOSTS`; one that is taken (or 0) becomes any free
    one. ``edition`` may be changed while serving and turns the ferry's timetable into another text.
    ``seen`` lists what was asked for, as pairs of host and path.
    """

    def __init__(
        self, ports: Sequence[int] = (0, 0, 0), *, edition: int = 1, delay: float = 0.0
    ) -> None:
        self.edition = edition
        self.delay = delay
        self.seen: list[tuple[str, str]] = []
        self.urls: dict[str, str] = {}
        self._ports = ports
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for host, port in zip(HOSTS, self._ports, strict=True):
            handler = partial(_Handler, self, host)
            try:
                server = _Server(("127.0.0.1", port), handler)
            except OSError:
                server = _Server(("127.0.0.1", 0), handler)
            thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
            thread.start()
            self._stack.callback(server.server_close)
            self._stack.callback(server.shutdown)
            self.urls[host] = f"http://localhost:{server.server_address[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def answer(self, host: str, path: str) -> tuple[HTTPStatus, dict[str, str], bytes]:
        """Status, headers and body for a path of a host."""
        if path in REDIRECTS and host == "gazette":
            return HTTPStatus.MOVED_PERMANENTLY, {"Location": REDIRECTS[path]}, b""
        if path == "/robots.txt":
            text = f"User-agent: *\nDisallow: /private/\nSitemap: {self.urls[host]}/sitemap.xml\n"
            return HTTPStatus.OK, {"Content-Type": "text/plain"}, text.encode()
        if path == "/sitemap.xml":
            return HTTPStatus.OK, {"Content-Type": "application/xml"}, self._sitemap(host)
        if path in FILES and host == "gazette":
            kind, body = FILES[path]
            return HTTPStatus.OK, {"Content-Type": kind}, body
        if path in UNWANTED:
            body = (HERE / "texts" / "private.txt").read_bytes()
            return HTTPStatus.OK, {"Content-Type": "text/html"}, body
        for page in of_host(host):
            if page.path == path:
                html = render(page, self.urls, self.edition).encode(
                    encoding(page), "xmlcharrefreplace"
                )
                return HTTPStatus.OK, {"Content-Type": "text/html"}, html
        return HTTPStatus.NOT_FOUND, {"Content-Type": "text/html"}, b"<h1>Not found</h1>"

    def _sitemap(self, host: str) -> bytes:
        locations = "".join(
            f"<url><loc>{self.urls[host]}{page.path}</loc></url>"
            for page in of_host(host)
            if page.view != "noindex"
        )
        schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
        return f'<?xml version="1.0"?><urlset xmlns="{schema}">{locations}</urlset>'.encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a page would wait until its header is acknowledged

    def __init__(self, site: DemoSite, host: str, *args: object) -> None:
        self.site = site
        self.host = host
        super().__init__(*args)  # type: ignore[arg-type]

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client had read enough
            super().handle()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.site.seen.append((self.host, path))
        time.sleep(self.site.delay)
        status, headers, body = self.site.answer(self.host, path)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the crawler has its own log."""
