"""What each tag does to the text around it, and which elements end without an end tag."""

from __future__ import annotations

from typing import Final

from .vocabulary import TAG_BITS

# An element that waits for its end tag, what held before it, the number of its first block.
Open = tuple[str, int, int, int, str | None]  # end tag, signs, code, start, class

INLINE, LINK, LINK_END, BREAK, SKIPPED, HEAD, RULE, OPEN, CLOSE = range(9)
_SKIPPED_TAGS: Final = """
    template svg math iframe object video audio canvas applet select datalist textarea xmp
    noframes noembed
"""
_INLINE_TAGS: Final = """
    abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q ruby
    rb rt rp s samp small span strike strong sub sup time tt u var wbr html head input param source
    track embed frame frameset map progress meter
"""
KINDS: Final[dict[str | None, int]] = {
    None: INLINE,
    **{name: INLINE for tag in _INLINE_TAGS.split() for name in (tag, f"/{tag}")},
    **dict.fromkeys(_SKIPPED_TAGS.split(), SKIPPED),
    **dict.fromkeys(("title", "meta", "link", "base", "area"), HEAD),
    "a": LINK,
    "/a": LINK_END,
    "br": BREAK,
    "/br": BREAK,
    "hr": RULE,
    **dict.fromkeys(("/title", "/meta", "/link", "/base", "/area", "/hr"), INLINE),
}

# The element directly around a block, as far as the model tells them apart.
TAGS: Final = (
    "p", "li", "h1", "h2", "h3", "td", "th", "div", "pre", "dt", "dd", "figcaption",
    "section", "body", "other",
)  # fmt: skip
OTHER: Final = len(TAGS) - 1
BODY: Final = TAGS.index("body")
_TAG_CODES: Final = {tag: code for code, tag in enumerate(TAGS)} | {
    "h4": 4, "h5": 4, "h6": 4, "summary": 4, "caption": 11, "article": 12, "main": 12,
}  # fmt: skip

# Which elements a start tag ends without their end tags, if they are innermost.  Open elements
# are known by the end tags they wait for.
_PARAGRAPH: Final = frozenset(("/p",))
_HEADINGS: Final = _PARAGRAPH | {"/h1", "/h2", "/h3", "/h4", "/h5", "/h6"}
_CELLS: Final = _PARAGRAPH | {"/td", "/th", "/caption"}
_ROWS: Final = _CELLS | {"/tr", "/colgroup"}
_BODIES: Final = _ROWS | {"/tbody", "/thead", "/tfoot"}
_ENDED_BY: Final[dict[str, frozenset[str]]] = {
    tag: ended
    for tags, ended in (
        (
            "address article aside blockquote center details dialog dir div dl fieldset figcaption "
            "figure footer form header hgroup main menu nav ol p pre section summary table ul",
            _PARAGRAPH,
        ),
        ("h1 h2 h3 h4 h5 h6", _HEADINGS),
        ("li", _PARAGRAPH | {"/li"}),
        ("dt dd", _PARAGRAPH | {"/dt", "/dd"}),
        ("td th", _CELLS),
        ("tr", _ROWS),
        ("tbody thead tfoot", _BODIES),
    )
    for tag in tags.split()
}
NOTHING: Final[frozenset[str]] = frozenset()
OPENED: Final[dict[str, tuple[str, int, int, frozenset[str]]]] = {
    tag: (
        f"/{tag}",
        _TAG_CODES.get(tag, OTHER),
        TAG_BITS.get(tag, 0),
        _ENDED_BY.get(tag, NOTHING),
    )
    for tag in _TAG_CODES.keys() | TAG_BITS.keys() | _ENDED_BY.keys()
}
KINDS.update(dict.fromkeys(OPENED, OPEN))
KINDS.update({f"/{tag}": CLOSE for tag in OPENED})

# Which elements an end tag does not end, nor anything around them.
_WALLS: Final = frozenset(("/table", "/td", "/th", "/caption"))
_BARRED_BY: Final[dict[str, frozenset[str]]] = {
    "/li": _WALLS | {"/ul", "/ol"},
    "/table": NOTHING,
    **dict.fromkeys(_CELLS | _BODIES, frozenset(("/table",))),
}
_SEARCHED: Final = 100  # open elements in which an end tag looks for its start


def left_open(stack: list[Open], name: str) -> int:
    """Return how many open elements an end tag leaves open that is not the innermost's."""
    size = len(stack)
    if name != "/p":
        barred = _BARRED_BY.get(name, _WALLS)
        for at in range(size - 2, max(size - _SEARCHED, 0), -1):
            if stack[at + 1][0] in barred:
                break
            if stack[at][0] == name:
                return at
    return size
