"""A near-duplicate filter for Scrapy crawls."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon
    from .pipelines import (
        ChromePipeline,
        ContainedPage,
        DroppedPage,
        DuplicatePipeline,
        ExactDuplicate,
        NearDuplicate,
    )

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "ChromePipeline",
    "ContainedPage",
    "DroppedPage",
    "DuplicatePipeline",
    "ExactDuplicate",
    "NearDuplicate",
]


def __getattr__(name: str) -> Any:
    # Imported at first use, so that `dedup` and `chrome` can be imported without Scrapy.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = ".addon" if name == "Addon" else ".pipelines"
    return getattr(import_module(home, __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
