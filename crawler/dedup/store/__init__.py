"""The index in the server: the one room that speaks to Redis."""
