"""The templates of sites."""
