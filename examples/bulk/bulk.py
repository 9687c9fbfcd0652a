"""``python bulk.py FORMAT pages.jsonl``: a feed as the bulk file of a search engine.

FORMAT is ``opensearch`` (Elasticsearch reads the same), ``meilisearch`` or ``solr``.
"""

import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path


def documents(feed):
    """The documents of a feed: what is searched, and what says which pages are one.

    ``id`` is made of the address, so that a file that is sent twice changes nothing. ``cluster``
    is the same for a page and its copies, if they were kept (``DEDUP_DROP`` empty); the other URLs
    of the same are ``additional_urls``.
    """
    urls = defaultdict(list)
    for page in pages(feed):
        urls[cluster(page)].append(page["url"])
    for page in pages(feed):
        yield {
            "id": hashlib.sha256(page["url"].encode()).hexdigest()[:32],
            "url": page["url"],
            "title": page["title"],
            "text": page["text"],
            "cluster": cluster(page),
            "copy": tag(page).get("duplicate_of") is not None,
            "additional_urls": [url for url in urls[cluster(page)] if url != page["url"]],
        }


def pages(feed):
    """The pages of a feed, one at a time: it may be larger than the memory."""
    with Path(feed).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def tag(page):
    """What the filter has said of a page."""
    return page.get("dedup") or {}


def cluster(page):
    """The cluster of a page; one that could not be checked stands alone."""
    return str(tag(page).get("cluster") or page["url"])


def opensearch(found):
    """NDJSON: a line that says what to do, a line with the document, and so on."""
    for document in found:
        key = document.pop("id")
        yield json.dumps({"index": {"_index": "pages", "_id": key}})
        yield json.dumps(document)


def meilisearch(found):
    """NDJSON: a document a line, its key among its fields."""
    for document in found:
        yield json.dumps(document)


def solr(found):
    """One JSON array; the endings of names tell Solr's default schema the types."""
    rows = [
        {
            "id": document["id"],
            "url_s": document["url"],
            "title_txt_en": document["title"],
            "text_txt_en": document["text"],
            "cluster_s": document["cluster"],
            "copy_b": document["copy"],
            "additional_urls_ss": document["additional_urls"],
        }
        for document in found
    ]
    yield json.dumps(rows)


FORMATS = {"opensearch": opensearch, "meilisearch": meilisearch, "solr": solr}


def main(name, feed):
    """Print the file."""
    for line in FORMATS[name](documents(feed)):
        print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
