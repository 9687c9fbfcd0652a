"""Writes main text, title and verdict into items, if their type has the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter

from ..dedup.config import DedupConfig
from ..dedup.verdict import Verdict
from ..items import value_of
from .notices import Notices

if TYPE_CHECKING:
    from .calls import Count

_LONGEST_REASON: Final = 200  # characters of a type's reason to refuse a value


class Tag(dict[str, Any]):
    """The verdict of an item, without empty values: null, False and [].

    >>> from ..dedup.verdict import Kind
    >>> tag = Tag(Verdict(Kind.UNIQUE, "https://example.com/", cluster=7))
    >>> sorted(tag), tag["similarity"]
    (['cluster', 'kind', 'standing', 'url'], None)
    """

    def __init__(self, verdict: Verdict) -> None:
        self._silent = verdict.to_dict()
        super().__init__(
            (k, v) for k, v in self._silent.items() if v not in (None, []) and v is not False
        )

    def __missing__(self, key: str) -> Any:
        return self._silent[key]  # for pipelines that read a key without asking whether it is there


class ItemWriter:
    """Writes into the fields that `config` names. An item passes even if its type refuses that.

    A refused value is counted, and logged once for each type.
    """

    def __init__(self, config: DedupConfig, count: Count, notices: Notices) -> None:
        self._config = config
        self._count = count
        self._notices = notices

    def fill_fields(self, item: Any, *, text: str, title: str) -> None:
        """Fill the main text and the title into the item's fields, if they are empty.

        A dict gets the text as a new field, so that feeds have it, but the title only if it has an
        empty field for it. Other values, such as a list of paragraphs, stay.
        """
        adapter = ItemAdapter(item)
        name = self._config.text_field
        if name in adapter.field_names() or isinstance(item, dict):
            there = value_of(item, name)
            if there is None or isinstance(there, str):
                _write_field(adapter, name, text)
        name = self._config.title_field
        if name in adapter.field_names() and not adapter.get(name):
            _write_field(adapter, name, title)

    def tag_item(self, item: Any, verdict: Verdict) -> None:
        """Write the verdict into its field; an item without that field passes untagged.

        Only a dict takes a field that its type does not have.
        """
        name = self._config.tag_field
        if name is None:
            return
        value: Any = str(verdict.kind)
        if self._config.tag == "full":
            value = Tag(verdict)
        adapter = ItemAdapter(item)
        refusal = _write_field(adapter, name, value)
        if refusal is None:
            return
        self._count("dedup/untagged")
        if name in adapter.field_names():
            self._tell_refusal(item, name, value, refusal)
            return
        self._notices.warn_about(
            item,
            name,
            "%s takes no field %r: its items pass without their verdict. Give the class that "
            "field, name another one in DEDUP_TAG_FIELD, or empty that setting.",
            name,
        )

    def _tell_refusal(self, item: Any, name: str, value: Any, refusal: Exception) -> None:
        said = " ".join(str(refusal).split())[:_LONGEST_REASON]
        self._notices.warn_about(
            item,
            name,
            "%s has the field %r but refuses the verdict (%s) in it, with %s: its items pass "
            "without. Let the field take that, set DEDUP_TAG to kind for a plain str, name another "
            "field in DEDUP_TAG_FIELD, or empty that setting.",
            name,
            "dict" if isinstance(value, dict) else "str",
            f"{type(refusal).__name__}: {said}",
        )


def _write_field(adapter: ItemAdapter, name: str, value: Any) -> Exception | None:
    """Write a value into an item; return the error of a type that refuses it."""
    try:
        adapter[name] = value
    except Exception as refusal:  # a type's own checks raise what they like
        return refusal
    return None
