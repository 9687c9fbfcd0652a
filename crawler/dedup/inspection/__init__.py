"""Read-only questions about a whole index: what was decided, and why.

Each function takes an open index. Unless it is about one page, it reads every record of the index,
some 50,000 a second, and reports this to `progress`.
"""

from .cluster_records import IndexCluster, Stories, read_cluster, read_clusters, read_stories
from .decisions import Rethreshold, Sample, rethreshold, sample_decisions
from .explanation import Explanation, Neighbour, explain_decision, find_nearest, find_shares
from .orphans import Orphan, read_orphans
from .top import HostCounts, Top, hosts_of, read_top
from .watch import Change, Watch

__all__ = [
    "Change",
    "Explanation",
    "HostCounts",
    "IndexCluster",
    "Neighbour",
    "Orphan",
    "Rethreshold",
    "Sample",
    "Stories",
    "Top",
    "Watch",
    "explain_decision",
    "find_nearest",
    "find_shares",
    "hosts_of",
    "read_cluster",
    "read_clusters",
    "read_orphans",
    "read_stories",
    "read_top",
    "rethreshold",
    "sample_decisions",
]
