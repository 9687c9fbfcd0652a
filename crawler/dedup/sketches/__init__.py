"""Sketches: a page's shingles summarised in a few hundred numbers, by one of several methods."""

from .fast import FastSimilaritySketch
from .method import BandedMethod, Method, SketchArray
from .minwise import MinwisePermutations, OnePermutation
from .samples import ModuloSample, SmallestN
from .simhash import Simhash, TwoStage
from .sketcher import METHODS, Sketcher
from .supershingles import Supershingles

__all__ = [
    "METHODS",
    "BandedMethod",
    "FastSimilaritySketch",
    "Method",
    "MinwisePermutations",
    "ModuloSample",
    "OnePermutation",
    "Simhash",
    "SketchArray",
    "Sketcher",
    "SmallestN",
    "Supershingles",
    "TwoStage",
]
