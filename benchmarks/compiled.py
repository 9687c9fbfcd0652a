"""What each compiled module saves of a page's CPU, in one interleaved run.

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
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.folders import folder_with

ROOT = Path(__file__).resolve().parent.parent

ALL, NONE = "all compiled", "nothing compiled"


def as_shipped() -> None:
    """Compile what is not yet, and if anything was, run the benchmark from its beginning."""
    if os.environ.get("NEARDUP_PURE"):
        return
    try:
        import hatch_build

        made = hatch_build.in_place()
    except Exception as error:
        print(f"Measured with what was compiled before: {error}", file=sys.stderr)
        return
    if made:
        os.environ["NEARDUP_PURE"] = "1"  # once is enough, whatever came of it
        os.execv(sys.executable, sys.orig_argv)


def module_names() -> list[str]:
    """Return the compiled modules by their full names."""
    sources = sorted((ROOT / "crawler").rglob("*.pyx"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sources]


def serve(folder: Path, pages: int, without: Sequence[str]) -> None:
    """Process all pages once for each line of standard input, and print the CPU seconds."""
    sys.modules.update(dict.fromkeys(without))  # type: ignore[arg-type]  # None: not to be had

    from benchmarks.chrome_data import load_pages
    from crawler.chrome import strip_chrome
    from crawler.dedup import DedupConfig
    from crawler.dedup.fingerprint import Fingerprinter

    make_fingerprint = Fingerprinter(DedupConfig(), seed=1)
    htmls = [page.html for page in load_pages(folder, pages)]
    for _ in sys.stdin:
        start = time.process_time()
        for html in htmls:
            page = strip_chrome(html)
            page.hashes()
            make_fingerprint(page.text)
        print(time.process_time() - start, flush=True)


def measure(folder: Path, pages: int, rounds: int) -> dict[str, float]:
    """Return for each variant its CPU time, as a multiple of that with all compiled modules."""
    names = module_names()
    variants: dict[str, list[str]] = {ALL: [], **{name: [name] for name in names}, NONE: names}
    workers = {
        variant: subprocess.Popen(
            [
                sys.executable,
                __file__,
                "--data",
                folder,
                "--pages",
                str(pages),
                "--serve",
                *without,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for variant, without in variants.items()
    }

    def ask(worker: subprocess.Popen[str]) -> float:
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write("\n")
        worker.stdin.flush()
        return float(worker.stdout.readline())

    try:
        for worker in workers.values():
            ask(worker)  # imports, weights and tables
        ratios: dict[str, list[float]] = {variant: [] for variant in variants}
        for _ in range(rounds):
            seconds = {variant: ask(worker) for variant, worker in workers.items()}
            for variant, found in seconds.items():
                ratios[variant].append(found / seconds[ALL])
    finally:
        for worker in workers.values():
            worker.kill()
    return {variant: median(found) for variant, found in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=folder_with("gold.jsonl"), required=True)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--serve", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.data, options.pages, options.serve)
        return
    as_shipped()
    print("| without | CPU time of a page |\n|---|---|")
    for variant, ratio in measure(options.data, options.pages, options.rounds).items():
        print(
            f"| `{variant}` | × {ratio:.2f} |"
            if "." in variant
            else f"| {variant} | × {ratio:.2f} |"
        )


if __name__ == "__main__":
    main()
