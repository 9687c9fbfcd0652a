"""Pages are rendered by Chromium before the filter sees them."""

import os

SPIDER_MODULES = ["rendered"]
ADDONS = {"scrapy_neardup.Addon": 500}
ROBOTSTXT_OBEY = True
LOG_LEVEL = "WARNING"

DOWNLOAD_HANDLERS = {
    "http": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
    "https": "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler",
}
# CHROMIUM names a browser that is there already; else the one of `playwright install` is taken.
PLAYWRIGHT_LAUNCH_OPTIONS = {
    "executable_path": os.environ.get("CHROMIUM"),
    "chromium_sandbox": os.geteuid() != 0,  # which root cannot have
    # The browser asks for the sites alone.
    "args": ["--disable-background-networking", "--disable-component-update", "--no-proxy-server"],
}
