"""Bounds that go round in a cycle, at once at the place where that ends.

A cycle all of whose nodes promise timestamp offsets raises its own bounds, by the sum of the offsets each
time. It does so until it meets a packet or a bound from outside, which may be a million rounds away; where
all that comes from outside has ended, until the last timestamp. `leap` finds the end of that without going
there step by step. It gives the same bounds.

The bounds of idle nodes follow from each other: a node passes on the smallest bound of its inputs without
packets, at most the timestamp of a packet that waits, plus its offset. Nodes that still grow after as many
rounds as there are nodes are in a cycle that grows, or behind one. Each cycle of such nodes has a sum above
0, and so these equations have one solution: the smallest sum of offsets over all ways from streams that do
not grow. Nodes that wait otherwise (other policies, calls under way) count as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.engine.node import OPENED
from penstock.timestamp import MAX, MIN, shifted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.engine.node import Node
    from penstock.engine.stream import OutputStream

#: After so many bounds that were passed on it is worth to look for a cycle that raises its own.
WINDOW: Final = 4096


class _Passing:
    """A node that passes bounds on: what it waits for, and what it would write."""

    __slots__ = ("at_most", "inputs", "outputs")

    def __init__(self, node: Node, writers: Mapping[int, OutputStream]) -> None:
        #: Numbers of the streams without waiting packets.
        self.inputs: Final = [writers[id(one)].id for one in node.inputs if not one.queue]
        #: The timestamp of the first packet that waits.
        self.at_most: Final = min((one.queue[0].stamp for one in node.inputs if one.queue), default=MAX)
        #: Number of a stream, and its offset.
        self.outputs: Final = [
            (stream.id, stream.offset)
            for stream in node.outputs
            if stream.offset is not None and not stream.is_closed
        ]

    def passed_on(self, bounds: Mapping[int, int]) -> list[tuple[int, int]]:
        """Return the streams that the node writes and the bounds that follow from these."""
        bound = min(self.at_most, *[bounds[number] for number in self.inputs])
        if bound < MIN:
            return []
        return [(number, shifted(min(bound, MAX), offset)) for number, offset in self.outputs]


def leap(streams: Iterable[OutputStream], nodes: Iterable[Node]) -> dict[int, int]:
    """Return the bounds that streams come to in the end, by number, where nodes go on to pass bounds on.

    Args:
        streams: of the run.
        nodes: that have passed bounds on lately.
    """
    writers = {id(reader): stream for stream in streams for reader in stream.readers}
    passing = [_Passing(node, writers) for node in nodes if _passes_on(node)]
    bounds = {stream.id: stream.bound for stream in streams}
    for _ in passing:
        _round(passing, bounds)
    before = dict(bounds)
    for _ in passing:  # in one round only a part of a cycle may grow
        _round(passing, bounds)
    growing = [one for one in passing if any(bounds[number] > before[number] for number, _ in one.outputs)]
    ends = dict(before)
    own = {number: MAX for one in growing for number, _ in one.outputs if bounds[number] > before[number]}
    ends.update(own)
    for _ in range(len(growing) + 1):
        for one in growing:
            for number, bound in one.passed_on(ends):
                if number in own and bound < ends[number]:
                    ends[number] = bound
    return {number: ends[number] for number in own}


def _passes_on(node: Node) -> bool:
    """Return whether a node passes on the smallest bound of all its inputs, and does so now."""
    policy = node.policy
    return (
        node.state == OPENED
        and not node.in_flight
        and any(not one.queue for one in node.inputs)
        and not (policy.decides_itself() or policy.process_bounds or policy.takes_late)
        and policy.batch_size == 1
        and len(policy.sets) == 1
        and len(policy.sets[0].positions) == len(node.inputs)
    )


def _round(passing: Iterable[_Passing], bounds: dict[int, int]) -> None:
    """Let each node pass on once what was there before the round."""
    told = [pair for one in passing for pair in one.passed_on(bounds)]
    for number, bound in told:
        bounds[number] = max(bound, bounds[number])
