"""Which blocks are a site's own chrome: those that come back on its different pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

LEAST_PAGES: Final = 3
LEAST_SHARE: Final = 0.02
MAX_BLOCKS: Final = 4096
MAX_CONTENTS: Final = 4096


class SiteTemplate:
    """Counts, for one site, on how many different contents each block stood.

    A block is chrome from `least_pages` different contents on, and at least `least_share` of
    those seen.  A content is counted once: a page that stands on three addresses is one page.
    What counts is only what was not kept as running text (see `observe`): copies of an article,
    its print view or its second page never make its paragraphs chrome, nor does a page that
    repeats somebody else's text.

    Memory is bounded: blocks that came back least recently are forgotten first.

    >>> template = SiteTemplate()
    >>> for page in range(3):
    ...     template.observe([(1, False), (100 + page, False)], content=page)
    >>> sorted(template.known())
    [1]
    """

    def __init__(
        self,
        *,
        least_pages: int = LEAST_PAGES,
        least_share: float = LEAST_SHARE,
        max_blocks: int = MAX_BLOCKS,
        max_contents: int = MAX_CONTENTS,
    ) -> None:
        self.least_pages = least_pages
        self.least_share = least_share
        self.max_blocks = max_blocks
        self.max_contents = max_contents
        self.contents = 0
        self._seen: OrderedDict[int, None] = OrderedDict()
        self._counts: OrderedDict[int, int] = OrderedDict()

    def observe(self, blocks: Iterable[tuple[int, bool]], content: int) -> None:
        """Count the blocks of a page once for its content.

        `blocks` are hashes and whether the block is certain to be main text (then it is not
        counted); `content` is a hash of the page's main text.
        """
        if content in self._seen:
            self._seen.move_to_end(content)
            return
        self._seen[content] = None
        if len(self._seen) > self.max_contents:
            self._seen.popitem(last=False)
        self.contents += 1
        counts = self._counts
        for block in {block for block, certain in blocks if not certain}:
            counts[block] = counts.pop(block, 0) + 1
        while len(counts) > self.max_blocks:
            counts.popitem(last=False)

    def known(self) -> frozenset[int]:
        """Return the hashes of the blocks that are chrome by now."""
        least = max(self.least_pages, self.least_share * self.contents)
        return frozenset(block for block, count in self._counts.items() if count >= least)
