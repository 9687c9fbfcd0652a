"""What a crawl remembers until its end: copies to ask for again, its JOBDIR, items on their way."""
