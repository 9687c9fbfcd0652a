"""A pipeline that keeps a full-text index of tantivy up to date with the crawls."""

import sys
from collections import Counter
from pathlib import Path

from tantivy import Document, Index, SchemaBuilder

FOLDER = Path("pages.index")


class IndexPipeline:
    """Writes what is new or has changed. What is unchanged since the last crawl costs nothing."""

    def open_spider(self):
        """Open the index, or make it."""
        schema = SchemaBuilder()
        schema.add_text_field("url", stored=True, tokenizer_name="raw")
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
        self.writer.delete_documents("url", item.url)
        if replaced := item.dedup["replaces"]:  # that page is gone, or a copy of this one now
            self.writer.delete_documents("url", replaced)
        self.writer.add_document(Document(url=item.url, title=item.title, text=item.text))
        self.done["re-indexed" if kind == "updated" else "indexed"] += 1
        return item

    def close_spider(self):
        """Make the changes visible to searches."""
        self.writer.commit()
        self.writer.wait_merging_threads()
        self.index.reload()
        names = ("indexed", "re-indexed", "skipped")
        report = ", ".join(f"{self.done[name]} {name}" for name in names)
        print(f"{report}; {self.index.searcher().num_docs} in the index", file=sys.stderr)
