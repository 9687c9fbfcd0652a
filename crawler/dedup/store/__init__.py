"""The index in the server: the only package that speaks to Redis."""
