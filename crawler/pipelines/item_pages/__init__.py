"""The page that an item is about: in its fields, or the response that it came from."""
