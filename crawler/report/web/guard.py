"""Protects the web page with a token, a check of the host, and headers for the browser."""

from __future__ import annotations

import hmac
import ipaddress
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: with that, browsers send forms with the origin "null".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_HOST: Final = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_QUESTION: Final = "/find"  # for programs, which send their token and no origin
_NO_TOKEN: Final = "This page needs its token. Open the URL that `scrapy dedup serve` printed.\n"


class Guard:
    """Passes requests with the token to an application, and refuses all others.

    `name` is the host that the server listens on. Requests to this name, to ``localhost`` and to IP
    addresses are answered. Other names are refused, because they could be made to mean this machine
    (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, token: str, name: str) -> None:
        self._app = app
        self._token = token
        self._name = name.lower()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""

        async def send_bound(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        answer = self._refuse_request(Request(scope)) or self._app
        await answer(scope, receive, send_bound)

    def _refuse_request(self, request: Request) -> Response | None:
        """The answer to a request that must not reach the application; None if it may."""
        host = request.headers.get("host", "")
        if not self._is_own(host):
            return _make_refusal(f"This server does not serve the host {host!r}.\n", 421)
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        is_program = scheme.lower() == "bearer" and equal_secrets(bearer, self._token)
        origin, is_question = request.headers.get("origin"), request.url.path == _QUESTION
        if is_question and not is_program:  # other sites cannot make a browser send the token
            return _make_refusal(_NO_TOKEN, 403)
        if (
            request.method == "POST"
            and origin != f"http://{host}"
            and not (is_question and origin is None)
        ):
            return _make_refusal("Only this page itself may send forms.\n", 403)
        if request.url.path.startswith("/static/"):
            return None
        given = request.query_params.get("token")
        if given is not None and request.method == "GET":
            if not equal_secrets(given, self._token):
                return _make_refusal(_NO_TOKEN, 403)
            kept = request.url.remove_query_params("token")
            to = kept.path + (f"?{kept.query}" if kept.query else "")
            answer = RedirectResponse("/" + to.lstrip("/"), 303)
            answer.set_cookie(
                cookie_name(host), self._token, httponly=True, samesite="strict", path="/"
            )
            return answer
        found = request.cookies.get(cookie_name(host), "")
        if is_program or equal_secrets(found, self._token):
            return None
        return _make_refusal(_NO_TOKEN, 403)

    def _is_own(self, host: str) -> bool:
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match[1].strip("[]")
        if name in ("localhost", self._name):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def form_token(token: str) -> str:
    """The secret in every form, which proves that the form is from this web page."""
    return hmac.new(token.encode(), b"form", sha256).hexdigest()


def equal_secrets(given: str, expected: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def cookie_name(host: str) -> str:
    """The name of the cookie, with the port: browsers share cookies between ports."""
    return f"dedup-{host.rpartition(':')[2]}" if host.rpartition(":")[2].isdigit() else "dedup"


def _make_refusal(text: str, status: int) -> Response:
    return PlainTextResponse(text, status)
