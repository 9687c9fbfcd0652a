"""The index that a configuration names, on the server of a client."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from ..candidates import Rule
from ..fingerprint import make_sketcher
from ..store.cluster.index import SpreadIndex
from ..store.parameters import SECRET, seed_digest
from ..store.server.connect import Cluster
from ..store.single import RedisIndex

if TYPE_CHECKING:
    from ..config import DedupConfig
    from ..store.server.connect import Client


def make_store(client: Client, config: DedupConfig) -> RedisIndex | SpreadIndex:
    """The index that `config` names on the server of `client`, not yet opened."""
    parameters = index_parameters(config)
    rule = Rule.of(config.make_method())
    terms: dict[str, Any] = {
        "threshold": config.threshold,
        "bits": config.sketch_bits,
        "ttl": config.ttl,
    }
    if not isinstance(client, Cluster):
        return RedisIndex(client, config.namespace, parameters, rule, **terms, secret=config.seed)
    return SpreadIndex(
        client,
        config.namespace,
        parameters,
        rule,
        **terms,
        timeout=config.timeout,
        shards=config.shards,
        secret=config.seed,
    )


def index_parameters(config: DedupConfig) -> dict[str, Any]:
    """What an index made with `config` stores of it: see :mod:`.parameters`."""
    shingles = ("shingle_unit", "shingle_size", "shingle_step", "shingle_repeats")
    parameters = {
        "threshold": config.threshold,
        "verify_bits": config.sketch_bits,
        "canonical_urls": config.canonical_urls,
        **{name: getattr(config, name) for name in shingles},
    }
    parameters["ignore"] = ", ".join(sorted(config.ignore))
    parameters |= {"method": config.method, **config.sketch_options}
    # With all that a sketcher takes: a DEDUP_SEGMENT that cannot be had is said before one is made.
    parameters["tables"] = make_sketcher(config, seed=1).method.tables or 1
    if config.segment is not None:
        parameters["segment"] = config.segment_name
    if config.correct is not None:
        parameters["correct"] = config.correct_name
    if config.seed is None:
        parameters["seed"] = draw_seed()  # for a new index; an old one has its own
    else:
        parameters["seed"] = SECRET + seed_digest(config.seed)
    return parameters


def draw_seed() -> int:
    """A seed of 63 bits that nobody can guess."""
    return secrets.randbits(63)
