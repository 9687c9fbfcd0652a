"""The file that spark-submit runs: ``scrapy dedup corpus`` on a cluster, without a Scrapy project.

spark-submit runs a file and not a module of a package, so the file first finds its package.
"""

import importlib
import sys
from pathlib import Path


def main() -> None:
    """Read the command line, do the job and print its numbers as JSON."""
    package = Path(__file__).parents[1]
    if __package__ in (None, ""):
        sys.path.insert(0, str(package.parent))
    offline = importlib.import_module(f"{package.name}.offline.submitted")
    offline.main()


if __name__ == "__main__":
    main()
