"""Sums over ranges of blocks, and features of the containers around a block."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..page.blocks import Floats, Ints, Wide

# Columns of the sums.
WORDS, PROSE, LINKED, LENGTH, LINKS, BLOCKS, HEADS = range(7)
# Features describe the smallest containers with these numbers of blocks, shares of the page's
# words, and shares of its prose.
SIZES: Final = np.array([[3], [10], [30]])
SHARES: Final = np.array([[0.1], [0.25]])
REGIONS: Final = np.array([[0.5], [0.8], [0.95]])
FEW: Final = 2  # siblings of one tag and class; more make a list
TINY: Final = 1e-9


def describe_containers(
    upto: Wide,
    starts: Ints,
    stops: Ints,
    parents: Ints,
    siblings: Ints,
    within: Ints,
) -> list[NDArray[Any]]:
    """Return for each block features of the small and large containers around it."""
    n = len(upto) - 1
    inside = upto[stops] - upto[starts]
    size = stops - starts
    words = inside[:, WORDS]
    table = np.empty((len(starts), 13), np.float32)
    table[:, :5] = divide_sums(inside)
    table[:, 5:8] = inside[:, :3] / np.maximum(inside[0, :3], TINY)
    table[:, 8] = np.log1p(size)
    table[:, 9] = starts / n
    table[:, 10] = stops / n
    table[:, 11] = np.log1p(siblings)
    several = siblings > FEW
    table[:, 12] = np.log1p(words * several)
    fits = np.concatenate((size >= SIZES, words >= SHARES * words[0], several[None]))
    levels = _smallest_containers(fits, parents)[:, within]
    looked_up = table[levels]
    parts: list[NDArray[Any]] = [*looked_up]
    row = np.arange(n)
    parts.append(((row - starts[levels]) / np.maximum(size[levels], 1)).T)
    enough = inside[:, PROSE] >= REGIONS * (inside[0, PROSE] + TINY)
    enough[:, 0] = True
    region = len(starts) - 1 - np.argmax(enough[:, ::-1], 1)  # the last one
    regions = np.empty((n, len(REGIONS), 2), np.float32)
    regions[:, :, 0] = (starts[region] <= row[:, None]) & (row[:, None] < stops[region])
    regions[:, :, 1] = words[region] / words[0]
    parts.append(regions.reshape(n, -1))
    return parts


def _smallest_containers(fits: NDArray[np.bool_], parents: Ints) -> Ints:
    """Return for each row of `fits` and each container the smallest around it that fits.

    That is the container itself or the nearest one above it; the page fits always.
    """
    levels, m = fits.shape
    fits[:, 0] = True
    offset = np.arange(levels)[:, None] * m
    near = (np.where(fits, np.arange(m), parents) + offset).ravel()
    while True:  # each turn doubles the number of steps taken
        further = near[near]
        if np.array_equal(further, near):
            found: Ints = near.reshape(levels, m) - offset
            return found
        near = further


def divide_sums(sums: Wide) -> Floats:
    """Return prose and links per word; length, links and headings per block."""
    result = np.empty((*sums.shape[:-1], 5), np.float32)
    result[..., :2] = sums[..., 1:3] / np.maximum(sums[..., :1], 1)
    blocks = np.maximum(sums[..., BLOCKS, None], 1)
    result[..., 2:4] = sums[..., 3:5] / blocks
    result[..., 4:] = sums[..., 6:] / blocks
    return result
