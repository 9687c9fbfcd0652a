"""Subcommands about an index as a whole, and its settings."""
