"""A spider whose items are dataclasses."""

from ..items import Article
from .base import Papers


class DataclassItems(Papers):
    """Yields the headline of each story."""

    name = "dataclass_items"

    def parse_article(self, response):
        yield Article(
            url=response.url,
            headline=response.css("h1::text").get(),
            html=response.text,  # added
        )
