"""PreviousLoopbackCalculator: gives each packet the result of a cycle for the packet before."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import penstock
from penstock.lowlevel import MAX, UNSET, UNSTARTED, next_allowed

if TYPE_CHECKING:
    from penstock import CalculatorContext, CalculatorContract, Packet


class _Tick(NamedTuple):
    """A settled timestamp of MAIN, and the timestamp of the LOOP packet that belongs there."""

    stamp: int
    wanted: int


class PreviousLoopbackCalculator(penstock.Calculator):
    """At each packet of MAIN, writes the packet that LOOP had at the MAIN packet before.

    This gives a cycle its memory: LOOP is the result of the nodes downstream for a frame, PREV_LOOP
    gives it to the next frame, at that frame's timestamp. The first MAIN packet has no packet before it
    and gets a bound only; so does a MAIN packet for whose predecessor LOOP has no packet::

        MAIN       1 . 3 . 5 6
        LOOP       a . . . c d        (nothing for the frame at 3)
        PREV_LOOP  . . a . . c

    PREV_LOOP waits until LOOP has settled at the earlier frame, by a packet or a bound. If LOOP never
    settles there, PREV_LOOP waits without limit: every node of the cycle must settle each timestamp that
    it reads, with an offset or bounds of its own. MAIN and LOOP may arrive in any order; PREV_LOOP's
    packets do not depend on it. A LOOP packet without a MAIN packet after it appears in the ledger as "no
    main packet follows it". The header of LOOP is forwarded if it is set before the node opens.

    LOOP is nearly always a back edge, and the graph must declare it. The contract asks for
    ImmediateInputStreamHandler; with a policy that keeps both in step, a cycle would wait for itself.

    Source of the behaviour: MediaPipe `calculators/core/previous_loopback_calculator.cc`.

    Example config::

        node {
          calculator: "PreviousLoopbackCalculator"
          input_stream: "MAIN:frames"
          input_stream: "LOOP:hands"
          input_stream_info { tag_index: "LOOP" back_edge: true }
          output_stream: "PREV_LOOP:hands_of_the_frame_before"
        }
    """

    @classmethod
    def get_contract(cls, cc: CalculatorContract) -> None:
        """Give PREV_LOOP the type of LOOP."""
        cc.inputs["MAIN"].set_any("packets that set the timestamps")
        cc.inputs["LOOP"].set_any("the results for MAIN; a back edge")
        cc.outputs["PREV_LOOP"].set_same_as(cc.inputs["LOOP"], "the result for the packet before")
        cc.set_input_stream_handler("ImmediateInputStreamHandler")
        cc.set_process_timestamp_bounds()
        cc.declare(may_skip=True, stateless=False)

    def open(self, cc: CalculatorContext) -> None:
        """Forward the header."""
        self._ticks: deque[_Tick] = deque()
        self._loops: deque[Packet] = deque()
        self._main_settled = UNSTARTED
        self._last_main_packet = UNSTARTED
        self._loop_settled = UNSET  # below UNSTARTED: a LOOP without a settled timestamp counts too
        header = cc.inputs["LOOP"].header
        if not header.is_empty():
            cc.outputs["PREV_LOOP"].set_header(header)

    def process(self, cc: CalculatorContext) -> None:
        """Record the settled timestamps, then settle PREV_LOOP at each MAIN timestamp that LOOP allows."""
        main = cc.inputs["MAIN"].packet
        if main.stamp > self._main_settled:
            self._main_settled = main.stamp
            if main.is_empty():
                self._ticks.append(_Tick(main.stamp, UNSET))
            else:
                self._ticks.append(_Tick(main.stamp, self._last_main_packet))
                self._last_main_packet = main.stamp
        loop = cc.inputs["LOOP"].packet
        if loop.stamp > self._loop_settled:
            self._loop_settled = loop.stamp
            self._loops.append(loop)
        self._match(cc)

    def _match(self, cc: CalculatorContext) -> None:
        ticks, loops = self._ticks, self._loops
        while ticks and loops:
            tick, loop = ticks[0], loops[0]
            if tick.wanted > loop.stamp:
                loops.popleft()
                if not loop.is_empty():
                    cc.inputs["LOOP"].count_dropped("no main packet follows it")
                continue
            ticks.popleft()
            if tick.wanted == loop.stamp:
                loops.popleft()
                _answer(cc, tick.stamp, loop)
            else:
                _answer(cc, tick.stamp, None)


def _answer(cc: CalculatorContext, stamp: int, packet: Packet | None) -> None:
    """Settle PREV_LOOP at a timestamp, with a packet if there is one; close it after the last."""
    output = cc.outputs["PREV_LOOP"]
    if packet is not None and not packet.is_empty():
        output.add_packet(packet.at(stamp))
    else:
        output.set_next_timestamp_bound(next_allowed(stamp))
    if stamp >= MAX:
        output.close()
