"""Sketches: a page's shingles in a few hundred numbers, by any of several methods."""

from .base import BandedMethod, Method, SketchArray
from .fast import FastSimilaritySketch
from .sketcher import METHODS, Sketcher

__all__ = [
    "METHODS",
    "BandedMethod",
    "FastSimilaritySketch",
    "Method",
    "SketchArray",
    "Sketcher",
]
