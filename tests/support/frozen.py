"""What is imported so far is no garbage, nor is what processes that are forked have of it."""

import gc

gc.collect()
gc.freeze()
