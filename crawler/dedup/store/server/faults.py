"""Failures of the server, each in one sentence that says what to do."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from redis import exceptions as redis_errors

from ...errors import DedupError, ServerError


class Fault(NamedTuple):
    """A kind of failure: the message, and whether it may pass by itself."""

    sentence: str
    passing: bool


_BUSY = Fault(
    "the server is busy with a slow script of another client; wait, or end it with SCRIPT KILL",
    True,
)
_CLUSTER_DOWN = Fault(
    "the cluster is down: slots without a node that answers; run CLUSTER INFO on its nodes", True
)
_FAILOVER = Fault(
    "a failover is under way and the service has no primary yet; pages can be checked again "
    "when it is over",
    True,
)
_FULL = Fault(
    "the server is full; raise its maxmemory, or forget pages that you no longer need",
    True,
)
_LOADING = Fault("the server is still loading its data; wait until it is done", True)
_MOVING = Fault("slots of the cluster are moving to other nodes; wait until that is over", True)
_NO_AUTH = Fault(
    "the server refuses the user name or password; correct them in DEDUP_REDIS_URL "
    "(scheme://user:password@host, special characters percent-encoded)",
    False,
)
_NO_PASSWORD_SET = Fault(
    "the server has no password; remove user name and password from DEDUP_REDIS_URL", False
)
_PASSWORD_WANTED = Fault(
    "the server asks for a password; add it to DEDUP_REDIS_URL "
    "(scheme://user:password@host, special characters percent-encoded)",
    False,
)
_NO_PERMISSION = Fault(
    "the server's user lacks a permission (ACL); docs/howto/server.md lists those it needs",
    False,
)
_NO_ROOM_FOR_CLIENTS = Fault(
    "the server accepts no more connections; raise its maxclients or close other clients", True
)
_READ_ONLY = Fault(
    "the server is a read-only replica; name the primary in DEDUP_REDIS_URL, or its sentinels "
    "with redis+sentinel://",
    True,
)
_REFUSED = Fault(
    "nothing listens there (connection refused); start the server, or correct host and port, or "
    "the path of its socket",
    True,
)
_SAVING = Fault(
    "the server cannot write its data to disk and refuses writes; free space on its disk "
    "and check its log",
    True,
)
_SCRIPT_KILLED = Fault("the index's script was ended with SCRIPT KILL; check again", True)
_TOO_MANY_FILES = Fault(
    "this process has too many files open; raise its limit (ulimit -n), or lower "
    "CONCURRENT_REQUESTS",
    True,
)
_TIMEOUT = Fault(
    "the server gave no answer in time; check its load and the network, or raise DEDUP_TIMEOUT",
    True,
)
_TLS = Fault(
    "no secure connection (TLS): {}; use rediss:// only with a server that speaks TLS, and name "
    "its authority with ?ssl_ca_certs=FILE",
    False,
)
_UNKNOWN_HOST = Fault("the server's host name is not known; correct it", True)
_UNREACHABLE = Fault("the server cannot be reached; check network, host and port", True)
_LOST = Fault(
    "the server ended the connection; check its log, whether it runs, and whether it requires "
    "TLS (then use rediss://)",
    True,
)
_POOL = Fault(
    "all connections to the server were busy for too long; lower CONCURRENT_REQUESTS or raise "
    "DEDUP_TIMEOUT",
    True,
)
_PROTOCOL = Fault(
    "what answers there does not speak the Redis protocol; correct host and port, and use "
    "rediss:// if the server requires TLS",
    False,
)
_CLUSTER_WANTED = Fault(
    "the server is a node of a cluster; use redis+cluster://host:port in DEDUP_REDIS_URL", False
)
_NO_SENTINEL = Fault(
    "the server is not a sentinel; use redis://host:port in DEDUP_REDIS_URL", False
)
_NO_SCRIPTS = Fault(
    "the server runs no scripts (EVAL); if it is a sentinel, use "
    "redis+sentinel://host:port/service in DEDUP_REDIS_URL",
    False,
)
_NO_CLUSTER = Fault(
    "the server is not part of a cluster; use redis://host:port in DEDUP_REDIS_URL", False
)
_NO_PRIMARY = Fault(
    "no sentinel that answers knows a primary of that name; wait if a failover is under way, or "
    "correct the sentinels, the service name and ?sentinel_password in DEDUP_REDIS_URL",
    True,
)
FOREIGN = Fault(
    "a key of the index holds data that this package did not write; choose another "
    "DEDUP_NAMESPACE, or delete the keys of this one",
    False,
)
DAMAGED = Fault(
    "a record of the index is damaged; `scrapy dedup verify` names it, and `scrapy dedup export` "
    "and `import` under another DEDUP_NAMESPACE keep all others",
    False,
)
NO_STATE = Fault(
    "the index has lost its state; if the server evicts keys set its maxmemory-policy to "
    "noeviction, then clear the index and import an export, or crawl again",
    False,
)
_REPLACED = Fault(
    "the index was deleted or replaced while it was in use: start the crawl again", False
)
_NO_REPLICAS = Fault(
    "the server has too few replicas to accept writes (min-replicas-to-write); wait if a failover "
    "is under way, otherwise check its replicas",
    True,
)
_NO_NUMBERS = Fault(
    "the index has no more page numbers; begin a new one under another DEDUP_NAMESPACE", False
)
_NO_DATABASE = Fault("the server has no such database number; correct it in DEDUP_REDIS_URL", False)

# Codes that begin an error reply. In a script's error they may be anywhere.
_CODES = {
    "BUSY": _BUSY,
    "CLUSTERDOWN": _CLUSTER_DOWN,
    "CROSSSLOT": _CLUSTER_WANTED,
    "LOADING": _LOADING,
    "MASTERDOWN": _FAILOVER,
    "MISCONF": _SAVING,
    "MOVED": _CLUSTER_WANTED,
    "NOAUTH": _PASSWORD_WANTED,
    "NOPERM": _NO_PERMISSION,
    "NOREPLICAS": _NO_REPLICAS,
    "OOM": _FULL,
    "READONLY": _READ_ONLY,
    "TRYAGAIN": _MOVING,
    "UNKILLABLE": _BUSY,
    "WRONGPASS": _NO_AUTH,
    "WRONGTYPE": FOREIGN,
}
_FORBIDDEN = re.compile(r"to run the '([\w|]+)' command")
_CODE = re.compile(r"(?:^|[\s('\"-])(" + "|".join(_CODES) + r")\s")

# Parts of texts without a code, lower case; the first that occurs decides.
_TEXTS = {
    "no master found": _NO_PRIMARY,
    "without any password": _NO_PASSWORD_SET,
    "no password is set": _NO_PASSWORD_SET,
    "authentication required": _PASSWORD_WANTED,
    "acl failure in script": _NO_PERMISSION,
    "user executing the script can't": _NO_PERMISSION,  # as Redis 7.0 says it
    "user_script_kill": _SCRIPT_KILLED,
    "script killed by user": _SCRIPT_KILLED,
    "cluster support disabled": _NO_CLUSTER,
    "slots are not covered": _CLUSTER_DOWN,
    "could not agree on a valid slots": _CLUSTER_DOWN,  # only asked of several if one lacks slots
    "ttl exhausted": _MOVING,  # the client was sent from node to node
    "previous master is now a slave": _FAILOVER,
    "unknown command 'sentinel": _NO_SENTINEL,
    "unknown command 'eval": _NO_SCRIPTS,
    "too many open files": _TOO_MANY_FILES,
    "max number of clients": _NO_ROOM_FOR_CLIENTS,
    "no connection available": _POOL,
    "data string too short": DAMAGED,
    "numbers of pages have come to an end": _NO_NUMBERS,
    "state of the index is lost": NO_STATE,
    "parameters the index": _REPLACED,  # as scripts say it
    "db index is out of range": _NO_DATABASE,
    f"errno {errno.ECONNREFUSED}]": _REFUSED,
    # All that the client keeps of the cause when its connection was closed.
    f"error {errno.ECONNREFUSED} connecting": _REFUSED,
    "connection closed": _LOST,
    "connection lost": _LOST,
    "connection reset": _LOST,
    "broken pipe": _LOST,
    "error while reading": _LOST,
    "error while writing": _LOST,
}

_CLASSES: tuple[tuple[type[BaseException], Fault], ...] = (
    (redis_errors.BusyLoadingError, _LOADING),
    (redis_errors.OutOfMemoryError, _FULL),
    (redis_errors.ReadOnlyError, _READ_ONLY),
    (redis_errors.NoPermissionError, _NO_PERMISSION),
    (redis_errors.MasterDownError, _FAILOVER),
    (redis_errors.MovedError, _CLUSTER_WANTED),
    (redis_errors.ClusterCrossSlotError, _CLUSTER_WANTED),
    (redis_errors.ClusterError, _CLUSTER_DOWN),
    (redis_errors.SlotNotCoveredError, _CLUSTER_DOWN),
    (redis_errors.TryAgainError, _MOVING),
    (redis_errors.MaxConnectionsError, _POOL),
    (redis_errors.AuthenticationError, _NO_AUTH),
    (redis_errors.AuthenticationWrongNumberOfArgsError, _NO_AUTH),
    (redis_errors.AuthorizationError, _NO_PERMISSION),
    (redis_errors.InvalidResponse, _PROTOCOL),
    (redis_errors.TimeoutError, _TIMEOUT),
    (TimeoutError, _TIMEOUT),
    (ConnectionRefusedError, _REFUSED),
    (FileNotFoundError, _REFUSED),
    (socket.gaierror, _UNKNOWN_HOST),
    (redis_errors.ConnectionError, _UNREACHABLE),
    (OSError, _UNREACHABLE),
)


def explain_fault(error: BaseException) -> str:
    """One sentence about a failure of the server and what to do; never a secret.

    >>> error = redis_errors.ReadOnlyError("You can't write against a read only replica.")
    >>> explain_fault(error)[:33]
    'the server is a read-only replica'
    """
    fault = _find_fault(error)
    forbidden = _FORBIDDEN.search(str(error)) if fault is _NO_PERMISSION else None
    more = f"(ACL) to run {forbidden[1]}" if forbidden else "(ACL)"
    return fault.sentence.replace("(ACL)", more)


@contextmanager
def explain_faults() -> Iterator[None]:
    """Turn errors of the client library into a :class:`ServerError` that says what to do."""
    try:
        yield
    except (redis_errors.RedisError, redis_errors.RedisClusterException, OSError) as error:
        raise ServerError(explain_fault(error)) from error


def is_passing(error: BaseException) -> bool:
    """Whether the failure may pass by itself, so that the page is worth another check."""
    return _find_fault(error).passing


def is_connection_lost(error: BaseException | None) -> bool:
    """Whether the client tried in vain to connect again."""
    return isinstance(error, redis_errors.ConnectionError)


def _find_fault(error: BaseException) -> Fault:
    chain = list(_list_causes(error))
    for link in chain:
        if isinstance(link, DedupError):
            return Fault(str(link), False)
        if isinstance(link, ssl.SSLError):
            return _TLS._replace(sentence=_TLS.sentence.format(_tls_reason(link)))
    for link in chain:
        fault = _by_text(str(link))
        if fault is not None:
            return fault
        for kind, fault in _CLASSES:
            # redis-py wraps unexpected errors in its plain ConnectionError.
            if isinstance(link, kind) and (fault is not _UNREACHABLE or link is chain[-1]):
                return fault
    # So says the client whatever error a node answers with: that decides, if it is known.
    if "cluster mode is not enabled" in str(error).lower():
        return _NO_CLUSTER
    # Error replies repeat the command's arguments, a password among them if it was AUTH.
    text = re.split(r",? with args beginning", str(error))[0]
    text = re.sub(r"//[^@\s]*@", "//***@", text)
    return Fault(f"{type(error).__name__}: {text}", False)


def _by_text(text: str) -> Fault | None:
    code = _CODE.search(text)
    if code is not None:
        return _CODES[code[1]]
    text = text.lower()
    return next((fault for part, fault in _TEXTS.items() if part in text), None)


def _list_causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, then its causes in turn."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _tls_reason(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the server's certificate is not trusted ({error.verify_message})"
    return (error.reason or str(error)).replace("_", " ").lower()
