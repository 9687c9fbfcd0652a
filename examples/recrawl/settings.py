"""Pages that are kept go on to the search engine's index."""

SPIDER_MODULES = ["scrapy_neardup.spiders"]
ADDONS = {"scrapy_neardup.Addon": 500}
ITEM_PIPELINES = {"indexer.IndexPipeline": 800}
ROBOTSTXT_OBEY = True
LOG_LEVEL = "WARNING"
