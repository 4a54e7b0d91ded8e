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


class Elsewhere:
    """A payload that the driver does not have: an executor's pack knows where it is.

    The other end has checked its type, and only nodes of the same executor may read it.
    """

    __slots__ = ()


class Opening(NamedTuple):
    """What only `open` needs.

    Attributes:
        side_packets: (tag, index, payload) of each one that is there.
        headers: for each input a tuple with the header's payload, or an empty one.
        ordered: for each output whether its timestamps must increase.
    """

    side_packets: list[tuple[str, int, Any]]
    headers: list[tuple[Any, ...]]
    ordered: list[bool]


class Call(NamedTuple):
    """One call of a method.

    Attributes:
        method: OPEN, PROCESS or CLOSE.
        stamp: the input timestamp.
        inputs: what each input port shows, in the order of the ports.
        bounds: the smallest timestamp that each output may write; DONE where the stream is closed.
        opening: with OPEN.
        input_bounds: for regions, with PROCESS: the bound of each input behind what the call has of it.
        is_failing: for regions, with CLOSE: the run has failed, so that packets that wait inside are dropped.
    """

    method: int
    stamp: int
    inputs: list[Shown]
    bounds: list[int]
    opening: Opening | None = None
    input_bounds: list[int] | None = None
    is_failing: bool = False


class Answer(NamedTuple):
    """What a call did.

    Attributes:
        outputs: for each output port what was written; None where nothing was and the bound is as before.
        is_stop: whether the method returned STOP.
        busy_ns: how long the call took, in nanoseconds.
        more: what is rare: "headers" and "offsets" (number of the output → payload, or offset),
            "process_bounds", "side_packets" (name → payload), "counters" (name → increase), "dropped" and
            "cut" (packets and elements of lists: both lists of number of the input, reason, count); "region"
            is what only regions say.
    """

    outputs: list[Written | None]
    is_stop: bool = False
    busy_ns: int = 0
    more: dict[str, Any] | None = None
