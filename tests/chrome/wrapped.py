"""A page of two paragraphs, a menu and a footer."""

NAV = """<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li>
<li><a href="/about">About us</a></li></ul></nav>"""

FOOTER = '<footer><p>Copyright The Leaf</p><a href="/imprint">Imprint</a></footer>'
FIRST = (
    "Tea is an aromatic beverage prepared by pouring hot water over cured leaves, and it is "
    "drunk everywhere in the world, hot or cold, with milk or without."
)
SECOND = (
    "After plain water, it is the most widely consumed drink in the world, in many styles, and "
    "some of them, such as Darjeeling, have a cooling, slightly bitter flavour."
)
BODY = f"<h1>Tea</h1><p>{FIRST}</p><p>{SECOND}</p>"


def page(body: str, head: str = "<title>Tea - The Leaf</title>") -> str:
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
