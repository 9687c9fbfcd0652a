"""A project without code of its own: the spider comes with the package."""

SPIDER_MODULES = ["scrapy_neardup.spiders"]
ADDONS = {"scrapy_neardup.Addon": 500}
EXTENSIONS = {"scrapy_neardup.console.Console": 500}  # the table at the end
ROBOTSTXT_OBEY = True
LOG_LEVEL = "WARNING"
FEED_EXPORT_FIELDS = ["url", "title", "text", "dedup"]
