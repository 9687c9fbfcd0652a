"""Files of pages: their records, the pages in them, and files that are written."""
