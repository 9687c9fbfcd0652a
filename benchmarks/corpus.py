"""A corpus on Spark against text-dedup and datatrove, and how its time grows.

    python benchmarks/corpus.py --pages 10000 100000 --peers peers/bin/python
    python benchmarks/corpus.py --same FILE.jsonl     # the verdicts of an index, page by page

The texts are made here: 300 words each from 20,000 that are as frequent as in a language, nearly a
third of them copies as on the web: 8 % word for word, 20 % of an earlier page with some words
changed, 2 % of one template that differs in a few words. All get the same file. Each tool runs by
itself in one process for each of `--cores`; what is counted is the CPU time of all its processes,
start of Java and of Python included, for on a machine that is shared wall time says little.

text-dedup (0.4) is run with 256 values, threshold 0.8 and word 5-grams, datatrove (0.10) with its
defaults, 14 bands of 8 and word 5-grams. They are not dependencies of this project: `--peers` names
a Python that has them (pip install text-dedup datatrove[io,processing] spacy).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WORDS = 300
VOCABULARY = 20_000

DATATROVE = """
import sys
from datatrove.executor import LocalPipelineExecutor as Run
from datatrove.pipeline.dedup import MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig, MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter)
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
folder, out, cores = sys.argv[1], sys.argv[2], int(sys.argv[3])
config = MinhashConfig()
read = JsonlReader(folder, id_key="url")
one = Run([read, MinhashDedupSignature(f"{out}/sig", config=config)], tasks=cores, workers=cores)
two = Run([MinhashDedupBuckets(f"{out}/sig", f"{out}/buckets", config=config)],
          tasks=config.num_buckets, workers=cores, depends=one)
three = Run([MinhashDedupCluster(f"{out}/buckets", f"{out}/ids", config=config)], depends=two)
four = Run([read, MinhashDedupFilter(f"{out}/ids"), JsonlWriter(f"{out}/kept", compression=None)],
           tasks=cores, workers=cores, depends=three)
four.run()
"""


class Run(NamedTuple):
    tool: str
    pages: int
    cpu: float
    wall: float
    kept: int


def write_corpus(folder: Path, pages: int, files: int) -> int:
    """Write a corpus; return how many of its pages are no copies."""
    rng = np.random.default_rng(pages)
    weights = 1 / np.arange(10, VOCABULARY + 10)
    cumulated = np.cumsum(weights / weights.sum())
    words = np.array([f"w{i:x}" for i in range(VOCABULARY)])
    template = words[np.searchsorted(cumulated, rng.random(WORDS))]
    originals: list[np.ndarray] = []
    unique, has_template = 0, False
    streams = [(folder / f"{i:03d}.jsonl").open("w") for i in range(files)]
    for number in range(pages):
        dice = rng.random()
        if dice < 0.3 and originals:
            original = originals[int(rng.integers(len(originals)))]
            page = (template if dice < 0.02 else original).copy()
            unique += dice < 0.02 and not has_template
            has_template = has_template or dice < 0.02
            if dice < 0.22:
                places = rng.integers(0, WORDS, int(rng.integers(1, 5)))
                page[places] = words[rng.integers(0, VOCABULARY, len(places))]
        else:
            page = words[np.searchsorted(cumulated, rng.random(WORDS))]
            unique += 1
            if len(originals) < 50_000:
                originals.append(page)
        row = {"url": f"https://e.example/{number}", "text": " ".join(page)}
        streams[number * files // pages].write(json.dumps(row) + "\n")
    for stream in streams:
        stream.close()
    return unique


def run_command(command: Sequence[str], environment: dict[str, str]) -> tuple[float, float]:
    """CPU and wall seconds of a command with all its processes, which share its session."""
    start, seen = time.perf_counter(), {}
    tick = os.sysconf("SC_CLK_TCK")
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            command, env=environment, stdout=log, stderr=log, start_new_session=True, cwd=ROOT
        ) as process,
    ):
        while process.poll() is None:
            for path in Path("/proc").glob("[0-9]*/stat"):
                try:
                    fields = path.read_text().rpartition(")")[2].split()
                except OSError:
                    continue
                if int(fields[3]) == process.pid:
                    seen[path.parent.name, fields[19]] = int(fields[11]) + int(fields[12])
            time.sleep(0.1)
        if process.returncode:
            log.seek(0)
            sys.exit(f"{' '.join(command[:4])} …\n{log.read().decode()[-3000:]}")
    return sum(seen.values()) / tick, time.perf_counter() - start


def lines_in(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.jsonl"))


def run_ours(folder: Path, out: Path, pages: int, cores: int) -> Run:
    command = [
        sys.executable, "-m", "scrapy", "dedup", "corpus", str(folder), "-o", str(out),
        "--master", f"local[{cores}]", "--json",
    ]  # fmt: skip
    cpu, wall = run_command(command, {**os.environ, "PYTHONPATH": str(ROOT)})
    return Run("scrapy-neardup", pages, cpu, wall, lines_in(out / "kept"))


def run_text_dedup(python: str, folder: Path, out: Path, pages: int, cores: int) -> Run:
    command = [
        python, "-m", "text_dedup.minhash", "--path", "json", "--data_files",
        str(folder / "*.jsonl"), "--split", "train", "--column", "text", "--output", str(out),
        "--cache_dir", str(out.with_name("cache")), "--num_perm", "256", "--threshold", "0.8",
        "--ngram", "5", "--num_proc", str(cores), "--batch_size", "1000",
    ]  # fmt: skip
    cpu, wall = run_command(command, {**os.environ, "HF_HUB_OFFLINE": "1"})
    count = f"import datasets; print(len(datasets.load_from_disk({str(out)!r})))"
    kept = subprocess.run([python, "-c", count], capture_output=True, text=True, check=True)
    return Run("text-dedup", pages, cpu, wall, int(kept.stdout))


def run_datatrove(python: str, folder: Path, out: Path, pages: int, cores: int) -> Run:
    command = [python, "-c", DATATROVE, str(folder), str(out), str(cores)]
    cpu, wall = run_command(command, dict(os.environ))
    return Run("datatrove", pages, cpu, wall, lines_in(out / "kept"))


def compare_tools(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for pages in arguments.pages:
        with tempfile.TemporaryDirectory(prefix="bench-") as name:
            folder = Path(name) / "in"
            folder.mkdir()
            unique = write_corpus(folder, pages, arguments.cores * 2)
            run = run_ours(folder, Path(name) / "a", pages, arguments.cores)
            rows.append({**run._asdict(), "unique": unique})
            print_row(rows[-1])
            if arguments.peers and pages <= arguments.peer_pages:
                for number, peer in enumerate((run_text_dedup, run_datatrove)):
                    out = Path(name) / f"peer{number}" / "out"
                    run = peer(arguments.peers, folder, out, pages, arguments.cores)
                    rows.append({**run._asdict(), "unique": unique})
                    print_row(rows[-1])
    return rows


def print_row(row: dict[str, Any]) -> None:
    print(
        f"{row['tool']:16}{row['pages']:11,}{row['cpu']:10.1f}{row['wall']:9.1f}"
        f"{row['pages'] / row['cpu']:12,.0f}{row['kept']:11,}{row['unique']:11,}",
        flush=True,
    )


def compare_with_index(path: str, settings: list[str]) -> None:
    """Compare a corpus's verdicts with those of an index on its own server."""
    from crawler.dedup import DedupConfig, DuplicateIndex
    from crawler.offline.corpus_job import Corpus
    from crawler.offline.records.files import cut_pieces, local_files, piece_size
    from crawler.offline.records.input_pages import InputReader, pages_of
    from crawler.offline.session import start_session

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        chosen = {"DEDUP_SEED": 7, "DEDUP_DATA_DIR": folder}
        chosen["DEDUP_TEMPLATES"] = False  # the index is given texts, not pages
        chosen |= dict(one.split("=", 1) for one in settings)
        config = DedupConfig.from_settings(chosen)
        spark = start_session("local[*]", {})
        files = local_files(path)
        result = Corpus(spark, files, f"{folder}/out", config, report=print).run()
        names = ("kind", "duplicate_of", "similarity", "low", "high")
        rows = spark.read.parquet(f"{folder}/out/duplicates").collect()
        found = {row.url: tuple(row[name] for name in names) for row in rows}
        cut = cut_pieces(files, piece_size(files))
        read = [one for piece in cut for one in pages_of(piece, InputReader(config))]

        async def check() -> list[Any]:
            async with DuplicateIndex.open(config) as index:
                return await index.check_many([(one.url or "", one.text or "") for one in read])

        verdicts = asyncio.run(check())
        spark.stop()
    expected = {
        one.url: (str(one.kind), *(getattr(one, name) for name in names[1:]))
        for one in verdicts
        if one.duplicate_of is not None
    }
    differing = [
        url for url in expected.keys() | found.keys() if expected.get(url) != found.get(url)
    ]
    for url in differing[:10]:
        print(url, "index:", expected.get(url), "corpus:", found.get(url))
    print(f"{result.pages} pages, {len(found)} duplicates, {len(differing)} verdicts differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--peers", help="a Python that has text-dedup and datatrove")
    parser.add_argument("--peer-pages", type=int, default=100_000, help="they run up to so many")
    parser.add_argument("--same", metavar="FILE", help="compare with an index instead")
    parser.add_argument("-s", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--json", action="store_true", help="print JSON at the end")
    arguments = parser.parse_args()
    if arguments.same:
        compare_with_index(arguments.same, arguments.settings)
        return
    print(f"python {platform.python_version()}, {platform.machine()}, {arguments.cores} cores")
    print(
        f"{'tool':16}{'pages':>11}{'CPU s':>10}{'wall s':>9}{'pages/CPU s':>12}{'kept':>11}"
        f"{'no copies':>11}"
    )
    rows = compare_tools(arguments)
    if arguments.json:
        print(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
