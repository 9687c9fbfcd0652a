"""Which blocks of a page are main text."""
