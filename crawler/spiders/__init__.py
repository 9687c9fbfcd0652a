"""The spider of this package: ``site``, which crawls whole sites."""
