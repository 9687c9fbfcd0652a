"""Which URLs of a site lead to the same text: learnt from the pages of a crawl."""
