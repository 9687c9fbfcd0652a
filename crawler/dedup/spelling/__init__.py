"""Correction of misread and mistyped words: a dictionary, what is like a word, and its context."""
