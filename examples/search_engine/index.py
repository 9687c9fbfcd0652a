"""``python index.py pages.jsonl FOLDER``: the pages of a feed as a full-text index of tantivy."""

import json
import shutil
import sys
from pathlib import Path

from tantivy import Document, Index, SchemaBuilder


def new_index(folder):
    """An empty index in `folder`; what was there before is deleted."""
    schema = SchemaBuilder()
    schema.add_text_field("url", stored=True, tokenizer_name="raw")
    schema.add_text_field("title", stored=True)
    schema.add_text_field("text", stored=True, tokenizer_name="en_stem")
    shutil.rmtree(folder, ignore_errors=True)
    Path(folder).mkdir()
    return Index(schema.build(), path=str(folder))


def main(feed, folder):
    """Write the index."""
    index = new_index(folder)
    writer = index.writer()
    with Path(feed).open(encoding="utf-8") as lines:
        for page in map(json.loads, lines):
            writer.add_document(Document(url=page["url"], title=page["title"], text=page["text"]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    print(f"{index.searcher().num_docs} pages in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])
