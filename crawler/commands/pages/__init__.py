"""Subcommands about the pages in an index: what was decided, and what a person decides."""
