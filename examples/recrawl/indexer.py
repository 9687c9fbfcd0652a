"""A pipeline that keeps a full-text index of tantivy up to date with the crawls."""

import sys
from collections import Counter
from pathlib import Path

from scrapy import signals
from tantivy import Document, Index, SchemaBuilder
from w3lib.url import canonicalize_url

FOLDER = Path("pages.index")


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
        schema.add_text_field("text")
        FOLDER.mkdir(exist_ok=True)
        self.index = Index(schema.build(), path=str(FOLDER))
        self.writer = self.index.writer()
        self.done = Counter()

    def process_item(self, item):
        """Index the page, unless the index has it with this very text."""
        kind = item.dedup["kind"]
        if kind == "unchanged":
            self.done["skipped"] += 1
            return item
        # Pages that could not be checked may be old or new: replacing serves both.
        self.delete(item.url)
        if replaced := item.dedup["replaces"]:  # that page is gone, or a copy of this one now
            self.delete(replaced)
        key = canonicalize_url(item.url)
        self.writer.add_document(Document(url=item.url, key=key, title=item.title, text=item.text))
        self.done["re-indexed" if kind == "updated" else "indexed"] += 1
        return item

    def item_dropped(self, item):
        """Take out a page that has become a copy, with the text that it had before."""
        self.delete(item.url)

    def delete(self, url):
        """Take out the page at an address, whatever form that has: verdicts name others in one."""
        self.writer.delete_documents_by_term("key", canonicalize_url(url))

    def close_spider(self):
        """Make the changes visible to searches."""
        self.writer.commit()
        self.writer.wait_merging_threads()
        self.index.reload()
        names = ("indexed", "re-indexed", "skipped")
        report = ", ".join(f"{self.done[name]} {name}" for name in names)
        print(f"{report}; {self.index.searcher().num_docs} in the index", file=sys.stderr)
