"""What the two ends of a remote node say to each other: a call of one method, and its answer, as plain data.

How the data travel is the business of an executor's pack. Everything here is a tuple, a list, a dict, a
str, a number, None or a payload, so that any codec that knows the payloads can carry it.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

#: What an input port shows in a call: timestamp and `is_done`, and the payload where there is a packet.
Shown: TypeAlias = "tuple[int, bool] | tuple[int, bool, Any]"
#: What a call wrote to an output port: (timestamp, payload) of each packet, the bound, whether it was closed.
Written: TypeAlias = "tuple[list[tuple[int, Any]], int, bool]"


class Opening(NamedTuple):
    """What only `open` needs."""

    #: (tag, index, payload) of each one that is there.
    side_packets: list[tuple[str, int, Any]]
    #: For each input a tuple with the header's payload, or an empty one.
    headers: list[tuple[Any, ...]]
    #: For each output whether its timestamps must increase.
    ordered: list[bool]
    #: (name of the key, object) of each service that the node gets a copy of.
    services: list[tuple[str, Any]]


class Call(NamedTuple):
    """One call of a method."""

    #: OPEN, PROCESS or CLOSE.
    method: int
    #: The input timestamp.
    stamp: int
    #: What each input port shows, in the order of the ports.
    inputs: list[Shown]
    #: The smallest timestamp that each output may write; DONE where the stream is closed.
    bounds: list[int]
    #: With OPEN.
    opening: Opening | None = None
    #: For regions, with PROCESS: the bound of each input behind what the call has of it.
    input_bounds: list[int] | None = None
    #: For regions, with CLOSE: the run has failed, so that packets that wait inside are dropped.
    is_failing: bool = False


class Answer(NamedTuple):
    """What a call did."""

    #: For each output port what was written; None where nothing was and the bound is as before.
    outputs: list[Written | None]
    #: Whether the method returned STOP.
    is_stop: bool = False
    #: How long the call took, in nanoseconds.
    busy_ns: int = 0
    #: What is rare: "headers" and "offsets" (number of the output → payload, or offset), "process_bounds",
    #: "side_packets" (name → payload), "counters" (name → increase), "dropped" and "cut" (packets and
    #: elements of lists: both lists of number of the input, reason, count), "unwritten" (packets, likewise,
    #: with the number of the output); "region" is what only regions say.
    more: dict[str, Any] | None = None
