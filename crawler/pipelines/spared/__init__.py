"""Requests that are not made: their pages would be copies. What they are spared by, and the end."""
