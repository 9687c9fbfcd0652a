"""Item pipelines: strip a page's chrome; detect and drop duplicates."""

from .chrome import ChromePipeline
from .dropping import DroppedPage, ExactDuplicate, NearDuplicate
from .duplicates import DuplicatePipeline

__all__ = [
    "ChromePipeline",
    "DroppedPage",
    "DuplicatePipeline",
    "ExactDuplicate",
    "NearDuplicate",
]
