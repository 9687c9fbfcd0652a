"""Requests to the index: batches, exchanges, and the spool."""
