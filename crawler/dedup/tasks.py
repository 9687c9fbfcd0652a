"""Tasks that run side by side and leave none behind when one of them fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

Result = TypeVar("Result")


async def gather_all(*work: Awaitable[Result]) -> list[Result]:
    """The results of all `work`; raises the first error when all of it has ended.

    With ``asyncio.gather`` the rest would go on, and use connections that its caller closes.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


async def end_tasks(*groups: Iterable[asyncio.Future[Any]], seconds: float) -> None:
    """Wait for the tasks in these groups, and for those that they add; then cancel the rest."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    while (left := [one for group in groups for one in group if not one.done()]) and (
        loop.time() < deadline
    ):
        await asyncio.wait(left, timeout=deadline - loop.time())
    for one in left:
        one.cancel()
    await asyncio.gather(*left, return_exceptions=True)
