BOT_NAME = "magazine"
SPIDER_MODULES = ["magazine.spiders"]
NEWSPIDER_MODULE = "magazine.spiders"
ROBOTSTXT_OBEY = True
LOG_LEVEL = "WARNING"
ADDONS = {"scrapy_neardup.Addon": 500}  # added
