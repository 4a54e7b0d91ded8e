"""Which channel of a switch is active when, and which ports belong to it; for demux and mux alike.

A channel's ports carry its number in their tag: "C1__VIDEO" is VIDEO of channel 1. What a control stream
has not settled yet is not known, and nothing is decided before it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock.lowlevel import DONE, PRESTREAM, UNSTARTED, next_allowed, port_name
from penstock_calculators.switch_container_pb2 import SwitchContainerOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract, Output, Packet

    PortId = tuple[str, int]
    #: Of each port outside: the ports that stand for it, by channel.
    Channels = dict[PortId, dict[int, PortId]]

#: The tags that say which channel is active, in ascending priority.
CONTROLS: Final = ("ENABLE", "SELECT")
_CHANNEL_TAG: Final = re.compile(r"C(0|[1-9][0-9]*)__(.*)")


def channel_tag(tag: str, channel: int) -> str:
    """Return the tag that a channel's port has where the port outside has `tag`."""
    return f"C{channel}__{tag}"


def channels_of(outside: Iterable[PortId], inside: Iterable[PortId], what: str) -> Channels:
    """Return which ports of the channels stand for which port outside. Control ports are left out.

    Args:
        outside: ports as the container has them.
        inside: ports with channel tags.
        what: of what kind they are, for the error.

    Raises:
        InvalidArgumentError: a port has no counterpart.
    """
    found: Channels = {key: {} for key in outside if key[0] not in CONTROLS}
    for tag, index in inside:
        match = _CHANNEL_TAG.fullmatch(tag)
        if match is None:
            if tag in CONTROLS:
                continue
            raise InvalidArgumentError(
                f"{what} {port_name(tag, index)} belongs to no channel; name it '{channel_tag(tag, 0)}'"
            )
        key = match[2], index
        if key not in found:
            raise InvalidArgumentError(
                f"{what} {port_name(tag, index)} belongs to a channel, but there is no "
                f"{port_name(*key)} on the other side; connect it too"
            )
        found[key][int(match[1])] = tag, index
    for key, ports in found.items():
        if not ports:
            raise InvalidArgumentError(
                f"{what} {port_name(*key)} is connected, but no channel has it; connect "
                f"{port_name(channel_tag(key[0], 0), key[1])}"
            )
    return found


def declare_controls(cc: CalculatorContract) -> None:
    """Accept ENABLE or SELECT, as a stream, as a side packet, or both.

    Raises:
        InvalidArgumentError: both are connected as streams.
    """
    if all(tag in cc.inputs for tag in CONTROLS):
        raise InvalidArgumentError("inputs ENABLE and SELECT are both connected; connect one of them only")
    for ports, since in ((cc.inputs, "from each packet's timestamp on"), (cc.input_side_packets, "at first")):
        ports["SELECT"].set(int, f"number of the channel that is active {since}").optional()
        ports["ENABLE"].set(bool, f"the same as a bool: false is 0, true is 1; active {since}").optional()


def relay(packet: Packet, output: Output, end: int = DONE) -> None:
    """Write a packet, or, for an empty one, say that everything up to its timestamp is settled.

    Args:
        packet: at an allowed timestamp of `output`; a bound that `output` has passed is nothing new.
        output: where it goes.
        end: about which timestamps `packet` cannot say anything: this one and later ones.
    """
    if not packet.is_empty():
        output.add_packet(packet)
        return
    bound = min(next_allowed(packet.stamp), end)
    if bound > output.bound:
        output.set_next_timestamp_bound(bound)


class ChannelHistory:
    """Which channel was active from when on. Periods that nobody asks for any more can be forgotten.

    Attributes:
        known_below: timestamps below are decided: their channel cannot change any more.
    """

    __slots__ = ("_channels", "_control", "_starts", "known_below")

    def __init__(self, cc: CalculatorContext) -> None:
        """Begin with what options and side packets say; without either, channel 0 is active.

        Side packets win over options, and SELECT over ENABLE.
        """
        self._control: Final = next((tag for tag in CONTROLS if tag in cc.inputs), None)
        self._starts = [UNSTARTED]
        self._channels = [_first_channel(cc)]
        self.known_below = PRESTREAM if self._control else DONE

    def record(self, cc: CalculatorContext) -> None:
        """Take in what the control stream says in this call of `process`."""
        if self._control is None:
            return
        port = cc.inputs[self._control]
        if port.packet.stamp >= PRESTREAM:
            self.known_below = next_allowed(port.packet.stamp)
        if port.is_empty():
            return
        channel = int(port.payload)
        if channel != self._channels[-1]:
            self._starts.append(port.packet.stamp)
            self._channels.append(channel)

    def channel_at(self, timestamp: int) -> int:
        """Return the channel that is active at a timestamp; it must be known and not forgotten."""
        return self._channels[bisect_right(self._starts, timestamp) - 1]

    def first_period(self) -> tuple[int, int, int, bool]:
        """Return channel, first timestamp and end of the oldest period, and whether it still goes on.

        The end is the first timestamp after it; while it goes on, the first that is not known.
        """
        goes_on = len(self._starts) == 1
        return self._channels[0], self._starts[0], self.known_below if goes_on else self._starts[1], goes_on

    def forget_first(self) -> None:
        """Forget the oldest period; it must be over."""
        del self._starts[0], self._channels[0]

    def forget_before(self, timestamp: int) -> None:
        """Forget the periods that end at or before a timestamp."""
        count = bisect_right(self._starts, timestamp) - 1
        del self._starts[:count], self._channels[:count]


def _first_channel(cc: CalculatorContext) -> int:
    sides = cc.input_side_packets
    if "SELECT" in sides:
        return sides["SELECT"].get(int)
    if "ENABLE" in sides:
        return int(sides["ENABLE"].get(bool))
    options = cc.options(SwitchContainerOptions)
    return options.select if options.HasField("select") else int(options.enable)
