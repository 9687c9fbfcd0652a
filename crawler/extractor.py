"""The function that extracts main text: this package's own, or the one that a setting names."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from inspect import iscoroutinefunction
from pkgutil import resolve_name
from typing import Any, Protocol

from .chrome import Document, MainText, strip_chrome
from .dedup.config import DedupConfig
from .dedup.errors import ConfigError

Tree = Document | Any  # Any: one of chrome.document.TREES


class Extractor(Protocol):
    """Takes HTML, or its tree, and the known blocks of its site's template."""

    def __call__(
        self, html: str | bytes | Tree, template: AbstractSet[int] = frozenset(), /
    ) -> MainText | str: ...


def extract_main_text(
    html: str | bytes | Tree, template: AbstractSet[int] = frozenset()
) -> MainText:
    """The extractor of this package."""
    return strip_chrome(html, template=template)


def text_of(found: MainText | str) -> str:
    """The text in the result of an extractor."""
    return found if isinstance(found, str) else found.text


def load_extractor(config: DedupConfig) -> Extractor:
    """The function that ``DEDUP_EXTRACTOR`` names, or this package's own.

    Raises :class:`ConfigError` if there is no such function.
    """
    if config.extractor is None:
        return extract_main_text
    function: Any = config.extractor
    try:
        if isinstance(function, str):
            function = resolve_name(function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"DEDUP_EXTRACTOR {config.extractor!r} cannot be loaded: {error}"
        ) from None
    if not callable(function) or iscoroutinefunction(function):
        raise ConfigError(
            f"DEDUP_EXTRACTOR {config.extractor!r} is "
            f"{'a coroutine function' if callable(function) else 'not a function'}: name a "
            "function that returns the text"
        )

    def extract(
        html: str | bytes | Tree, template: AbstractSet[int] = frozenset()
    ) -> MainText | str:
        text = function(html)
        if text is not None and not isinstance(text, (str, MainText)):
            # Otherwise the object's repr would be the text, and make all pages copies.
            raise TypeError(
                f"the function of DEDUP_EXTRACTOR returned {type(text).__name__} instead of str"
            )
        return text or ""

    return extract
