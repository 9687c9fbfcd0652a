"""Pages on their way to the index."""
