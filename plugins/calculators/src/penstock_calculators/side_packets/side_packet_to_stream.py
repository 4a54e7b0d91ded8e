"""SidePacketToStreamCalculator: writes side packets to streams, at the time that the tag names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import POSTSTREAM, PRESTREAM, UNSET

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet
    from penstock.lowlevel import Stop

#: Output tag → the timestamp of its packets; UNSET where an input gives it.
_MOMENTS: Final = {
    "AT_PRESTREAM": PRESTREAM,
    "AT_POSTSTREAM": POSTSTREAM,
    "AT_ZERO": 0,
    "AT_TICK": UNSET,
    "AT_FIRST_TICK": UNSET,
    "AT_TIMESTAMP": UNSET,
}
_TICKED: Final = ("AT_TICK", "AT_FIRST_TICK")
_CHOICE: Final = f"{', '.join(list(_MOMENTS)[:-1])} and {list(_MOMENTS)[-1]}"


class SidePacketToStreamCalculator(penstock.Calculator):
    """Writes each untagged side packet to an output stream, at the timestamp that the outputs' tag names.

    All outputs have the same tag; side packet i goes to output i of it:

    - AT_PRESTREAM, AT_POSTSTREAM, AT_ZERO: once, at `Timestamp.PRESTREAM`, `POSTSTREAM` or 0;
    - AT_TIMESTAMP: once, at the timestamp that side packet TIMESTAMP gives as an int (microseconds);
    - AT_TICK: at every packet of input TICK, at its timestamp;
    - AT_FIRST_TICK: at the first packet of input TICK; the outputs end there.

    With TICK the timestamp offset is 0, and later packets of TICK under AT_FIRST_TICK appear in the
    ledger as "after the first tick". Without TICK the node is a source without further packets, which
    writes when it closes. The output does not depend on the order of arrival.

    Source of the behaviour: MediaPipe `calculators/core/side_packet_to_stream_calculator.cc`.

    Example config::

        node {
          calculator: "SidePacketToStreamCalculator"
          input_stream: "TICK:frames"
          input_side_packet: "threshold"
          output_stream: "AT_TICK:threshold_at_frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each output the type of its side packet.

        Raises:
            InvalidArgumentError: the outputs have no tag or several, TICK or TIMESTAMP is missing or not
                used by the tag, or the numbers of side packets and outputs differ.
        """
        tag = _only_tag(cc)
        _check_source_of_time(cc, tag)
        count = cc.outputs.count(tag)
        if cc.input_side_packets.count("") != count:
            raise InvalidArgumentError(
                f"there are {cc.input_side_packets.count('')} untagged side packets, but {count} outputs "
                f"{tag}; each side packet needs an output"
            )
        for i in range(count):
            side = cc.input_side_packets[i].set_any("the payload to write")
            cc.outputs[tag, i].set_same_as(side, "the side packet")
        cc.inputs["TICK"].set_any("when to write").optional()
        cc.input_side_packets["TIMESTAMP"].set(int, "when to write, in microseconds")
        if tag != "AT_TIMESTAMP":
            cc.input_side_packets["TIMESTAMP"].optional()
        if tag in _TICKED:
            cc.set_timestamp_offset(0)
        cc.declare(may_skip="AT_FIRST_TICK" in cc.outputs, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Read the side packets, and the timestamp of the outputs.

        Raises:
            InvalidArgumentError: TIMESTAMP is not a timestamp that a packet of a stream can have.
        """
        (self._tag,) = cc.outputs.tags()
        count = cc.outputs.count(self._tag)
        self._sides: list[Packet] = [cc.input_side_packets[i] for i in range(count)]
        self._moment = _MOMENTS[self._tag]
        if self._tag == "AT_TIMESTAMP":
            given = cc.input_side_packets["TIMESTAMP"].get(int)
            if not PRESTREAM <= given <= POSTSTREAM:
                raise InvalidArgumentError(
                    f"side packet TIMESTAMP is {given}, which cannot be the timestamp of a packet in a "
                    "stream; give microseconds"
                )
            self._moment = given

    def process(self, cc: CalculatorContext) -> Stop | None:
        """Write at a tick; without one leave it to `close`."""
        if self._tag not in _TICKED:
            return penstock.STOP
        if cc.outputs[self._tag, 0].is_closed():
            cc.inputs["TICK"].count_dropped("after the first tick")
            return None
        self._write(cc, cc.stamp)
        if self._tag == "AT_FIRST_TICK":
            for output in cc.outputs:
                output.close()
        return None

    def close(self, cc: CalculatorContext) -> None:
        """Write the side packets that do not wait for a tick."""
        if self._tag not in _TICKED:
            self._write(cc, self._moment)

    def _write(self, cc: CalculatorContext, moment: int) -> None:
        for i, side in enumerate(self._sides):
            cc.outputs[self._tag, i].add_packet(side.at(moment))


def _only_tag(cc: CalculatorContract) -> str:
    tags = cc.outputs.tags()
    if len(tags) != 1 or tags[0] not in _MOMENTS:
        shown = ", ".join(tag or "''" for tag in tags)
        found = f"the outputs are tagged {shown}" if tags else "there are no outputs"
        raise InvalidArgumentError(
            f"{found}, so no stream can take a side packet; connect outputs with exactly one tag of {_CHOICE}"
        )
    return tags[0]


def _check_source_of_time(cc: CalculatorContract, tag: str) -> None:
    if ("TICK" in cc.inputs) != (tag in _TICKED):
        raise InvalidArgumentError(
            f"outputs {tag} need an input TICK, which says when to write"
            if tag in _TICKED
            else f"there is an input TICK, but outputs {tag} ignore it; tag them AT_TICK or AT_FIRST_TICK"
        )
    if ("TIMESTAMP" in cc.input_side_packets) != (tag == "AT_TIMESTAMP"):
        raise InvalidArgumentError(
            "outputs AT_TIMESTAMP need a side packet TIMESTAMP, which says when to write"
            if tag == "AT_TIMESTAMP"
            else f"there is a side packet TIMESTAMP, but outputs {tag} ignore it; tag them AT_TIMESTAMP"
        )
