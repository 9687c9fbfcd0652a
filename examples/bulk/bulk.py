"""``python bulk.py FORMAT pages.jsonl``: a feed as the bulk file of a search engine.

FORMAT is ``opensearch`` (Elasticsearch reads the same), ``meilisearch`` or ``solr``.
"""

import hashlib
import json
import sys
from pathlib import Path


def documents(feed):
    """The documents of a feed: what is searched, and what says which pages are one.

    ``id`` is made of the address, so that a file that is sent twice changes nothing. ``cluster``
    is the same for a page and its copies, if they were kept (``DEDUP_DROP`` empty).
    """
    with Path(feed).open(encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            tag = page.get("dedup") or {}
            yield {
                "id": hashlib.sha256(page["url"].encode()).hexdigest()[:32],
                "url": page["url"],
                "title": page["title"],
                "text": page["text"],
                # A page that could not be checked stands alone.
                "cluster": str(tag.get("cluster") or page["url"]),
                "copy": tag.get("duplicate_of") is not None,
            }


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
