"""Conformance scenarios on streams and bounds: which node runs when."""

from __future__ import annotations

import penstock


class AnyPorts(penstock.Calculator):
    """Accepts anything everywhere; subclasses do the work."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for ports in (cc.inputs, cc.outputs, cc.input_side_packets):
            for port in ports:
                port.set_any()


class Even(AnyPorts):
    """Passes even integers; says at once that an odd one is left out."""

    def process(self, cc):
        if cc.input.payload % 2 == 0:
            cc.output.add_packet(cc.input.packet)
        else:
            cc.output.set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


class Adder(AnyPorts):
    @classmethod
    def get_contract(cls, cc) -> None:
        super().get_contract(cc)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        cc.output.add(sum(port.packet.get(int) for port in cc.inputs), cc.input_timestamp)


class Merge(AnyPorts):
    """Writes what came at which time as text."""

    def process(self, cc):
        parts = ["empty" if port.is_empty() else str(port.payload) for port in cc.inputs]
        cc.output.add(f"Timestamp({cc.input_timestamp}) {' '.join(parts)}", cc.input_timestamp)


class Valve(AnyPorts):
    """Lets an input through where the gate says so, and bounds where not."""

    def process(self, cc):
        if cc.inputs[1].payload:
            cc.output.add_packet(cc.inputs[0].packet)
        else:
            cc.output.set_next_timestamp_bound(cc.input_timestamp.next_allowed_in_stream())


class Shift(AnyPorts):
    """Moves packets by the side packet, and promises just that."""

    def open(self, cc):
        self.shift = cc.input_side_packets[0].payload
        cc.set_offset(self.shift)

    def process(self, cc):
        cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + self.shift))


class OffsetOnly(AnyPorts):
    @classmethod
    def get_contract(cls, cc) -> None:
        super().get_contract(cc)
        cc.set_timestamp_offset(0)

    def process(self, cc):
        """The bound is all that it gives."""


class Future(AnyPorts):
    def process(self, cc):
        cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + 3))


class Counting(AnyPorts):
    def process(self, cc):
        cc.counter("calls").increment()


class LastPacket(AnyPorts):
    """Keeps the last packet back until close, so its bound never gets past the present time."""

    def process(self, cc):
        self.last = cc.input.packet
        cc.output.set_next_timestamp_bound(cc.input_timestamp)

    def close(self, cc):
        cc.output.add_packet(self.last)


def test_an_input_set_waits_until_its_timestamp_is_settled_on_both_streams(bench):
    bench.start(
        """input_stream: "in0" input_stream: "in1"
        node {
          calculator: "PassThroughCalculator"
          input_stream: "in0" input_stream: "in1" output_stream: "out0" output_stream: "out1"
        }""",
        watch=["out0", "out1"],
    )

    bench.add("in0", 1, 1)
    bench.idle()
    assert bench.seen == {"out0": [], "out1": []}
    bench.add("in1", 2, 2)
    bench.idle()
    assert bench.seen == {"out0": [(1, 1)], "out1": []}
    bench.add("in0", 2, 2)
    bench.idle()
    assert bench.seen == {"out0": [(1, 1), (2, 2)], "out1": [(2, 2)]}
    bench.end()


def test_a_bound_at_t_does_not_settle_t(bench):
    bench.start(
        """input_stream: "in0" input_stream: "in1"
        node { calculator: "Even" input_stream: "in1" output_stream: "even" }
        node { calculator: "Adder" input_stream: "in0" input_stream: "even" output_stream: "out" }""",
        Even,
        Adder,
        watch=["out"],
    )

    bench.add("in0", 1, 1)
    bench.add("in1", 1, 2)
    bench.idle()
    assert bench.seen["out"] == [(1, 3)]
    bench.add("in1", 2, 3)
    bench.add("in0", 3, 3)
    bench.idle()
    assert bench.seen["out"] == [(1, 3)]
    bench.add("in1", 3, 4)
    bench.idle()
    assert bench.seen["out"] == [(1, 3), (3, 7)]
    bench.end()


VALVE = """
input_stream: "in"
input_stream: "gate"
node { calculator: "Valve" input_stream: "in" input_stream: "gate" output_stream: "gated" }
node { calculator: "PassThroughCalculator" input_stream: "gated" output_stream: "passed" }
node { calculator: "Shift" input_stream: "passed" input_side_packet: "shift" output_stream: "shifted" }
node { calculator: "Merge" input_stream: "in" input_stream: "shifted" output_stream: "merged" }
"""


def test_bounds_of_a_closed_valve_let_a_join_below_run(bench):
    bench.load(VALVE, Valve, Shift, Merge, watch=["merged"])
    bench.graph.start_run({"shift": 0})
    for t, is_open in ((1, True), (2, True), (3, False), (4, False)):
        bench.add("gate", t, is_open)
        bench.add("in", t, t)
    bench.idle()

    assert [text for _, text in bench.seen["merged"]] == [
        "Timestamp(1) 1 1",
        "Timestamp(2) 2 2",
        "Timestamp(3) 3 empty",
        "Timestamp(4) 4 empty",
    ]
    bench.end()


def test_a_negative_offset_settles_that_much_less(bench):
    bench.load(VALVE, Valve, Shift, Merge, watch=["merged"])
    bench.graph.start_run({"shift": -1})
    bench.add("gate", 7, True)
    bench.add("in", 7, 7)
    bench.idle()
    assert bench.seen["merged"] == [(6, "Timestamp(6) empty 7")]

    bench.end()
    assert bench.seen["merged"][1:] == [(7, "Timestamp(7) 7 empty")]


def test_an_offset_alone_lets_a_join_below_run(bench):
    bench.start(
        """input_stream: "in"
        node { calculator: "OffsetOnly" input_stream: "in" output_stream: "nothing" }
        node {
          calculator: "PassThroughCalculator"
          input_stream: "nothing" input_stream: "in" output_stream: "out0" output_stream: "out1"
        }""",
        OffsetOnly,
        watch=["out0", "out1"],
    )
    for t in range(4):
        bench.add("in", t, t)
    bench.idle()

    assert bench.seen == {"out0": [], "out1": [(t, t) for t in range(4)]}
    bench.end()


def test_bounds_alone_do_not_call_process(bench):
    bench.start(
        """input_stream: "in"
        node { calculator: "Future" input_stream: "in" output_stream: "later" }
        node { calculator: "OffsetOnly" input_stream: "later" output_stream: "nothing" }
        node { calculator: "Counting" input_stream: "nothing" }""",
        Future,
        OffsetOnly,
        Counting,
    )
    for t in range(4):
        bench.add("in", t, t)
        bench.idle()
    bench.end()

    assert bench.graph.counters.get("Counting-calls", 0) == 0


def test_a_bound_at_the_present_time_holds_a_join_back_by_one_and_the_last_comes_in_close(bench):
    bench.start(
        """input_stream: "in"
        node { calculator: "LastPacket" input_stream: "in" output_stream: "last" }
        node {
          calculator: "PassThroughCalculator"
          input_stream: "in" input_stream: "last" output_stream: "out0" output_stream: "out1"
        }""",
        LastPacket,
        watch=["out0", "out1"],
    )
    for t in range(4):
        bench.add("in", t, t)
        bench.idle()
        assert (len(bench.seen["out0"]), len(bench.seen["out1"])) == (t, 0)
    bench.end()

    assert bench.seen == {"out0": [(t, t) for t in range(4)], "out1": [(3, 3)]}
