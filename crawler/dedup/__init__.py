"""Near-duplicate detection: text in, numbers and verdicts out."""

from .config import DedupConfig
from .errors import ConfigError, DedupError, ParameterMismatch, ServerError
from .index import DuplicateIndex
from .matches import Match
from .sketches import Sketcher
from .sketches.lsh import collision_probability
from .sketches.shingles import shingle_hashes
from .sketches.similarity import Estimate, containment, estimate, jaccard
from .verdict import Kind, Record, Verdict

__all__ = [
    "ConfigError",
    "DedupConfig",
    "DedupError",
    "DuplicateIndex",
    "Estimate",
    "Kind",
    "Match",
    "ParameterMismatch",
    "Record",
    "ServerError",
    "Sketcher",
    "Verdict",
    "collision_probability",
    "containment",
    "estimate",
    "jaccard",
    "shingle_hashes",
]
