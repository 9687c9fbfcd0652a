"""A pipeline that keeps a full-text index of tantivy up to date with the crawls."""

import json
import sys
from collections import Counter
from pathlib import Path

from scrapy import signals
from tantivy import Document, Index, Query, SchemaBuilder
from w3lib.url import canonicalize_url

FOLDER = Path("pages.index")
COPIES = Path("copies.json")  # by the address of each copy that of the page that has its text


class IndexPipeline:
    """Writes what is new or has changed. What is unchanged since the last crawl costs nothing."""

    @classmethod
    def from_crawler(cls, crawler):
        """Be told of pages that are dropped, too."""
        pipeline = cls()
        crawler.signals.connect(pipeline.item_dropped, signals.item_dropped)
        return pipeline

    def open_spider(self):
        """Open the index, or make it."""
        schema = SchemaBuilder()
        schema.add_text_field("url", stored=True)
        schema.add_text_field("key", tokenizer_name="raw")
        schema.add_text_field("title", stored=True)
        schema.add_text_field("text", stored=True)
        FOLDER.mkdir(exist_ok=True)
        self.index = Index(schema.build(), path=str(FOLDER))
        self.writer = self.index.writer()
        self.copies = json.loads(COPIES.read_text()) if COPIES.exists() else {}
        self.done = Counter()

    def process_item(self, item):
        """Index the page, unless the index has it with this very text."""
        kind = item.dedup["kind"]
        if kind == "unchanged":
            self.done["skipped"] += 1
            return item
        # Pages that could not be checked may be old or new: replacing serves both.
        if kind == "updated":
            self.hand_over(item.url, but=item.text)
        self.delete(item.url)
        if replaced := item.dedup.get("replaces"):  # that page is gone, or a copy of this one now
            self.delete(replaced)
            self.follow(replaced, item.url)
        self.add(item.url, item.title, item.text)
        self.done["re-indexed" if kind == "updated" else "indexed"] += 1
        return item

    def item_dropped(self, item, exception):
        """Take out a page that has become a copy, with the text that it had before."""
        verdict = getattr(exception, "verdict", None)
        if verdict is None or verdict.standing not in ("exact", "near"):
            return  # it is no copy: it came twice, or somebody else does not want it
        self.hand_over(item.url, but=item.text)
        self.delete(item.url)
        self.copies[canonicalize_url(item.url)] = canonicalize_url(verdict.duplicate_of)

    def hand_over(self, url, but):
        """If a page has another text now, and a copy still has the old one, let that show it.

        A crawl that does not come by the copy, as one of the front page alone, would lose the text.
        """
        key = canonicalize_url(url)
        heir = next((copy for copy, original in self.copies.items() if original == key), None)
        hits = self.index.searcher().search(Query.term_query(self.index.schema, "key", key), 1).hits
        if heir is None or not hits:
            return
        old = self.index.searcher().doc(hits[0][1])
        if old["text"][0] != but:
            self.delete(heir)
            self.follow(url, heir)
            self.add(heir, old["title"][0], old["text"][0])

    def follow(self, url, heir):
        """Let the copies of a page be those of another."""
        old, new = canonicalize_url(url), canonicalize_url(heir)
        for copy, original in self.copies.items():
            if original == old and copy != new:
                self.copies[copy] = new

    def add(self, url, title, text):
        """Put in a page."""
        key = canonicalize_url(url)
        self.writer.add_document(Document(url=url, key=key, title=title, text=text))

    def delete(self, url):
        """Take out the page at an address, whatever its spelling: a later crawl may use another."""
        key = canonicalize_url(url)
        self.copies.pop(key, None)
        self.writer.delete_documents_by_term("key", key)

    def close_spider(self):
        """Make the changes visible to searches."""
        self.writer.commit()
        COPIES.write_text(json.dumps(self.copies))
        self.writer.wait_merging_threads()
        self.index.reload()
        names = ("indexed", "re-indexed", "skipped")
        report = ", ".join(f"{self.done[name]} {name}" for name in names)
        print(f"{report}; {self.index.searcher().num_docs} in the index", file=sys.stderr)
