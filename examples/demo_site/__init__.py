"""A small web of three sites that copy from each other, served on localhost."""
