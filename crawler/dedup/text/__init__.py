"""Text in, normalised words out."""

from .normaliser import Normaliser

__all__ = ["Normaliser"]
