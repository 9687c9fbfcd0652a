"""``python search.py FOLDER WORDS``: the first ten results for a query."""

import sys
from urllib.parse import urlsplit

from tantivy import Index


def search(folder, words, limit=10):
    """The address and title of each result, best first."""
    index = Index.open(folder)
    searcher = index.searcher()
    query = index.parse_query(words, ["title", "text"])
    # Of equal scores the address decides, so that the order is the same on each machine.
    found = [(-score, searcher.doc(place)) for score, place in searcher.search(query, 1000).hits]
    rows = sorted((score, page["url"][0], page["title"][0]) for score, page in found)
    return [(url, title) for _, url, title in rows[:limit]]


def main(folder, *words):
    """Print the results."""
    for place, (url, title) in enumerate(search(folder, " ".join(words)), 1):
        print(f"{place:2} {title.partition(' | ')[0]:52} {urlsplit(url).path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
