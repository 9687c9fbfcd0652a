"""Subcommands about texts at hand, which need no index."""
