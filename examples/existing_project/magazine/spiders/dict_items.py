"""A spider whose items are dicts."""

from .base import Papers


class DictItems(Papers):
    """Yields the headline of each story."""

    name = "dict_items"
    custom_settings = {
        "FEED_EXPORT_FIELDS": ["url", "headline", "dedup"],  # added
    }

    def parse_article(self, response):
        yield {
            "url": response.url,
            "headline": response.css("h1::text").get(),
            "html": response.text,  # added
        }
