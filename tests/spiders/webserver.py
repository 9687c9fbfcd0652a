"""A web server that a test fills with pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

from crawler.items import Page


class Answer(NamedTuple):
    """What the server sends; a header of several lines is sent several times."""

    body: bytes = b""
    headers: dict[str, str] = {}  # noqa: RUF012
    status: int = 200


class Web:
    """Paths, whole addresses, or ``with cookie /path``, and what stands there.

    ``seen`` lists the paths that were asked for, ``cookies`` has what was last sent with each,
    ``open`` lets answers out.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.seen: list[str] = []
        self.cookies: dict[str, str] = {}
        self.open = Event()
        self.open.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self._server.daemon_threads = True
        self.host = f"localhost:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def page(self, path: str, *links: str, head: str = "", text: str = "", **headers: str) -> None:
        anchors = " ".join(
            link if link.startswith("<") else f'<a href="{link}">x</a>' for link in links
        )
        html = f"<html><head>{head}</head><body><main><p>{text}</p>{anchors}</main></body></html>"
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = Answer(html.encode(), {"Content-Type": "text/html", **named})

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a page would wait until its header is acknowledged

    def __init__(self, web: Web, *args: Any) -> None:
        self.web = web
        super().__init__(*args)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the client had read enough
            super().handle()

    def do_GET(self) -> None:
        self.web.seen.append(self.path)
        self.web.cookies[self.path] = self.headers.get("Cookie", "")
        self.web.open.wait()
        answer = self.web.answers.get(self.path, Answer(b"", {"Content-Type": "text/html"}, 404))
        answer = self.web.answers.get(f"http://{self.headers['Host']}{self.path}", answer)
        if "Cookie" in self.headers:
            answer = self.web.answers.get(f"with cookie {self.path}", answer)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            for line in value.split("\n"):
                self.send_header(name, line)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class Result(NamedTuple):
    """A finished crawl; ``paths`` are those of its items, sorted."""

    items: list[Page]
    stats: dict[str, Any]

    @property
    def paths(self) -> list[str]:
        return sorted("/" + item.url.split("/", 3)[3] for item in self.items)


Crawl = Callable[..., Awaitable[Result]]
