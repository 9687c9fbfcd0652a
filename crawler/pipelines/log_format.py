"""Scrapy's log without whole pages: by default it prints each item that is scraped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter
from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy.logformatter import LogFormatterResult

_LONG: Final = 1000  # characters; of longer values, the log only shows the beginning
_SHOWN: Final = 100


class BriefLogFormatter(LogFormatter):
    """Scrapy's formatter, but long values of items, such as HTML and text, are cut."""

    def scraped(self, item: Any, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """Log an item that passed all pipelines."""
        return _shorten_item(super().scraped(item, *args, **kwargs))

    def dropped(self, item: Any, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """Log an item that a pipeline dropped."""
        return _shorten_item(super().dropped(item, *args, **kwargs))

    def item_error(self, item: Any, *args: Any, **kwargs: Any) -> LogFormatterResult:
        """Log an item that a pipeline failed with."""
        return _shorten_item(super().item_error(item, *args, **kwargs))


def _shorten_item(result: LogFormatterResult) -> LogFormatterResult:
    args = result["args"]
    if isinstance(args, dict) and ItemAdapter.is_item(args.get("item")):
        result["args"] = {**args, "item": _Brief(args["item"])}
    return result


class _Brief:
    """An item that is only formatted if it is logged."""

    def __init__(self, item: Any) -> None:
        self._item = item

    def __str__(self) -> str:
        adapter = ItemAdapter(self._item)
        if not any(_size_of(value) > _LONG for value in adapter.values()):
            return str(self._item)
        shown = ", ".join(f"{name!r}: {_show_value(value)}" for name, value in adapter.items())
        return f"{{{shown}}}"


def _size_of(value: Any) -> int:
    if isinstance(value, (list, tuple)):
        return sum(map(_size_of, value))
    return len(value) if isinstance(value, (str, bytes)) else 0


def _show_value(value: Any) -> str:
    size = _size_of(value)
    if size <= _LONG:
        return repr(value)
    beginning = value[0] if isinstance(value, (list, tuple)) else value
    return f"{beginning[:_SHOWN]!r}… ({size:,} characters)"
