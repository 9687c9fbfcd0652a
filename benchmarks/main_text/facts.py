"""Facts that tell products with one description apart: how many of them does main text keep?

    python benchmarks/main_text/facts.py [--pages 600] [--json]

Pages of shops are made: a menu, a heading, a few sentences, facts in one of many layouts, other
products, a footer.  A page that loses facts, or its heading, may be dropped as a copy of another
product, so weights are not to lose more of them than those before.  No weights are fitted on these
pages.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from crawler.chrome import strip_chrome

WORDS: Final = (
    "harbour tea kettle walnut oak steel garden river lantern copper linen wool ceramic glass "
    "summer winter maple gentle sturdy folding classic modern light heavy handle lid"
)
LABELS: Final = "Weight Height Width Colour Material Capacity Voltage Model Year Origin Size"
ATTRIBUTES: Final = ("class=specs", "class=details", "class=attributes", "id=data", "")
LAYOUTS: Final = {  # around all facts, and around each
    "table": ("<table {0}>{1}</table>", "<tr><td>{0}<td>{1}</tr>"),
    "table with headings": ("<table {0}>{1}</table>", "<tr><th>{0}</th><td>{1}</td></tr>"),
    "definition list": ("<dl {0}>{1}</dl>", "<dt>{0}<dd>{1}"),
    "list": ("<ul {0}>{1}</ul>", "<li>{0}: {1}"),
    "divisions": ("<div {0}>{1}</div>", "<div><span>{0}</span> <span>{1}</span></div>"),
    "table aside": ("<aside><table {0}>{1}</table></aside>", "<tr><td>{0}<td>{1}</tr>"),
    "definition list aside": ("<aside><dl {0}>{1}</dl></aside>", "<dt>{0}<dd>{1}"),
    "list in a sidebar": ("<div class=sidebar><ul {0}>{1}</ul></div>", "<li>{0}: {1}"),
    "form": (
        "<form><fieldset {0}>{1}</fieldset></form>",
        "<div>{0} <label><input type=radio> {1}</label></div>",
    ),
    "tabs": (
        "<div class=tabs><div {0}>{1}</div></div>",
        "<div><span>{0}</span> <span>{1}</span></div>",
    ),
}
HEADINGS: Final = (  # what stands around them
    "{}",
    "<header>{}</header>",
    "<header class=page-header>{}</header>",
    "<div class=title-bar>{}</div>",
    "<section class=banner>{}</section>",
    "<div class=summary>{}</div>",
)


def make_product(number: int) -> tuple[str, str, str, list[str]]:
    """Return a page, its layout, its heading and the values of its facts."""
    draw = random.Random(number)

    def words(least: int, most: int) -> str:
        return " ".join(draw.choices(WORDS.split(), k=draw.randint(least, most)))

    def links(least: int, most: int, after: str = "") -> str:
        some = range(draw.randint(least, most))
        return "".join(f"<li><a href=/{i}>{words(2, 3).title()}</a>{after}" for i in some)

    def value() -> str:
        size = draw.randint(1, 9999)
        return draw.choice((f"{size} mm", f"{size / 10} kg", f"{size}-{draw.choice('ABCD')}"))

    layout = draw.choice(tuple(LAYOUTS))
    around, each = LAYOUTS[layout]
    facts = [(draw.choice(LABELS.split()), value()) for _ in range(draw.randint(3, 12))]
    table = around.format(draw.choice(ATTRIBUTES), "".join(each.format(*fact) for fact in facts))
    sentences = (f"<p>{words(8, 60).capitalize()}.</p>" for _ in range(draw.randint(1, 4)))
    main = draw.choice(("main", "div id=content", "div class=product", "div"))
    name = words(2, 2).title()
    heading = draw.choice(HEADINGS).format(f"<h1>{name}</h1>")
    html = (
        f"<html><head><title>{name}</title></head><body><header><a href=/>Shop</a></header>"
        f"<nav><ul>{links(5, 40)}</ul></nav><{main}>{heading}{''.join(sentences)}{table}"
        f"</{main.split()[0]}><div class=related><h2>You may also like</h2>"
        f"<ul>{links(0, 8, ' <b>9.99</b>')}</ul></div>"
        "<footer>© 2026 Shop. <a href=/imprint>Imprint</a> <a href=/p>Privacy</a></footer></body>"
    )
    return html, layout, name, [text for _, text in facts]


def measure(pages: int) -> dict[str, Any]:
    """Return for each layout, and all, the share of facts kept and of pages that lose some."""
    kept: dict[str, list[list[bool]]] = defaultdict(list)
    named: dict[str, list[bool]] = defaultdict(list)
    for number in range(pages):
        html, layout, name, values = make_product(number)
        text = strip_chrome(html).text
        for group in (layout, "all"):
            kept[group].append([value in text for value in values])
            named[group].append(name in text.splitlines())
    return {
        group: {
            "pages": len(found),
            "facts_kept": sum(map(sum, found)) / sum(map(len, found)),
            "headings_kept": sum(named[group]) / len(found),
            "pages_that_lose_some": sum(not all(one) for one in found) / len(found),
        }
        for group, found in sorted(kept.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=600)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = measure(options.pages)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    kept, named, some = "facts kept", "headings kept", "pages that lose some"
    print(f"{'layout':22}{'pages':>6}{kept:>12}{named:>15}{some:>22}")
    for group, row in result.items():
        print(
            f"{group:22}{row['pages']:6}{row['facts_kept']:12.3f}{row['headings_kept']:15.3f}"
            f"{row['pages_that_lose_some']:22.3f}"
        )


if __name__ == "__main__":
    main()
