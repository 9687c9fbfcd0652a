"""Two texts, and a page around one."""

from __future__ import annotations

ARTICLE = (
    "Tea is an aromatic drink made by pouring hot water over the leaves of an evergreen shrub that "
    "is native to the borderlands of south-western China and northern Myanmar. After plain water "
    "it is the most widely drunk of all drinks in the world, and there are many types of it."
)


OTHER = (
    "The bicycle carries its rider on two wheels, one behind the other, and is driven by pedals. "
    "In many cities of the north it is quicker than any car, costs next to nothing and needs less "
    "room, which is why its lanes have spread so far within so few years."
)


SOON = 0.5  # seconds to wait for a server that hangs; one that is only busy may take 0.2


def html(text: str, title: str = "A title") -> str:
    menu = "<nav><ul><li><a href=/>Home</a><li><a href=/tea>Tea</a></ul></nav>"
    return f"<html><title>{title}</title><body>{menu}<main><p>{text}</p></main></body></html>"
