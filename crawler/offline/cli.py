"""The command line of a Spark job, the same for ``scrapy dedup corpus`` and spark-submit."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..dedup.config import DedupConfig
    from .result import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for input, output and Spark."""
    parser.add_argument(
        "input",
        metavar="INPUT",
        nargs="+",
        help="files, folders or patterns, the most trusted first; also s3a://, hdfs:// and "
        "whatever else Spark reads",
    )
    parser.add_argument("-o", "--out", metavar="OUT", required=True, help="folder of the results")
    parser.add_argument(
        "--index",
        type=Path,
        metavar="EXPORT",
        help="what `scrapy dedup export` wrote: the pages that the index keeps come before INPUT",
    )
    parser.add_argument(
        "--cluster-size",
        action="store_true",
        help="write a field cluster_size into kept pages of JSON lines and Parquet: how many pages "
        "each stands for, itself included",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        default="local[*]",
        help="where Spark runs (default: %(default)s, all cores of this machine)",
    )
    parser.add_argument(
        "--conf",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a setting of Spark, such as spark.driver.memory=16g; can be repeated",
    )


def run_job(options: argparse.Namespace, config: DedupConfig, *, submitted: bool = False) -> Result:
    """Do the job; a line for each stage goes to standard error.

    Raises :class:`DedupError` for errors that the user can correct.
    """
    from ..dedup.errors import InputError
    from .records.files import refuse_inside
    from .records.input_records import list_input
    from .session import find_files, find_reason, session_answers, start_session

    refuse_inside(options.out, options.input)
    named = list_input(options.input, config)  # before Java starts, which takes long
    export = None
    if options.index is not None:
        from .known import open_export

        export = open_export(options.index, config)
    chosen = dict(parse_settings(options.conf, "--conf"))
    spark = start_session(None if submitted else options.master, chosen)
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        from .corpus_job import Corpus

        files = find_files(spark, named)
        try:
            corpus = Corpus(
                spark,
                files,
                options.out,
                config,
                report=_print_line,
                export=export,
                cluster_size=options.cluster_size,
            )
            return corpus.run()
        except (PySparkException, Py4JError, ConnectionError) as error:
            if session_answers(spark):
                raise InputError(f"Spark gave up: {find_reason(error)}") from error
            raise InputError(
                "Spark's Java ended, as if killed for lack of memory: start the job "
                "again, and it resumes; give Java more memory with --conf "
                "spark.driver.memory"
            ) from error
    finally:
        if not submitted:  # otherwise spark-submit ends it
            with suppress(Exception):  # Java may be gone
                spark.stop()


def parse_settings(words: list[str], option: str) -> Iterator[tuple[str, str]]:
    """Name and value of each NAME=VALUE that was given to `option`."""
    from ..dedup.errors import InputError

    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise InputError(f"{option} expects NAME=VALUE, not {word!r}")
        yield name, value


def _print_line(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
