"""What the spiders have in common: they go from paper to paper and read the stories."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Papers(CrawlSpider):
    """Follows the links to papers, and calls ``parse_article`` with each story."""

    rules = (
        Rule(LinkExtractor(allow=r"/\w+/$")),
        Rule(LinkExtractor(allow=r"/\w+/[\w/-]*[\w-]$"), callback="parse_article"),
    )

    def __init__(self, url, **arguments):
        super().__init__(**arguments)
        self.start_urls = [url]
