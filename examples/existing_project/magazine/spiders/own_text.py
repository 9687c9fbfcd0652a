"""A spider that takes the text out of the page by itself, into fields of its own names."""

from .base import Papers


class OwnText(Papers):
    """Yields the paragraphs of each story."""

    name = "own_text"
    custom_settings = {
        "DEDUP_URL_FIELD": "link",  # added
        "DEDUP_TEXT_FIELD": "body",  # added
    }

    def parse_article(self, response):
        yield {
            "link": response.url,
            "body": " ".join(response.css("h1::text, h1 ~ p::text").getall()),
        }
