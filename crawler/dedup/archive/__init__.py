"""The archive: texts of the pages that were checked last, in a file beside the index."""
