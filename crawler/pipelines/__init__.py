"""Item pipelines: strip a page's chrome; detect and drop duplicates."""

from .chrome import ChromePipeline
from .dropping import ContainedPage, DroppedPage, ExactDuplicate, NearDuplicate
from .duplicates import DuplicatePipeline

__all__ = [
    "ChromePipeline",
    "ContainedPage",
    "DroppedPage",
    "DuplicatePipeline",
    "ExactDuplicate",
    "NearDuplicate",
]
