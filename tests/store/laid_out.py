"""Pages as the store is asked of them."""

from __future__ import annotations

import random

from crawler.dedup.fingerprint import EXACT_BYTES, Fingerprint
from crawler.dedup.sketches.odd import OddSketch
from crawler.dedup.store.messages import CheckRequest

BITS = 512


def pages(count: int, bands: int) -> list[CheckRequest]:
    """Pages of random content: as many keys of every table as a crawl would bring."""
    chooser = random.Random(1)
    return [
        CheckRequest(
            f"http://host/{n}",
            "host",
            chooser.randbytes(4),
            Fingerprint(
                chooser.randbytes(EXACT_BYTES),
                200,
                chooser.randbytes(4 * bands),
                (OddSketch(0, 196, chooser.randbytes(BITS // 8)),),
            ),
        )
        for n in range(count)
    ]
