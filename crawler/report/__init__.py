"""What people see of an index: a report in one file, and a web page.

Both read the index and, for texts, the archive. They need ``pip install scrapy-neardup[report]``.
"""
