"""Finds the pages of an index that a page contains, and those that contain it."""

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

# Shares are estimates: a margin of two standard errors finds 97 of 100 pages that have the share.
# The margin is capped, because with few bits it would also find pages with half the share. Pages of
# one or two anchors get a small one: both anchors may lie in the only paragraph that is shared.
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
    """Find the kept pages `records` that contain a page or are contained in it.

    All of `records` share anchors with the page. The longer page contains the shorter if it has at
    least the share `least` of it. Of equally long pages, the one with the alphabetically later URL
    contains the other, so no two pages contain each other. The page's own `url`, the URLs `but`, as
    fetched, and gone pages are left out, and so are pages that :func:`~.candidates.is_distinct`
    tells apart.

    A share is unconfirmed if its record was last seen before the start of the `crawl`. It also is
    if both pages are on the host `on` and `is_distinct` tells them apart for one host.
    """
    contains: list[Share] = []
    contained_in: list[Share] = []
    # Of equal shares, the first by its identity comes first: how a URL was spelt decides nothing.
    for record in sorted(records, key=lambda record: record.url):
        known = record.fingerprint
        if record.url == url or record.shown_url in but or record.gone or not record.anchors:
            continue
        if is_distinct(page, known, one_host=False):
            continue
        is_in = (record.words, record.url) > (page.words, url)
        share, anchors, error = _estimate_share(page, record, is_in=is_in)
        if share >= least - _margin_of(anchors, error):
            is_doubtful = is_distinct(page, known, one_host=on == host(record.url))
            one = Share(record.shown_url, share, record.last_seen < crawl or is_doubtful)
            (contained_in if is_in else contains).append(one)
    return Containment(*(tuple(sorted(some, key=_rank)) for some in (contains, contained_in)))


def _margin_of(anchors: int, error: float) -> float:
    """How far an estimated share may lie below the required share."""
    return min(_MOST_MARGIN, _ERRORS * error) if anchors > _FEW else _LEAST_MARGIN


def _estimate_share(
    page: Fingerprint, record: PageRecord, *, is_in: bool
) -> tuple[float, int, float]:
    """Estimate the share of the shorter page that the longer one has.

    Returns the share, the number of anchors that it is estimated from, and its standard error. If
    the lengths allow it, the odd sketches give a second estimate, which is better for short pages.
    The two are averaged, weighted by their inverse variances.
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
    if fewer == 0 or 2 * odd >= bits:  # a simhash, or a saturated odd sketch
        return share, anchors, error
    known = estimate_odd(odd, members, sketch.members, sketch.level, bits=bits)
    scale = both / fewer
    other = min(1.0, known.similarity / (1 + known.similarity) * scale)
    other_error = known.error * scale / (1 + known.similarity) ** 2
    weight = error**2 / (error**2 + other_error**2)
    return share + weight * (other - share), anchors, error * sqrt(1 - weight)


def _rank(one: Share) -> float:
    return -one.share
