"""A near-duplicate filter for Scrapy crawls."""

__version__ = "0.1.0"
