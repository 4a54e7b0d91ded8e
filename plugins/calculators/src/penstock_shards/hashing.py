"""Which shard a key belongs to, the same on every machine and in every run."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from operator import index
from typing import TYPE_CHECKING, Final, SupportsIndex, cast

from penstock.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Hashable

#: Keys whose shard is kept: hashing a key costs about 1 us for each shard.
_KEPT: Final = 65_536


def shard_of(key: str | bytes | SupportsIndex, count: int, *, salt: str = "") -> int:
    """Return the number of the shard that a key belongs to, 0 to `count` - 1.

    Each shard and the key together have a weight, a hash of both; the shard with the highest weight has the
    key. So another shard takes over about 1 / (`count` + 1) of the keys, and all others stay where they are.
    Python's own `hash` is not used: it differs from process to process.

    Two splits of the same keys need different salts. Without, they agree too often: of the keys that are on
    shard 2 of 6, three quarters are on shard 2 of 8.

    Source: Thaler and Ravishankar, "Using name-based mappings to increase hit rates" (1998), which calls it
    highest random weight; the hash is BLAKE2b of 8 bytes.

    Args:
        key: text, of which the UTF-8 form counts; bytes; or an integer, of which the decimal digits count.
            So 7, "7" and b"7" are one key.
        count: how many shards there are, at least 1.
        salt: which split it is, at most 16 bytes in UTF-8. `ShardCalculator` has none, so a program that
            splits the packets of several drivers before gives one.

    Raises:
        InvalidArgumentError: `key` is none of these, `count` is below 1, or `salt` is too long.
    """
    if count < 1:
        raise InvalidArgumentError(f"a key is hashed to {count} shards, but there must be at least 1")
    salting = salt.encode(errors="surrogatepass")
    if len(salting) > blake2b.SALT_SIZE:
        raise InvalidArgumentError(
            f"the hash's salt {salt!r} has {len(salting)} bytes; it can have {blake2b.SALT_SIZE} at most"
        )
    try:
        return _shard_of(cast("Hashable", key), count, salting)
    except TypeError:  # also where it cannot be hashed, as a list
        raise InvalidArgumentError(
            f"a key to hash must be str, bytes or an integer, not {type(key).__name__}"
        ) from None


@lru_cache(_KEPT, typed=True)
def _shard_of(key: str | bytes | SupportsIndex, count: int, salt: bytes) -> int:
    return max(range(count), key=_Weights(_bytes_of(key), salt))


class _Weights:
    """The weight of each shard for one key."""

    def __init__(self, key: bytes, salt: bytes) -> None:
        self._hash: Final = blake2b(key, digest_size=8, salt=salt)

    def __call__(self, shard: int) -> bytes:
        weight = self._hash.copy()
        weight.update(b"\0%d" % shard)
        return weight.digest()


def _bytes_of(key: str | bytes | SupportsIndex) -> bytes:
    if isinstance(key, str):
        return key.encode(errors="surrogatepass")
    if isinstance(key, bytes):
        return key
    return b"%d" % index(key)
