"""Runs the web page until a signal ends it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...dedup.errors import InputError
from ..html_file import make_environment
from .app import make_app

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex

_MOST_CONNECTIONS: Final = 100
_PATIENCE: Final = 30.0  # seconds in which a client must send a request, and take an answer


async def serve(
    index: DuplicateIndex,
    *,
    host: str,
    port: int,
    token: str,
    announce: Callable[[str], None],
) -> None:
    """Serve the pages of an index until a signal ends it; port 0 takes any free one.

    `announce` is called with the URL, which has the token, as soon as the server answers. Raises
    :class:`InputError` if the server cannot listen there, and :class:`MissingExtra` if a library is
    missing.
    """
    make_environment()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except (OSError, TypeError) as error:  # TypeError: no host has that name
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"cannot listen on {host}, port {port}: {reason}") from None
        config = uvicorn.Config(
            make_app(index, token=token, host=host),
            http=_Impatient,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_level="error",  # no warnings about the requests of strangers
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=3,
        )
        listener.listen(_MOST_CONNECTIONS)  # from now on all connections are answered
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listener.getsockname()[1]}/?token={token}")
        server = uvicorn.Server(config)
        try:
            await server.serve(sockets=[listener])
        except asyncio.CancelledError:  # uvicorn would leave its connections open
            await server.shutdown(sockets=[listener])
            raise


class _Impatient(H11Protocol):
    """Ends a connection that sends no whole request, or does not take its answer.

    Otherwise such connections would take up all places.
    """

    _end: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._set_deadline()

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY) and not self.flow.write_paused:
            self._end.cancel()

    def on_response_complete(self) -> None:
        self._end.cancel()
        self._set_deadline()
        super().on_response_complete()  # this may handle the next request already

    def pause_writing(self) -> None:
        super().pause_writing()
        self._end.cancel()
        self._set_deadline()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end.cancel()
        if self.cycle is None or self.cycle.response_complete:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end.cancel()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        self._end = self.loop.call_later(_PATIENCE, self.transport.abort)
