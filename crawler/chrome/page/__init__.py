"""A page of HTML, read into blocks."""
