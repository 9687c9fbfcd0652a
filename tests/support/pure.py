"""Modules as they are where nothing is compiled."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from typing import Any
from unittest.mock import patch


def load_pure(name: str) -> Any:
    """Return a fresh copy of a module that finds no compiled one beside it."""
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    package, _, leaf = name.rpartition(".")
    module = module_from_spec(spec)
    with patch.dict(sys.modules, {f"{package}._{leaf}": None}):
        spec.loader.exec_module(module)
    return module
