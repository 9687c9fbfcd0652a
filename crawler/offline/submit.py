"""The file that spark-submit runs: ``scrapy dedup corpus`` on a cluster, without a Scrapy project.

spark-submit runs a file and not a module of a package, so the file first finds its package.
"""

import importlib
import sys
from pathlib import Path

if __name__ == "__main__":
    package = Path(__file__).parents[1]
    sys.path.insert(0, str(package.parent))
    importlib.import_module(f"{package.name}.offline.submitted").main()
