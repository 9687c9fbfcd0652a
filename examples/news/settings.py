"""Every page is kept and tagged; grouping comes afterwards."""

SPIDER_MODULES = ["scrapy_neardup.spiders"]
ADDONS = {"scrapy_neardup.Addon": 500}
ROBOTSTXT_OBEY = True
LOG_LEVEL = "WARNING"
FEED_EXPORT_FIELDS = ["url", "title", "text", "dedup"]
DEDUP_DROP = ""
