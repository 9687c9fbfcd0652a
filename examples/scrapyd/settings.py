"""A project without a spider of its own: it crawls with the one of the installed package."""

BOT_NAME = "site"
USER_AGENT = "site (+https://example.com/bot)"
SPIDER_MODULES = ["scrapy_neardup.spiders"]
ADDONS = {"scrapy_neardup.Addon": 500}

ROBOTSTXT_OBEY = True
AUTOTHROTTLE_ENABLED = True
DEPTH_LIMIT = 50
FEED_EXPORT_FIELDS = ["url", "fetched_at", "status", "title", "canonical", "date", "text", "dedup"]
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
