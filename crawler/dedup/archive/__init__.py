"""The archive: texts of the last checked pages, in a file beside the index."""
