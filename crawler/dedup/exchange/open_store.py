"""The index that a configuration names, on the server of a client."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from ..candidates import Rule
from ..errors import InputError
from ..fingerprint import make_corrector, make_sketcher
from ..ranks import stored_order
from ..store.cluster.slot import SlotIndex, read_shards
from ..store.cluster.spread_index import SpreadIndex
from ..store.parameters import SECRET, seed_digest
from ..store.server.cluster_client import BoundedCluster
from ..store.single import SingleIndex

if TYPE_CHECKING:
    from ..config import DedupConfig
    from ..store.server.connect import Client


async def make_store(client: Client, config: DedupConfig) -> SingleIndex | SpreadIndex:
    """The index that `config` names on the server of `client`, not yet opened.

    On a cluster it is in one slot, unless ``DEDUP_SHARDS`` spreads it, or an existing index is
    spread. Raises :class:`ServerError`. Before an index is made, it raises :class:`InputError` or
    :class:`MissingExtra` if a dictionary that ``DEDUP_CORRECT`` needs is missing.
    """
    try:
        parameters = index_parameters(config)
        make_corrector(config)
    except InputError as error:
        raise InputError(f"DEDUP_CORRECT: {error}") from error
    rule = Rule.of(config.make_method())
    terms: dict[str, Any] = {
        "threshold": config.threshold,
        "bits": config.sketch_bits,
        "ttl": config.ttl,
    }
    named, secret = (config.namespace, parameters, rule), config.seed
    if not isinstance(client, BoundedCluster):
        return SingleIndex(client, *named, **terms, secret=secret)
    terms["timeout"] = config.timeout
    shards = config.shards if config.shards > 1 else await read_shards(client, config.namespace)
    if shards is None:
        return SlotIndex(client, *named, **terms, secret=secret)
    return SpreadIndex(client, *named, **terms, shards=shards, secret=secret)


def index_parameters(config: DedupConfig) -> dict[str, Any]:
    """The parameters that an index made with `config` stores, see :mod:`.parameters`."""
    shingles = ("shingle_unit", "shingle_size", "shingle_step", "shingle_repeats")
    parameters = {
        "threshold": config.threshold,
        "verify_bits": config.sketch_bits,
        "canonical_urls": config.canonical_urls,
        **{name: getattr(config, name) for name in shingles},
    }
    parameters["ignore"] = ", ".join(sorted(config.ignore))
    parameters |= {"method": config.method, **config.sketch_options}
    # A whole sketcher, so that a missing DEDUP_SEGMENT is an error before an index is made.
    parameters["tables"] = make_sketcher(config, seed=1).method.tables or 1
    if config.segment is not None:
        parameters["segment"] = config.segment_name
    if config.scope != "all":
        parameters["scope"] = config.scope
    if (order := stored_order(config.prefer)) is not None:
        parameters["prefer"] = order
    if config.containment is not None:
        parameters["containment"] = "on"  # the same anchors are stored for every share
    if config.correct is not None:
        parameters["correct"] = config.correct_name
    if config.seed is None:
        parameters["seed"] = draw_seed()  # for a new index; an old one has its own
    else:
        parameters["seed"] = SECRET + seed_digest(config.seed)
    return parameters


def draw_seed() -> int:
    """An unpredictable seed of 63 bits."""
    return secrets.randbits(63)
