"""The components of penstock_shards by name; a module is imported when a graph uses it.

Written by `python scripts/components.py` from the classes and messages of the package.
"""

from collections.abc import Mapping
from typing import Final

CALCULATORS: Final[Mapping[str, str]] = {
    "ShardCalculator": "penstock_shards.shard:ShardCalculator",
    "ShardMergeCalculator": "penstock_shards.shard_merge:ShardMergeCalculator",
}

SUBGRAPHS: Final[Mapping[str, str]] = {
    "ShardedSubgraph": "penstock_shards:sharded.pbtxt",
}
