"""Warnings about items, given once for each type of item."""

from __future__ import annotations

import logging
from itertools import islice
from typing import Any, Final

from itemadapter import ItemAdapter

from ..items import value_of

logger = logging.getLogger(__name__)

_FIELDS_SHOWN: Final = 12


class Notices:
    """Remembers which warnings were given."""

    def __init__(self) -> None:
        self._told: set[tuple[type, str]] = set()

    def warn_about(self, item: Any, about: str, message: str, *values: str) -> None:
        """Warn about an item, with the name of its type and `values` in the message."""
        if (type(item), about) not in self._told:
            self._told.add((type(item), about))
            message += " The item has %s."
            logger.warning(message, type(item).__qualname__, *values, fields_of(item))


def held_instead(item: Any, name: str) -> str:
    """The type of the wrong value in a field, for a warning."""
    value = value_of(item, name)
    if value is None or isinstance(value, str):
        return ""
    # Not for a SelectorList, a subclass: it does not come from an item loader.
    hint = ", as from an item loader without Join()" if type(value) is list else ""
    return f" (but {type(value).__name__}{hint})"


def fields_of(item: Any) -> str:
    """The fields of an item that are filled, for a warning."""
    names = ItemAdapter(item).field_names()
    filled = list(islice((n for n in names if value_of(item, n) is not None), _FIELDS_SHOWN + 1))
    shown = ", ".join(map(repr, filled[:_FIELDS_SHOWN])) + ", …" * (len(filled) > _FIELDS_SHOWN)
    return shown or "no field that is filled"
