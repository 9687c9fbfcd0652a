"""What each compiled module saves of a page's time, in one interleaved run.

python benchmarks/compiled.py --data FOLDER [--pages N] [--rounds N]

FOLDER holds `gold.jsonl` and `pages/`.  One process has all compiled modules, one none, and each
other one all but one.  All read the same pages in turn, from HTML to fingerprint.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.tools.folders import folder_with

ROOT = Path(__file__).resolve().parent.parent

ALL, NONE = "all compiled", "nothing compiled"
STARTS = 5  # of each process


def as_shipped() -> None:
    """Compile what is not yet, and if anything was, run the benchmark from its beginning."""
    if os.environ.get("NEARDUP_PURE"):
        return
    try:
        import hatch_build

        old = hatch_build.out_of_date()
        hatch_build.in_place()
    except Exception as error:
        print(f"Measured with what was compiled before: {error}", file=sys.stderr)
        return
    if old:
        os.environ["NEARDUP_PURE"] = "1"  # once is enough, whatever came of it
        os.execv(sys.executable, sys.orig_argv)


def module_names() -> list[str]:
    """Return the compiled modules by their full names."""
    sources = sorted((ROOT / "crawler").rglob("*.pyx"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources]


def serve(folder: Path, pages: int, without: Sequence[str]) -> None:
    """Process all pages once for each line of standard input, and print what each took, in s."""
    sys.modules.update(dict.fromkeys(without))  # type: ignore[arg-type]  # None: not to be had

    from benchmarks.main_text.data import load_pages
    from crawler.chrome import strip_chrome
    from crawler.dedup import DedupConfig
    from crawler.dedup.fingerprint import Fingerprinter

    make_fingerprint = Fingerprinter(DedupConfig(), seed=1)
    htmls = [page.html for page in load_pages(folder, pages)]
    for _ in sys.stdin:
        times = [time.perf_counter()]
        for html in htmls:
            page = strip_chrome(html)
            page.hashes()
            make_fingerprint(page.text)
            times.append(time.perf_counter())
        print(*(end - start for start, end in pairwise(times)), flush=True)


def measure(folder: Path, pages: int, rounds: int) -> dict[str, float]:
    """Return for each variant its time, as a multiple of that with all compiled modules.

    A page's time is its shortest: when nothing else took the processor, in a process whose memory
    lies well.
    """
    names = module_names()
    variants: dict[str, list[str]] = {ALL: [], **{name: [name] for name in names}, NONE: names}
    shortest: dict[str, list[float]] = {}
    for _ in range(STARTS):
        workers = {variant: start(folder, pages, without) for variant, without in variants.items()}
        try:
            for _ in range(rounds):
                for variant, worker in workers.items():
                    times = ask(worker)
                    shortest[variant] = list(map(min, shortest.get(variant, times), times))
        finally:
            for worker in workers.values():
                worker.kill()
    return {variant: sum(times) / sum(shortest[ALL]) for variant, times in shortest.items()}


def start(folder: Path, pages: int, without: Sequence[str]) -> subprocess.Popen[str]:
    """Start a process that has no module of `without`."""
    options = ["--data", folder, "--pages", str(pages), "--serve", *without]
    command = [sys.executable, __file__, *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(worker: subprocess.Popen[str]) -> list[float]:
    """Have a process go over all pages; return the seconds of each."""
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write("\n")
    worker.stdin.flush()
    return list(map(float, worker.stdout.readline().split()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=folder_with("gold.jsonl"), required=True)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--serve", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.data, options.pages, options.serve)
        return
    as_shipped()
    print("| without | time of a page |\n|---|---|")
    for variant, ratio in measure(options.data, options.pages, options.rounds).items():
        name = f"`{variant}`" if "." in variant else variant
        print(f"| {name} | × {ratio:.2f} |")


if __name__ == "__main__":
    main()
