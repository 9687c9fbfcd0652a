"""Texts compared with each other, without an index."""
