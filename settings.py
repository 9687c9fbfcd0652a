"""The settings of this project's own crawls: polite, and with the duplicate filter on."""

from crawler import __version__

BOT_NAME = "site"
USER_AGENT = f"scrapy-neardup/{__version__}"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"
COMMANDS_MODULE = "crawler.commands"

ADDONS = {"crawler.Addon": 500}
EXTENSIONS = {"crawler.console.Console": 500}

# Politeness. AutoThrottle keeps about two requests to a host under way at a time.
ROBOTSTXT_OBEY = True
SITE_META_ROBOTS_OBEY = True
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.5
AUTOTHROTTLE_TARGET_CONCURRENCY = 2.0
CONCURRENT_REQUESTS_PER_DOMAIN = 8
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_MAXSIZE = 50 * 1024 * 1024

# Breadth first: what is near the start page comes first, so that `max_pages` cuts off the far end.
# The depth limit ends calendars and other sites that have a next page for ever.
DEPTH_PRIORITY = 1
DEPTH_LIMIT = 50
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"

# A feed (`-O pages.jsonl`) leaves out the field `html`; name it here to have it.
FEED_EXPORT_ENCODING = "utf-8"
FEED_EXPORT_FIELDS = ["url", "fetched_at", "status", "title", "canonical", "date", "text", "dedup"]

# The console's line and table stand in for Scrapy's own log, which `-L INFO` brings back.
LOG_LEVEL = "WARNING"
LOGSTATS_INTERVAL = 0

# Both open a port.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
