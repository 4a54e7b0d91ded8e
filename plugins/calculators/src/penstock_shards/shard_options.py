"""The options of the calculators of this pack."""

from __future__ import annotations

from enum import Enum

import attrs

from penstock.errors import InvalidArgumentError


@attrs.frozen
class ShardCalculatorOptions:
    """How often shards hear of packets that went to others.

    Attributes:
        bound_interval_us: the outputs without a packet get a timestamp bound when this much stream time, in
            microseconds, has passed since the last one. 0: with every packet. -1: never; they end with the
            input.
    """

    bound_interval_us: int = 0

    def __attrs_post_init__(self) -> None:
        if self.bound_interval_us < -1:
            raise InvalidArgumentError(
                f"shard option bound_interval_us is {self.bound_interval_us}; give microseconds, 0 for a "
                "bound with every packet, or -1 for none"
            )


class Order(Enum):
    """In which order packets of several shards are joined."""

    #: In order of their timestamps, as they were before they were split.
    TIMESTAMP = 0
    #: As they come: in order within a shard, so within a key.
    PER_KEY = 1


@attrs.frozen
class ShardMergeCalculatorOptions:
    """In which order packets are joined.

    Attributes:
        order: TIMESTAMP waits for the timestamp bounds of all shards; PER_KEY waits for none.
    """

    order: Order = Order.TIMESTAMP
