"""The spider that the package brings: ``site``, which crawls whole sites."""
