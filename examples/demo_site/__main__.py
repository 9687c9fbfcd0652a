"""``python -m examples.demo_site``: serve the demo site, until Ctrl-C or while a command runs.

python -m examples.demo_site                          # serve, and print the URLs
python -m examples.demo_site --edition 2              # with the page that has changed
python -m examples.demo_site scrapy crawl site -a url={urls}
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from .pages import EDITIONS
from .server import DEFAULT_PORTS, DemoSite


def main() -> int:
    """Run the program; the exit code is that of the command."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo_site", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--ports", nargs=3, type=int, default=DEFAULT_PORTS, metavar="PORT",
        help="one for each host (default: %(default)s); one that is taken becomes any free one",
    )  # fmt: skip
    parser.add_argument("--edition", type=int, choices=EDITIONS, default=1)
    parser.add_argument(
        "command", nargs=argparse.REMAINDER, metavar="COMMAND",
        help="run this while serving; {urls} stands for the three URLs",
    )  # fmt: skip
    options = parser.parse_args()
    with DemoSite(options.ports, edition=options.edition) as site:
        urls = ",".join(f"{url}/" for url in site.urls.values())
        print(f"demo site: {urls.replace(',', ' ')}", file=sys.stderr, flush=True)
        try:
            if options.command:
                return _run([part.replace("{urls}", urls) for part in options.command])
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            return 130


def _run(command: list[str]) -> int:
    process = subprocess.Popen(command)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # Ctrl-C reached the command as well; it ends by itself, with the site still up.
            continue


if __name__ == "__main__":
    sys.exit(main())
