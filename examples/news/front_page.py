"""``python front_page.py clusters.jsonl pages.jsonl``: each story once, who else has it below."""

import json
import sys
from itertools import groupby
from operator import itemgetter
from pathlib import Path


def read(path):
    """The objects of a file of JSON lines."""
    with Path(path).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def front_page(clusters, pages):
    """For each story its title, the paper that is shown and the others with their similarity.

    `clusters` are rows of `scrapy dedup clusters --json`: the largest cluster first, in each the
    representative first.
    """
    titles = {page["url"]: page["title"] for page in pages}
    for _, rows in groupby(clusters, itemgetter("cluster")):
        first, *others = rows
        headline, _, paper = titles[first["id"]].rpartition(" | ")
        named = [(titles[row["id"]].rpartition(" | ")[2], row["similarity"]) for row in others]
        yield headline, paper, named


def main(clusters, pages):
    """Print the front page."""
    for headline, paper, others in front_page(read(clusters), read(pages)):
        print(f"{headline} ({paper})")
        for name, similarity in others:
            print(f"    also in {name}, {similarity:.0%} the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
