"""What penstock-calculators brings, as names; nothing is imported until it is used."""

from __future__ import annotations

from penstock import Components, hookimpl


@hookimpl
def penstock_components() -> Components:
    """Return the calculators and the subgraph by name."""
    return Components(
        calculators={
            "ShardCalculator": "penstock_shards.shard:ShardCalculator",
            "ShardMergeCalculator": "penstock_shards.shard_merge:ShardMergeCalculator",
        },
        subgraphs={"ShardedSubgraph": "penstock_shards:sharded.pbtxt"},
    )
