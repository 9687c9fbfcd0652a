"""What is kept and cut of small pages."""

from crawler.chrome import strip_chrome

PAGE = """<html><head><title>Tea - The Leaf</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop</a></li></ul></nav>
<main><h1>Tea</h1>
<p>Tea is an aromatic beverage prepared by pouring hot water over cured leaves, and it is drunk
everywhere.</p>
<p>After plain water, it is the most widely consumed drink in the world, in many styles.</p></main>
<footer><p>Copyright The Leaf</p><a href="/imprint">Imprint</a></footer></body></html>"""


def test_paragraphs_stay_and_navigation_goes() -> None:
    """Paragraphs of main are kept, navigation and footer are cut."""
    found = strip_chrome(PAGE)
    assert "aromatic beverage" in found.text and "most widely consumed" in found.text
    assert "Shop" not in found.text and "Imprint" not in found.text
    assert found.title == "Tea - The Leaf"
