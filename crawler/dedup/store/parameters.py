"""The parameters of an index. They are stored in it; it cannot be opened with other ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import ParameterMismatch

SECRET = "secret:"  # prefix of the stored digest of a secret seed
# Named last in errors: they usually differ because another parameter does.
_FOLLOWING = frozenset({"bands", "rows", "tables"})
UNFINISHED = "unfinished"  # parameter of an incomplete index: the operation under way
_REMEDIES = {
    "clear": "it is being deleted: wait, or clear it again if that was interrupted",
    "copy": "it is being made as a copy: wait; if that was interrupted, clear it and copy again",
    "import": "it is being imported: wait; if that was interrupted, import the same file again, "
    "or clear it to import another",
    "rename": "it is being renamed: wait; if that was interrupted, clear this one if the new one "
    "can be opened, else clear the new one and rename again",
}
FORMAT = 6  # of the layout in the server; raised with every change that older code cannot read
_TAKEN_OVER = "5"  # earlier format whose records are valid in this one


class Parameters:
    """The requested parameters, and once the index is known, its own.

    Of a `secret` seed, the `values` only contain a digest. ``agreed`` says whether an existing
    index has these parameters.
    """

    def __init__(
        self, namespace: str, values: Mapping[str, Any], *, secret: int | None = None
    ) -> None:
        self._namespace = namespace
        self._secret = secret
        self._values = {name: str(value) for name, value in values.items()}
        self._values["format"] = str(FORMAT)
        self.agreed = False
        self._compute_digest()

    def _compute_digest(self) -> None:
        named = sorted(item for item in self._values.items() if item[0] != "digest")
        self._values["digest"] = hashlib.sha256(repr(named).encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """The digest by which scripts recognise the parameters of the index."""
        return self._values["digest"]

    @property
    def seed(self) -> int:
        """The seed of all hashes, 0 to 2**64 - 1: secret, proposed or found."""
        return int(self._values["seed"]) if self._secret is None else self._secret

    @property
    def values(self) -> dict[str, str]:
        """The values by name."""
        return dict(self._values)

    @property
    def flat(self) -> list[str]:
        """Names and values in turn."""
        return [part for item in self._values.items() for part in item]

    @property
    def taking_over(self) -> list[str]:
        """The arguments of lua/take_over.lua."""
        return [_TAKEN_OVER, *self.flat]

    def adopt_parameters(self, listing: Sequence[bytes]) -> dict[str, str]:
        """Check an index with the parameters `listing`, names and values in turn.

        An empty listing means that there is no index. A seed that is not secret is only proposed,
        the first time: an existing index keeps its own. Raises :class:`ParameterMismatch`, which
        names the differences.
        """
        if not listing:
            return dict(self._values)
        found = _read_listing(listing)
        if not self.agreed:
            self.adopt_seed(found)
        if found.get("digest") == self.digest:
            self.agreed = True
            return found
        if UNFINISHED in found:
            raise ParameterMismatch(not_whole(self._namespace, found[UNFINISHED]))
        if found.get("format", str(FORMAT)) != str(FORMAT):  # no setting can change the format
            raise ParameterMismatch(
                f"the index {self._namespace!r} has format {found['format']}, and this version "
                f"reads format {FORMAT}: move it as the changelog says, use the version that made "
                "it, or choose another DEDUP_NAMESPACE"
            )
        raise ParameterMismatch(
            f"the index {self._namespace!r} was made with other parameters "
            f"({self.describe_differences(found)}): set them as they were{self._seed_hint(found)}"
            f"{self._order_hint(found)}, or choose another DEDUP_NAMESPACE"
        )

    def _seed_hint(self, found: Mapping[str, str]) -> str:
        """What to set if the seeds differ; of a configured seed, the index has only a digest."""
        if found.get("seed") == self._values.get("seed"):
            return ""
        if found.get("seed", "").startswith(SECRET):
            return ", DEDUP_SEED to the number that the index was made with"
        return " and leave DEDUP_SEED unset, because the index drew its own"

    def _order_hint(self, found: Mapping[str, str]) -> str:
        """What to set if the orders differ: ranks of two orders cannot be compared."""
        if found.get("prefer") == self._values.get("prefer"):
            return ""
        if "prefer" in found:
            return f", DEDUP_PREFER to {found['prefer']!r}"
        return ", DEDUP_PREFER to canonical, earlier or nothing"

    def takes_over(self, listing: Sequence[bytes]) -> bool:
        """Whether an index with the parameters `listing` has an earlier format and fits.

        Its content is valid in this format, too: only its parameters have to be changed.
        """
        found = _read_listing(listing)
        if found.get("format") != _TAKEN_OVER or UNFINISHED in found:
            return False
        if not self.agreed:
            self.adopt_seed(found)
        return not self.describe_differences({**found, "format": str(FORMAT)})

    def adopt_seed(self, found: Mapping[str, str]) -> None:
        """Take the seed of an index with the parameters `found`, unless either is configured."""
        drawn = found.get("seed", SECRET)
        if not drawn.startswith(SECRET) and not self._values["seed"].startswith(SECRET):
            self._values["seed"] = drawn
            self._compute_digest()

    def describe_differences(self, found: Mapping[str, str]) -> str:
        """The differences from an index with the parameters `found`, in words; '' for none."""
        names = (found.keys() | self._values.keys()) - {"digest"}
        return "; ".join(
            f"{name}: index {_describe_value(name, found)}, "
            f"settings {_describe_value(name, self._values)}"
            for name in sorted(names, key=lambda name: (name in _FOLLOWING, name))
            if found.get(name) != self._values.get(name)
        )


def _read_listing(listing: Sequence[bytes]) -> dict[str, str]:
    words = [part.decode("utf-8", "replace") for part in listing]
    return dict(zip(words[::2], words[1::2], strict=True))


def seed_digest(seed: int) -> str:
    """A digest of a seed for public places; it does not reveal a seed of 63 bits."""
    return hashlib.sha256(b"scrapy-neardup seed %d" % seed).hexdigest()[:16]


def _describe_value(name: str, values: Mapping[str, str]) -> str:
    """A parameter as errors show it: a drawn seed as its digest, because errors are logged."""
    value = values.get(name, "–")
    return f"drawn:{seed_digest(int(value))}" if name == "seed" and value.isdecimal() else value


def not_whole(namespace: str, doing: str) -> str:
    """Why an index is incomplete, and what to do, by the operation under way.

    >>> not_whole("news", "clear").partition(": wait")[0]
    "the index 'news' is incomplete (unfinished: clear): it is being deleted"
    """
    remedy = _REMEDIES.get(doing.partition(" ")[0], "wait, or clear it if that was interrupted")
    return f"the index {namespace!r} is incomplete ({UNFINISHED}: {doing}): {remedy}"


def cleared_meanwhile(namespace: str) -> str:
    """Why an index that was being made is not there, and what to do."""
    return f"the index {namespace!r} was cleared meanwhile: clear it once more, and start again"
