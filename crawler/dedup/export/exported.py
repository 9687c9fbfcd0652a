"""Reading an exported index: header, parameters, pages and counters, all checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ..errors import InputError, ParameterMismatch
from ..store.keys import AGAIN
from ..store.parameters import SECRET, Parameters
from .file import read_header
from .page_lines import from_line

if TYPE_CHECKING:
    from pathlib import Path

    from ..store.records import PageRecord
    from .file import FileBlock

_SEED: Final = re.compile(rf"[0-9]{{1,19}}|{SECRET}[0-9a-f]+")
_BITS: Final = re.compile("[0-9]{1,9}")
_COUNT: Final = re.compile("[0-9]{1,18}")
_WISH: Final = re.compile(f"keep|drop|{AGAIN}")
_OF_THE_STORE: Final = frozenset(("digest", "format", "shards", "unfinished"))


def checked_header(path: Path, block: FileBlock) -> dict[str, Any]:
    """The header in a file's first block. Raises :class:`InputError` if it does not fit."""
    header = read_header(path, block)
    if not _is_header(header):
        raise InputError(f"{str(path)!r}, header: not as this package writes it")
    return header


def mark_of(header: dict[str, Any]) -> str:
    """The mark that identifies an export of an index."""
    return f"{header['state']} {header['created']}"


def settle_parameters(path: Path, header: dict[str, Any], parameters: Parameters) -> None:
    """Give `parameters` the seed of an exported index, and check all others.

    Raises :class:`ParameterMismatch`, which names the differences.
    """
    values = {k: v for k, v in header["parameters"].items() if k not in _OF_THE_STORE}
    ours = parameters.values
    if "shards" in ours:
        values["shards"] = ours["shards"]
    found = Parameters(header["namespace"], values).values
    parameters.adopt_seed(found)
    if parameters.digest != found["digest"]:
        raise ParameterMismatch(
            f"the index in {str(path)!r} was made with other parameters "
            f"({parameters.describe_differences(found)}): set them as they were"
        )


def _is_header(header: dict[str, Any]) -> bool:
    numbers = header.get("next")
    texts = [header.get("state"), header.get("created"), header.get("namespace")]
    parameters = header.get("parameters")
    return (
        isinstance(numbers, list)
        and all(type(n) is int and 0 < n < 1 << 32 for n in numbers)
        and type(header.get("pages")) is type(header.get("shards")) is int
        and max(1, header["shards"]) == len(numbers)
        and all(isinstance(text, str) for text in texts)
        and isinstance(parameters, dict)
        and all(isinstance(value, str) for value in parameters.values())
        and _BITS.fullmatch(parameters.get("verify_bits", "")) is not None
        and _SEED.fullmatch(parameters.get("seed", "")) is not None
    )


def are_counters(counters: Any) -> bool:
    """Whether the counters at the end of a file are valid."""
    groups = {"stats": _COUNT, "hosts": _COUNT, "histogram": _COUNT, "overrides": _WISH}
    return isinstance(counters, dict) and all(
        isinstance(counters.get(name), dict)
        and all(isinstance(v, str) and form.fullmatch(v) for v in counters[name].values())
        for name, form in groups.items()
    )


def records_in(path: Path, block: FileBlock, odd_bytes: int) -> list[PageRecord]:
    """The pages in a block. Raises :class:`InputError`, which names block and line."""
    found = []
    for number, line in enumerate(block.lines, 1):
        try:
            found.append(from_line(line, odd_bytes))
        except ValueError as error:
            raise InputError(
                f"{str(path)!r}, block {block.number}, line {number}: {error}"
            ) from None
    return found
