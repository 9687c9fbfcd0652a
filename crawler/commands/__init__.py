"""``scrapy dedup …``: ask about an index and work on it."""
