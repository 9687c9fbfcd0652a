"""The index on a cluster, spread over its slots."""
