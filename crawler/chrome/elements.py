"""What the elements around a text say of it: tags, classes, ids, roles, hiding."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

import numpy as np

from .blocks import LIMIT, OTHER, TAG_CODES, Flat, Ints, ints
from .vocabulary import HIDDEN, NAME_BITS, ROLE_BITS, TAG_BITS

DEEPEST: Final = 2000  # libxml2 drops what lies deeper than 2,048 elements
OPEN: Final = 1 << 62  # where elements end that have not ended yet
_NAME_READ: Final = 300  # longer class lists are generated; their ends say nothing new
_STYLE_READ: Final = 200


class Kinds:
    """What all elements of one tag and class share, as columns; the first is the page."""

    __slots__ = ("codes", "names", "said")

    def __init__(self) -> None:
        self.codes = [OTHER]
        self.names = [""]
        self.said = [0]

    def add(self, tag: str, names: str) -> int:
        """Add a kind and give its number."""
        names = names[:_NAME_READ]
        self.codes.append(TAG_CODES.get(tag, OTHER))
        self.names.append(names)
        self.said.append(TAG_BITS.get(tag, 0) | NAME_BITS[names])
        return len(self.said) - 1


class Elements:
    """The elements of a page in its order, as columns; the first is the page.

    Their attributes are read when they begin: later, memory would have to fetch them again.
    """

    __slots__ = (
        "_kinds",
        "_labels",
        "ends",
        "firsts",
        "kinds",
        "parents",
        "signs",
    )

    def __init__(self) -> None:
        self.signs = [0]
        self.kinds = [0]  # numbers for all of one tag and class
        self.parents = [0]
        self.firsts = [0]  # blocks
        self.ends = [OPEN]  # the numbers of the blocks after them
        self._labels: dict[str, int] = {}
        self._kinds = Kinds()

    def add(self, parent: int, tag: str, attributes: Mapping[str, str], first: int) -> int:
        """Add an element that begins in element `parent`, before block `first`; give its number."""
        bits = self.signs[parent]
        label, names = tag, None
        if attributes:
            names = attributes.get("class")
            if names:
                label = f"{tag} {names}"
            if names is None or len(attributes) > 1:
                bits |= other_signs(attributes)
        kind = self._labels.get(label)
        if kind is None:
            kind = self._labels[label] = self._kinds.add(tag, names or "")
        kinds = self.kinds
        number = len(kinds)
        kinds.append(kind)
        self.signs.append(bits | self._kinds.said[kind])
        self.parents.append(parent)
        self.firsts.append(first)
        self.ends.append(OPEN)
        return number

    def flat(self, texts: list[str], words: Ints, linked: Ints, links: Ints, around: Ints) -> Flat:
        """Return the page, of whose blocks the innermost elements are known, not the containers."""
        depths, within = [0], [0]
        firsts, ends, parents, holders = [0], [len(texts)], [0], [0]
        rows = zip(self.parents, self.firsts, self.ends, strict=True)
        for parent, first, end in islice(rows, 1, None):
            container = within[parent]
            if end - first > 1 and first < LIMIT:
                parents.append(container)
                container = len(firsts)
                firsts.append(first)
                ends.append(end)
                holders.append(len(within))
            depths.append(depths[parent] + 1)
            within.append(container)
        kinds = ints(self.kinds)
        return Flat(
            texts,
            words=words,
            linked=linked,
            links=links,
            around=around,
            within=ints(within)[around],
            codes=ints(self._kinds.codes)[kinds],
            signs=ints(self.signs),
            depths=ints(depths),
            kinds=kinds,
            outer=ints(self.parents),
            firsts=ints(firsts),
            ends=np.minimum(ints(ends), min(len(texts), LIMIT)),
            parents=ints(parents),
            holders=ints(holders),
            names=self._kinds.names,
            too_deep=max(depths) > DEEPEST,
        )


def other_signs(attributes: Mapping[str, str]) -> int:
    """Return what an element says of its text besides its class: id, role, hiding."""
    bits = 0
    if name := attributes.get("id"):
        bits |= NAME_BITS[name[:_NAME_READ]]
    if role := attributes.get("role"):
        bits |= ROLE_BITS.get(role, 0)
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        bits |= HIDDEN
    if style := attributes.get("style"):
        compact = style[:_STYLE_READ].replace(" ", "").lower()
        if "display:none" in compact or "visibility:hidden" in compact:
            bits |= HIDDEN
    return bits
