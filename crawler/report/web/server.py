"""Runs the web page until somebody ends it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

import uvicorn

from ...dedup.errors import InputError
from ..document import environment
from .app import make_app

if TYPE_CHECKING:
    from ...dedup.index import DuplicateIndex


async def serve(
    index: DuplicateIndex,
    *,
    host: str,
    port: int,
    token: str,
    announce: Callable[[str], None],
) -> None:
    """Serve the pages of an index until a signal ends it; port 0: any free one.

    `announce` is told the address, with the token, as soon as it answers. Raises
    :class:`InputError` if it cannot listen there and :class:`MissingExtra` if a library is missing.
    """
    environment()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise InputError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
        config = uvicorn.Config(
            make_app(index, token=token, host=host),
            http="h11",
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=100,
            timeout_graceful_shutdown=3,
        )
        listener.listen(100)  # from now on whoever connects is answered
        name = f"[{host}]" if ":" in host else host
        announce(f"http://{name}:{listener.getsockname()[1]}/?token={token}")
        server = uvicorn.Server(config)
        try:
            await server.serve(sockets=[listener])
        except asyncio.CancelledError:  # on which it leaves its connections open by itself
            await server.shutdown(sockets=[listener])
            raise
