"""What a crawl remembers until its end: dropped pages, its JOBDIR, items on their way."""
