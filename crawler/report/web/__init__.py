"""The report as a web page, live, where people can decide themselves."""
