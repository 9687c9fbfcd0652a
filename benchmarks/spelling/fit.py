"""Fit the weights of the correction of typos on texts with made-up errors.

    python benchmarks/spelling/fit.py --texts FILE [--misspellings FILE] [--read FILE] [--write]

Texts are clean English prose, one JSON object with ``text`` a line; misspellings are what people
wrote, objects with ``misspelling`` and ``correct`` (such lists: codespell's, Wikipedia's,
Birkbeck's). Without them, all errors are those of scanners. What was read is pairs of
benchmarks/spelling/print.py, of other texts. Every fifth text judges and is not fitted on. With
``--write``, the weights are written into weights.json.

The model is a softmax regression: of the choices that a doubtful word has, among them the word as
it stands, one is what the clean text has. Neighbours are what the weights so far make of them, so
it is fitted a few times over.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein, Opcode

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.spelling.noise import mistyped, scanned
from benchmarks.tools.folders import read_rows
from crawler.dedup import jaccard, shingle_hashes
from crawler.dedup.spelling import choices, context
from crawler.dedup.spelling.correction import ContextCorrector
from crawler.dedup.spelling.page_words import PageWords

NAMES = (*choices.FEATURES, *context.PAGE_FEATURES)
RATES = (0.02, 0.05, 0.1, 0.2, 0.3)
MISTYPED = 0.4  # share of the texts
PASSES = 3
STEPS = 40
PENALTY = 1e-3  # of squared weights, features scaled to a deviation of 1
MOST_CORRECTED = 0.45
FILE = Path(choices.__file__).with_name("weights.json")


class Pair(NamedTuple):
    """A clean text and what became of it."""

    clean: str
    noisy: str


@dataclass
class Sample:
    """Choices of doubtful words, one after another, and which of each word's is right."""

    features: np.ndarray
    counts: np.ndarray
    right: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        return np.cumsum(self.counts) - self.counts


def spoil_texts(texts: Sequence[str], misspellings: Mapping[str, Sequence[str]]) -> Iterator[Pair]:
    """Each text with typing or scanning errors at one of RATES."""
    chooser = random.Random(5)
    for text in texts:
        rate = chooser.choice(RATES)
        if misspellings and chooser.random() < MISTYPED:
            yield Pair(text, mistyped(text, rate, misspellings, chooser))
        else:
            yield Pair(text, scanned(text, rate, chooser))


def find_meant(clean: PageWords, noisy: PageWords) -> dict[int, str]:
    """By place in *noisy*, the word or the two words of *clean* that stand there."""
    found = {}
    source, destination = clean.words_at(), noisy.words_at()
    for right, wrong in pair_spans(Levenshtein.opcodes(source, destination)):
        words, read = source[right], destination[wrong]
        offers = [words] if len(words) == len(read) else []
        if len(words) == len(read) + 1:  # two of them were run together
            offers = [
                [*words[:at], " ".join(words[at : at + 2]), *words[at + 2 :]]
                for at in range(len(read))
            ]
        if offers:
            best = min(offers, key=lambda offer: sum(map(Levenshtein.distance, offer, read)))
            found |= dict(enumerate(best, wrong.start))
    return found


def pair_spans(changes: Iterable[Opcode]) -> Iterator[tuple[slice, slice]]:
    """Runs of equal words, and what stands between them, in *source* and in *destination*."""
    source = destination = 0
    for change in changes:
        if change.tag == "equal":
            yield slice(source, change.src_start), slice(destination, change.dest_start)
            yield (
                slice(change.src_start, change.src_end),
                slice(change.dest_start, change.dest_end),
            )
            source, destination = change.src_end, change.dest_end
    yield slice(source, None), slice(destination, None)


def sample_doubts(pairs: Sequence[Pair], weights: Mapping[str, float]) -> Sample:
    """The doubtful words of noisy texts whose right choice is among those that were found."""
    choices.WEIGHTS.update(weights)
    correct = ContextCorrector()
    words, reader = correct.dictionary, correct.reader
    features, counts, right = [], [], []
    for clean, noisy in pairs:
        page = PageWords(noisy, words)
        errors = reader.error_share(page)
        if not errors:
            continue
        page = PageWords(page.rewrite_text(reader.join_halves(page), MOST_CORRECTED), words)
        doubts = reader.find_doubts(page, errors, thorough=True)
        if doubts is None:
            continue
        fit = reader.most_probable(doubts)[1]
        truth = find_meant(PageWords(clean, words), page)
        for place, count, start in zip(
            doubts.places.tolist(), doubts.counts.tolist(), doubts.starts.tolist(), strict=True
        ):
            span = slice(start, start + count)
            offered = page.words_at(slice(place, place + 1))
            offered += [reader.choice_text(doubts, row) for row in range(start + 1, start + count)]
            if truth.get(place) in offered:
                features.append(np.column_stack((doubts.features[span], fit[span])))
                counts.append(count)
                right.append(offered.index(truth[place]))
    return Sample(np.vstack(features).astype(float), np.array(counts), np.array(right))


def fit_weights(sample: Sample) -> dict[str, float]:
    """The weights that make the right choices most probable (Newton's method)."""
    scale = sample.features.std(0) + 1e-9
    features, starts = sample.features / scale, sample.starts
    right, row = starts + sample.right, np.repeat(np.arange(len(starts)), sample.counts)
    weights = np.zeros(len(NAMES))
    for _ in range(STEPS):
        probable = softmax(features @ weights, starts, row)
        expected = np.add.reduceat(features * probable[:, None], starts)
        gradient = (features[right].sum(0) - expected.sum(0)) / len(starts) - PENALTY * weights
        curvature = (features * probable[:, None]).T @ features - expected.T @ expected
        curvature = curvature / len(starts) + PENALTY * np.eye(len(NAMES))
        step = np.linalg.solve(curvature, gradient)
        step *= min(1.0, 2.0 / np.abs(step).max())
        weights += step
        if np.abs(step).max() < 1e-5:
            break
    return {name: round(float(one), 3) for name, one in zip(NAMES, weights / scale, strict=True)}


def softmax(scores: np.ndarray, starts: np.ndarray, row: np.ndarray) -> np.ndarray:
    odds = np.exp(scores - np.maximum.reduceat(scores, starts)[row])
    return odds / np.add.reduceat(odds, starts)[row]


def describe_fit(sample: Sample, weights: Mapping[str, float]) -> str:
    """Mean log-likelihood of the right choices, and the share of words where they come first."""
    scores = sample.features @ np.array([weights[name] for name in NAMES])
    starts, row = sample.starts, np.repeat(np.arange(len(sample.counts)), sample.counts)
    likely = np.log(softmax(scores, starts, row)[starts + sample.right]).mean()
    first = (np.maximum.reduceat(scores, starts) == scores[starts + sample.right]).mean()
    return f"{len(starts)} words, log-likelihood {likely:.4f}, right {first:.3f}"


def mean_closeness(pairs: Sequence[Pair], weights: Mapping[str, float]) -> tuple[float, float]:
    """Mean J3 of clean and noisy texts, as they are and corrected."""
    choices.WEIGHTS.update(weights)
    correct = ContextCorrector()

    def similar(a: str, b: str) -> float:
        return jaccard(shingle_hashes(a, size=3), shingle_hashes(b, size=3))

    return (
        mean(similar(clean, noisy) for clean, noisy in pairs),
        mean(similar(correct(clean), correct(noisy)) for clean, noisy in pairs),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--misspellings", type=Path)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--most", type=int, default=600, help="texts (default: 600)")
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    options = parser.parse_args()
    misspellings = defaultdict(list)
    for row in read_rows(options.misspellings) if options.misspellings else ():
        misspellings[row["correct"]].append(row["misspelling"])
    texts = [row["text"] for row in read_rows(options.texts)]
    random.Random(7).shuffle(texts)
    pairs = list(spoil_texts(texts[: options.most], misspellings))
    pairs += [Pair(**row) for row in (read_rows(options.read) if options.read else ())]
    judges = pairs[::5]
    taught = [pair for number, pair in enumerate(pairs) if number % 5]
    weights = dict(choices.WEIGHTS)
    print(f"weights as they are: J3 of held-out texts {mean_closeness(judges, weights)}")
    for number in range(1, PASSES + 1):
        seen = sample_doubts(taught, weights)
        weights = fit_weights(seen)
        print(f"pass {number}: {describe_fit(seen, weights)}")
    print(f"held out: {describe_fit(sample_doubts(judges, weights), weights)}")
    print(f"fitted weights: J3 of held-out texts {mean_closeness(judges, weights)}")
    print(json.dumps(weights, indent=1))
    if options.write:
        FILE.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
