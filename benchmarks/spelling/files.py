"""Whether correction takes different texts for copies, on text files of one's own.

    python benchmarks/spelling/files.py FILE...

Pairs are true if the exact Jaccard coefficient of the uncorrected texts reaches 0.8, and found if
that of the corrected ones does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.quality import Texts, by_shingles
from benchmarks.typos import OWN, THRESHOLD, count_altered, measure_set

FEWEST_WORDS = 60
MOST_WORDS = 6000


def read_texts(paths: Iterable[Path]) -> Iterator[str]:
    """Texts of neither few nor very many words."""
    for path in paths:
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        if FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
            yield text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    options = parser.parse_args()
    texts = Texts("files", list(dict.fromkeys(read_texts(options.files))), {})
    texts.truth |= by_shingles(texts, THRESHOLD)[0]
    true = sum(similarity >= THRESHOLD for similarity in texts.truth.values())
    print(f"{len(texts.texts)} texts, {true} pairs from {THRESHOLD} on")
    print(
        "typos: "
        + ", ".join(f"{what} {value:.4g}" for what, value in count_altered(texts.texts).items())
    )
    for name in OWN:
        quality = measure_set(texts, name)
        print(f"{name:12}" + ", ".join(f"{what} {value:.4f}" for what, value in quality.items()))


if __name__ == "__main__":
    main()
