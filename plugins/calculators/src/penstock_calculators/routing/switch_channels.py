"""The channels of a switch, for demux and mux: which one is active when, and which ports belong to it.

The tag of a channel's port has the channel's number: "C1__VIDEO" is VIDEO of channel 1. The active channel
is known only up to the settled timestamp of the control stream, and packets after it wait.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from penstock.errors import InvalidArgumentError
from penstock.lowlevel import DONE, PRESTREAM, UNSTARTED, next_allowed
from penstock.ports import port_name
from penstock_calculators.messages.switch_container_pb2 import SwitchContainerOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock import CalculatorContext, CalculatorContract, Output, Packet

    PortId = tuple[str, int]
    #: Port of the container → channel → the port of that channel.
    Channels = dict[PortId, dict[int, PortId]]

#: The tags of the ports that set the active channel, in ascending priority.
CONTROLS: Final = ("ENABLE", "SELECT")
_CHANNEL_TAG: Final = re.compile(r"C(0|[1-9][0-9]*)__(.*)")


def channel_tag(tag: str, channel: int) -> str:
    """Return the tag of a channel's port for `tag` of the container's port."""
    return f"C{channel}__{tag}"


def channels_of(outside: Iterable[PortId], inside: Iterable[PortId], what: str) -> Channels:
    """Return, for each port of the container, the ports of the channels. Control ports are left out.

    Args:
        outside: the ports of the container.
        inside: ports with channel tags.
        what: the kind of the ports, for the error.

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
        raise InvalidArgumentError(
            "the switch's inputs ENABLE and SELECT are both connected; connect one of them only"
        )
    for ports, since in ((cc.inputs, "from each packet's timestamp on"), (cc.input_side_packets, "at first")):
        ports["SELECT"].set(int, f"number of the channel that is active {since}").optional()
        ports["ENABLE"].set(bool, f"the same as a bool: false is 0, true is 1; active {since}").optional()


def relay(packet: Packet, output: Output, end: int = DONE) -> None:
    """Write a packet; for an empty one, settle the output up to its timestamp.

    Args:
        packet: at an allowed timestamp of `output`; a bound that `output` has passed is ignored.
        output: the output to write to.
        end: the first timestamp that `packet` cannot settle.
    """
    if not packet.is_empty():
        output.add_packet(packet)
        return
    bound = min(next_allowed(packet.stamp), end)
    if bound > output.bound:
        output.set_next_timestamp_bound(bound)


class ChannelHistory:
    """The channels and the timestamps from which they are active. Periods that are over can be forgotten."""

    __slots__ = ("_channels", "_control", "_starts", "known_below")

    def __init__(self, cc: CalculatorContext) -> None:
        """Begin with the channel of the side packets or options; without either, channel 0 is active.

        Side packets win over options, and SELECT over ENABLE.
        """
        self._control: Final = next((tag for tag in CONTROLS if tag in cc.inputs), None)
        self._starts = [UNSTARTED]
        self._channels = [_first_channel(cc)]
        #: The channel of timestamps below this is final.
        self.known_below = PRESTREAM if self._control else DONE

    def record(self, cc: CalculatorContext) -> None:
        """Record the control stream's packet or bound of this call of `process`."""
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
        """Return the channel that is active at a timestamp, which must be known and not forgotten."""
        return self._channels[bisect_right(self._starts, timestamp) - 1]

    def first_period(self) -> tuple[int, int, int, bool]:
        """Return channel, first timestamp and end of the oldest period, and whether it is still open.

        The end is the first timestamp after the period; while it is open, the first that is not known.
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
