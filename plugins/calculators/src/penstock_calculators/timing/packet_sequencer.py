"""PacketSequencerCalculator: gives packets the next free timestamp after another stream's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import penstock
from penstock.errors import InvalidArgumentError
from penstock.lowlevel import MAX, MIN, next_allowed

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract


class PacketSequencerCalculator(penstock.Calculator):
    """Forwards each INPUT packet at the first timestamp after the last TICK that it has not used yet.

    It brings commands that arrive at any time, with timestamps of another clock, into step with the frames
    that they are for: a command applies to the frames after those that have passed. INPUT i goes to
    OUTPUT i, and each TICK settles its timestamp on every output, so no node waits for commands::

        arrive  INPUT:p@10  INPUT:q@20  TICK@10  TICK@20  INPUT:r@30  INPUT:s@40
        OUTPUT  p@MIN       q@MIN+1     .        .        r@21        s@22

    Packets before the first TICK get timestamps from MIN on. Any call settles MIN on every output.

    The timestamps that packets get depend on when they arrive, by design; their order does not. There is no
    timestamp offset; the contract asks for ImmediateInputStreamHandler, since no input may wait for
    another here. Headers are not forwarded. After a TICK at Timestamp.MAX or POSTSTREAM no timestamp is
    left (the reference fails): further packets are dropped, and appear in the ledger as "no timestamp is
    left".

    Source of the behaviour: MediaPipe `calculators/core/packet_sequencer_calculator.cc`.

    Example config::

        node {
          calculator: "PacketSequencerCalculator"
          input_stream: "INPUT:commands"
          input_stream: "TICK:frames"
          output_stream: "OUTPUT:commands_by_frame"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give each OUTPUT the type of its INPUT.

        Raises:
            InvalidArgumentError: there are not as many outputs as inputs.
        """
        count = cc.inputs.count("INPUT")
        if cc.outputs.count("OUTPUT") != count:
            raise InvalidArgumentError(
                f"the sequencer has {count} inputs INPUT, but {cc.outputs.count('OUTPUT')} outputs OUTPUT; "
                "each input needs an output"
            )
        for i in range(count):
            cc.inputs["INPUT", i].set_any("packets that get new timestamps")
            cc.outputs["OUTPUT", i].set_same_as(cc.inputs["INPUT", i], "the same packets in step with TICK")
        for i in range(cc.inputs.count("TICK")):
            cc.inputs["TICK", i].set_any("settles its timestamps on the outputs")
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Pair the ports."""
        self._pairs = range(cc.inputs.count("INPUT"))
        self._ticks = range(cc.inputs.count("TICK"))

    def process(self, cc: CalculatorContext) -> None:
        """Forward the packets, then settle the tick: a packet applies to the tick that it arrives with."""
        for i in self._pairs:
            port, output = cc.inputs["INPUT", i], cc.outputs["OUTPUT", i]
            if port.is_empty():
                continue
            stamp = max(MIN, output.bound)
            if stamp <= MAX:
                output.add_packet(port.packet.at(stamp))
            else:
                port.count_dropped("no timestamp is left")
        # an empty packet carries the settled timestamp: a tick that is only a bound counts too
        has_tick = any(cc.inputs["TICK", i].packet.stamp == cc.stamp for i in self._ticks)
        tick = max(MIN, cc.stamp) if has_tick else MIN
        for i in self._pairs:
            output = cc.outputs["OUTPUT", i]
            if tick >= output.bound:
                output.set_next_timestamp_bound(next_allowed(tick))
