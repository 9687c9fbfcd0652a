"""What the words of class names say of the text inside, counted over sites with gold text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

from crawler.chrome.page.blocks import JUDGED, Flat
from crawler.chrome.page.signs import words_of

LEAST: Final = 8  # sites that have a word
PRIOR: Final = 0.35  # share of main text, as if seen on so many more sites:
WEIGHT: Final = 4
LONGEST: Final = 300  # characters of a block that count
# These stand around the links of tabs and around what they show, as the facts of a product.
NOT_COUNTED: Final = frozenset(("tab", "tabs", "tabbed", "pane", "panes"))

Shares = dict[str, float]  # of main text in the elements with a word


class Names:
    """Shares of main text inside elements by the words of their classes; a site counts once."""

    def __init__(self, pages: Iterable[tuple[str, Flat, np.ndarray]]) -> None:
        """`pages` are sites, pages, and for each block whether it is main text."""
        held: dict[str, dict[str, list[float]]] = defaultdict(dict)
        for site, flat, labels in pages:
            for word, (right, all_) in _inside(flat, labels).items():
                both = held[site].setdefault(word, [0.0, 0.0])
                both[0] += right
                both[1] += all_
        self._sites = {
            site: {word: right / all_ for word, (right, all_) in words.items() if all_}
            for site, words in held.items()
        }

    def scores(self, sites: set[str]) -> dict[str, float]:
        """Return what each word says, as log-odds, by what stands on some of the sites."""
        shares: dict[str, list[float]] = defaultdict(list)
        for site in sites & self._sites.keys():
            for word, share in self._sites[site].items():
                shares[word].append(share)
        usual = np.log(PRIOR / (1 - PRIOR))
        found = {}
        for word, of_sites in shares.items():
            if len(of_sites) >= LEAST and word not in NOT_COUNTED:
                share = (sum(of_sites) + WEIGHT * PRIOR) / (len(of_sites) + WEIGHT)
                found[word] = round(float(np.log(share / (1 - share)) - usual), 3)
        return found


def _inside(flat: Flat, labels: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return for each word the characters of main text, and of all text, inside such elements."""
    sizes = np.array([min(len(text), LONGEST) + 1 for text in flat.texts[:JUDGED]], float)
    around = flat.around[: len(sizes)]
    right = np.bincount(around, sizes * labels, len(flat.outer))
    all_ = np.bincount(around, sizes, len(flat.outer))
    words: dict[str, tuple[float, float]] = {}
    of_kind = [set(words_of(names)) for names in flat.names]
    for element in range(len(flat.outer) - 1, 0, -1):  # inner ones first
        outer = flat.outer[element]
        right[outer] += right[element]
        all_[outer] += all_[element]
        for word in of_kind[flat.kinds[element]]:
            before = words.get(word, (0.0, 0.0))
            words[word] = before[0] + right[element], before[1] + all_[element]
    return words
