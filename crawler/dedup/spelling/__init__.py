"""Correction of misread and mistyped words by a dictionary, similar words and the context."""
