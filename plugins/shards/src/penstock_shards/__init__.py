"""Packets split by key over replicas of a graph, and joined again."""

from __future__ import annotations

from penstock_shards.hashing import shard_of

__all__ = ["shard_of"]
