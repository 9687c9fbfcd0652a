"""The front door: a page in, its main text out."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from . import model
from .blocks import LIMIT
from .choice import below_heading, doubt_hidden, doubt_menus
from .document import Document, parse, read_tree
from .document import title as title_of
from .features import TITLED
from .linked import with_body
from .main_text import MainText

try:
    from .choices import between, choose, inside, settle
    from .describe import describe, lengths
    from .paired import pair_hashes, templated
except ImportError:
    from .choice import between, choose, inside, settle
    from .features import describe, lengths
    from .pairs import pair_hashes, templated

_DENSITY: Final = 0.1, 0.9  # what the density of a block can make of its likelihood
_TITLE_READ: Final = 1000  # characters, in which each short block is looked for


def strip_chrome(
    html: str | bytes | Document | Any,
    *,
    url: str | None = None,
    content_type: str | None = None,
    template: AbstractSet[int] | None = None,
) -> MainText:
    """Return the main text of a page: what is left without navigation, banners, footers.

    `html` may be text, bytes (then `content_type`, the HTTP header, helps to decode them), a
    `Document` or an lxml tree that is parsed already.  `url` is that of the page; nothing is
    decided by it.  `template` is what `SiteTemplate.known` has learnt of this site.  Never raises
    for what stands in the page; a page without text has an empty one.

    >>> menu = "<nav><ul><li><a href=/>Home</a><li><a href=/shop>Shop</a></ul></nav>"
    >>> page = f"{menu}<main><h1>Tea</h1><p>An aromatic drink, and much loved.</p></main>"
    >>> print(strip_chrome(page).text)
    Tea
    An aromatic drink, and much loved.
    """
    if isinstance(html, (str, bytes)):
        document = parse(html, url=url, content_type=content_type)
    elif isinstance(html, Document):
        document = html
    else:
        document = read_tree(html, url)
    title = title_of(document)
    flat = document.flat
    texts = flat.texts
    n = len(texts)
    if not n:
        empty = np.zeros(0, np.float32)
        return MainText("", title, flat, empty.astype(bool), empty)
    fitted = model.load()
    features = describe(flat, title[:_TITLE_READ], fitted.names)
    likely, titled = fitted.probabilities(features), features[:, TITLED] > 0
    if n > LIMIT:
        rest = 1 - flat.linked[LIMIT:] / lengths(texts[LIMIT:])
        rest = np.clip(rest, *_DENSITY)
        likely = np.concatenate((likely, rest), dtype=np.float32)
        titled = np.append(titled, np.zeros(n - LIMIT, bool))
    sizes = lengths(texts)
    likely = with_body(doubt_menus(likely, flat, sizes), flat, document.head.data)
    settled = doubt_hidden(settle(likely, flat, sizes), flat, sizes)
    judged = inside(settled, choose(settled, sizes), flat, sizes)
    kept = below_heading(choose(judged, sizes), judged, flat, sizes, titled)
    known = whole = pairs = alone = None
    if template:
        pairs, alone = pair_hashes(texts), kept
        known = templated(pairs, kept, flat.linked, sizes, template)
        if known is not None:
            whole = _join(texts, kept)
            kept = (kept | choose(between(judged, kept, known, sizes), sizes)) & ~known
    return MainText(_join(texts, kept), title, flat, kept, likely, known, whole, pairs, alone)


def _join(texts: list[str], kept: NDArray[np.bool_]) -> str:
    """Return the blocks that are kept, a line for each."""
    return "\n".join(compress(texts, kept.tolist()))
