"""Exported indexes: written to a file, and read into an index or a job on Spark."""
