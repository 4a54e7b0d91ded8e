"""Packets split by key over replicas of a graph, and joined again.

The names are imported when they are first used, so finding this pack does not import what they need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.packs import late_names

if TYPE_CHECKING:
    from penstock_shards.hashing import shard_of as shard_of

#: Module → the names that it has.
_HOMES: Final = {"penstock_shards.hashing": "shard_of"}

if not TYPE_CHECKING:  # type checkers know the import above, and refuse every other name
    __all__, __getattr__, __dir__ = late_names(__name__, _HOMES)
