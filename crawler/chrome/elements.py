"""What the elements around a text say of it: tags, classes, ids, roles, hiding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .blocks import OTHER, TAG_CODES
from .vocabulary import HIDDEN, ROLE_BITS, TAG_BITS, name_bits

_NAME_READ: Final = 300  # longer class lists are generated; their ends say nothing new
_STYLE_READ: Final = 200


class Elements:
    """The elements with text inside, in the order of the page, as columns; the first is the page.

    Columns are those of `Flat`: position in `TAGS`, signs, depth, and a number for all of one tag
    and class.
    """

    __slots__ = ("_labels", "codes", "depths", "kinds", "signs")

    def __init__(self) -> None:
        self.codes = [OTHER]
        self.signs = [0]
        self.depths = [0]
        self.kinds = [0]
        self._labels: dict[str, int] = {}

    def add(self, around: int, tag: str, attributes: Mapping[str, str]) -> int:
        """Add an element that stands in element `around`; return its number."""
        bits = self.signs[around] | TAG_BITS.get(tag, 0)
        label = tag
        if attributes:
            names = attributes.get("class")
            if names:
                label = f"{tag} {names}"
                bits |= name_bits(names[:_NAME_READ])
            if names is None or len(attributes) > 1:
                bits |= _other_signs(attributes)
        number = len(self.codes)
        self.codes.append(TAG_CODES.get(tag, OTHER))
        self.signs.append(bits)
        self.depths.append(self.depths[around] + 1)
        self.kinds.append(self._labels.setdefault(label, number))
        return number


def _other_signs(attributes: Mapping[str, str]) -> int:
    """Return what an element says of its text besides its class: id, role, hiding."""
    bits = 0
    if name := attributes.get("id"):
        bits |= name_bits(name[:_NAME_READ])
    if role := attributes.get("role"):
        bits |= ROLE_BITS.get(role, 0)
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        bits |= HIDDEN
    if style := attributes.get("style"):
        compact = style[:_STYLE_READ].replace(" ", "").lower()
        if "display:none" in compact or "visibility:hidden" in compact:
            bits |= HIDDEN
    return bits
