"""Which pages of an index a page contains, and which contain it."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

from .candidates import is_distinct
from .identity import host
from .sketches.anchors import share_in_known, share_of_known
from .sketches.odd import estimate_odd, measure_difference
from .verdict import Containment, Share

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from .fingerprint import Fingerprint
    from .store.records import PageRecord

# A share is an estimate: with a margin of two standard errors 97 of 100 that have it are named.
# Where it is known from a few dozen bits, that would name pages that have half of it; so would less
# of short pages of one or two anchors, which may stand in the one paragraph that both have.
_ERRORS: Final = 2
_MOST_MARGIN: Final = 0.08
_FEW: Final = 2
_LEAST_MARGIN: Final = 0.03


def find_containment(
    page: Fingerprint,
    records: Iterable[PageRecord],
    least: float,
    *,
    url: str = "",
    but: Container[str | None] = (),
    on: str = "",
    crawl: int = 0,
) -> Containment:
    """What a page of an index is to the kept pages `records` that share anchors with it, from a
    share of `least` on.

    It is contained in a longer one; of two that are as long, the one whose URL comes later by the
    alphabet contains the other, so that no two pages are contained in each other. The page's own
    `url` and the URLs `but` are left out, and what is gone. So is a short text beside much that a
    site has on many pages, told by the headings as for copies; where the template of the host `on`
    which both are is hardly known, the other page is unconfirmed, as are records that were last
    seen before the `crawl` began.
    """
    contains: list[Share] = []
    contained_in: list[Share] = []
    for record in records:
        known = record.fingerprint
        if record.url == url or record.url in but or record.gone or not record.anchors:
            continue
        if is_distinct(page, known, one_host=False):
            continue
        is_in = (record.words, record.url) > (page.words, url)
        share, anchors, error = _estimate_share(page, record, is_in=is_in)
        if share >= least - _margin_of(anchors, error):
            is_doubtful = is_distinct(page, known, one_host=on == host(record.url))
            one = Share(record.url, share, record.last_seen < crawl or is_doubtful)
            (contained_in if is_in else contains).append(one)
    return Containment(*(tuple(sorted(some, key=_rank)) for some in (contains, contained_in)))


def _margin_of(anchors: int, error: float) -> float:
    """How far below the share that is asked for an estimate may be."""
    return min(_MOST_MARGIN, _ERRORS * error) if anchors > _FEW else _LEAST_MARGIN


def _estimate_share(
    page: Fingerprint, record: PageRecord, *, is_in: bool
) -> tuple[float, int, float]:
    """The share of the shorter page that the longer one has, from how many anchors it is known, and
    its standard error.

    Where the pages are not of very different lengths, their odd sketches tell as well: of short
    pages they know more than anchors do. Each estimate counts the more the smaller its error is.
    """
    share, anchors, error = (
        share_in_known(page.anchors, record.anchors, record.words)
        if is_in
        else share_of_known(page.anchors, record.anchors)
    )
    sketch = record.sketch
    found = measure_difference(sketch, page.odd) if sketch is not None else None
    if sketch is None or found is None:
        return share, anchors, error
    odd, members = found
    bits, fewer, both = 8 * len(sketch.bits), min(members, sketch.members), members + sketch.members
    if fewer == 0 or 2 * odd >= bits:  # a simhash, or too long a page for such a sketch
        return share, anchors, error
    known = estimate_odd(odd, members, sketch.members, sketch.level, bits=bits)
    scale = both / fewer
    other = min(1.0, known.similarity / (1 + known.similarity) * scale)
    other_error = known.error * scale / (1 + known.similarity) ** 2
    weight = error**2 / (error**2 + other_error**2)
    return share + weight * (other - share), anchors, error * sqrt(1 - weight)


def _rank(one: Share) -> tuple[float, str]:
    return -one.share, one.url
