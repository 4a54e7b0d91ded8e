from __future__ import annotations

import pytest

from penstock.engine.input_stream_handler import InputStreamHandler
from penstock.engine.packet import Packet
from penstock.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    PacketTypeError,
    StatusCode,
)
from penstock.timestamp import DONE, Timestamp
from penstock_testing import ScheduleHarness, calculator, node, wired

Sink = calculator(name="Sink")


def writing(*, offset=None, contract=None, handler=InputStreamHandler, **methods):
    """Run a node whose methods are given once, on an input at 10, and return the ended harness."""
    writer = calculator(**methods, name="Writer", offset=offset, contract=contract)
    plan = wired(node(writer, "in", "out"), node(Sink, "out", handler=handler), inputs="in")
    harness = ScheduleHarness(plan, bounds_of=["out"]).start()
    harness.add("in", "x", 10)
    harness.run()
    return harness


def test_input_and_output_are_refused_where_there_are_several() -> None:
    seen = []

    def process(cc):
        for what in ("input", "output"):
            with pytest.raises(
                InvalidArgumentError, match=f"has 2 {what}s, but cc.{what} is for calculators with one"
            ):
                getattr(cc, what)
        seen.append((cc.inputs["A"].name, cc.outputs["B"].name))

    two = calculator(process, name="Two")
    harness = ScheduleHarness(wired(node(two, "A:a B:b", "A:c B:d"), inputs="a b")).start()
    harness.add("a", 1, 1)
    harness.add("b", 1, 1)
    harness.finish()

    assert seen == [("a", "d")]


# --- output side packets ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "error", "message"),
    [
        (Packet(), InvalidArgumentError, "output side packet 'made': empty at its output port"),
        (
            Packet(3, 237),
            InvalidArgumentError,
            "output side packet 'made' has a timestamp 237; side packets have none",
        ),
        (
            "text",
            PacketTypeError,
            "output side packet 'made': its output port is given a 'str', but is declared as int",
        ),
        (True, PacketTypeError, "is given a 'bool', but is declared as int"),
    ],
)
def test_a_bad_side_packet_is_refused_and_a_good_one_may_follow(payload, error, message) -> None:
    def open_(cc):
        with pytest.raises(error, match=message):
            cc.output_side_packets[0].set(payload)
        cc.output_side_packets[0].set(Packet(3))

    maker = calculator(open=open_, name="Maker", contract=lambda cc: cc.output_side_packets[0].set(int))
    harness = ScheduleHarness(wired(node(maker, side_outputs="made"))).start().finish()

    assert harness.side_packets.made["made"].payload == 3


def test_a_side_packet_is_set_once_in_a_run() -> None:
    def open_(cc):
        cc.output_side_packets[0].set(1)
        with pytest.raises(
            AlreadyExistsError, match="output side packet 'made' was already set in this run"
        ) as caught:
            cc.output_side_packets[0].set(2)
        assert caught.value.code is StatusCode.ALREADY_EXISTS

    harness = ScheduleHarness(wired(node(calculator(open=open_), side_outputs="made"))).start().finish()

    assert harness.side_packets.made["made"].payload == 1


def test_the_input_timestamp_tells_the_phase() -> None:
    phases = []
    note = lambda cc: phases.append(cc.input_timestamp)  # noqa: E731  # three times the same
    writing(open=note, process=note, close=note).finish()

    assert phases == [Timestamp.UNSTARTED, Timestamp(10), Timestamp.DONE]


def test_in_close_inputs_are_empty_and_done() -> None:
    seen = []
    harness = writing(
        close=lambda cc: seen.append((cc.input.is_empty(), cc.input.payload, cc.input.is_done()))
    )
    harness.finish()

    assert seen == [(True, None, True)]
    assert harness.stream("out").bound == DONE
