"""Pages of a site that differ in a few facts beside a note that all have: are they told apart?

    python benchmarks/main_text/records.py [--sites 100] [--json]

Sites of people, matches, places or quotes are made: on each page a menu, a heading, facts in one of
many layouts, a note of some sentences that is the same on all pages of the site, a footer.  Each
site's pages are met in turn; one whose main text has J ≥ 0.8 with that of an earlier one would be
dropped, and nobody could find it.  No weights are fitted on these pages.
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

from benchmarks.main_text.facts import ATTRIBUTES, HEADINGS, LABELS, LAYOUTS, WORDS
from benchmarks.main_text.swap import jaccard, shingles
from crawler.chrome import SiteTemplate, block_hash, parse, strip_chrome

PAGES: Final = 12  # of a site
ALIKE: Final = 0.8
NOTES: Final = (  # what stands around them
    "<p>{0}</p>",
    "<h2>{1}</h2><p>{0}</p>",
    "<section class=info><h3>{1}</h3><p>{0}</p></section>",
    "<div class=box><h2>{1}</h2><div>{0}</div></div>",
)


class Site:
    """A site that is drawn by its number, and its pages."""

    def __init__(self, number: int) -> None:
        self._random = draw = random.Random(number)
        self.layout = draw.choice(tuple(LAYOUTS))
        self._attributes = draw.choice(ATTRIBUTES)
        self._labels = draw.sample(LABELS.split(), draw.randint(3, 8))
        self._heading = draw.choice(HEADINGS).format(draw.choice(("<h1>{}</h1>", "<h2>{}</h2>")))
        self._main = draw.choice(("main", "div id=content", "article", "div"))
        sentences = (f"{self._words(8, 20)}." for _ in range(draw.randint(1, 5)))
        note = draw.choice(NOTES).format(" ".join(sentences), self._words(1, 3))
        self._parts = draw.choice(("{heading}{facts}{note}", "{heading}{note}{facts}"))
        self._parts = self._parts.replace("{note}", note)
        links = "".join(f"<li><a href=/{i}>{self._words(1, 3)}</a>" for i in range(20))
        self._before = f"<header><a href=/>Home</a></header><nav><ul>{links}</ul></nav>"
        self._after = "<footer>© 2026 <a href=/imprint>Imprint</a></footer>"

    def page(self) -> str:
        """Return the next page."""
        around, each = LAYOUTS[self.layout]
        facts = "".join(each.format(label, self._words(1, 4)) for label in self._labels)
        name = self._words(2, 3)
        body = self._parts.format(
            heading=self._heading.format(name), facts=around.format(self._attributes, facts)
        )
        main = f"<{self._main}>{body}</{self._main.split()[0]}>"
        return (
            f"<html><head><title>{name} - Archive</title></head>"
            f"<body>{self._before}{main}{self._after}</body></html>"
        )

    def _words(self, least: int, most: int) -> str:
        words = self._random.choices(WORDS.split(), k=self._random.randint(least, most))
        return " ".join(words).capitalize()


def count_dropped(texts: list[str]) -> int:
    """Return how many texts are copies of one that was kept before."""
    kept: list[set[Any]] = []
    for text in texts:
        found = shingles(text)
        if all(jaccard(found, other) < ALIKE for other in kept):
            kept.append(found)
    return len(texts) - len(kept)


def measure(sites: int) -> dict[str, Any]:
    """Return for each layout, and all, the share of pages that would be dropped.

    From single pages alone, and with the site's template as far as the pages before taught it.
    """
    alone: dict[str, list[int]] = defaultdict(list)
    learnt: dict[str, list[int]] = defaultdict(list)
    for number in range(sites):
        site, template = Site(number), SiteTemplate()
        texts, known = [], []
        for _ in range(PAGES):
            document = parse(site.page())
            found = strip_chrome(document)
            texts.append(found.text)
            known.append(strip_chrome(document, template=template.known()).text)
            template.observe(found.hashes(), block_hash(found.text))
        for group in (site.layout, "all"):
            alone[group].append(count_dropped(texts))
            learnt[group].append(count_dropped(known))
    return {
        group: {
            "sites": len(rows),
            "dropped": sum(rows) / len(rows) / PAGES,
            "dropped_learning": sum(learnt[group]) / len(rows) / PAGES,
        }
        for group, rows in sorted(alone.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sites", type=int, default=100, help=f"of {PAGES} pages each")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    result = measure(options.sites)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    alone, learning = "dropped", "with the template"
    print(f"{'layout':22}{'sites':>6}{alone:>10}{learning:>20}")
    for group, row in result.items():
        print(f"{group:22}{row['sites']:6}{row['dropped']:10.3f}{row['dropped_learning']:20.3f}")


if __name__ == "__main__":
    main()
