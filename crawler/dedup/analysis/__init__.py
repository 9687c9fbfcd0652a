"""Comparison of texts with each other, without an index."""
