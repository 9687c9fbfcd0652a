"""A spider for pages that JavaScript writes."""

import scrapy


class Rendered(scrapy.Spider):
    """Yields the pages of the given URLs, as the browser shows them."""

    name = "rendered"

    async def start(self):
        """Ask for each page by the browser."""
        for url in self.urls.split(","):
            yield scrapy.Request(url, meta={"playwright": True})

    def parse(self, response):
        """Yield the HTML after all scripts of the page have run."""
        yield {"url": response.url, "title": "", "html": response.text}
