from __future__ import annotations

import pytest

from penstock import Packet, Timestamp
from penstock.errors import GraphRunError
from penstock.lowlevel import MAX, PRESTREAM, UNSTARTED
from penstock_stream_handlers.immediate import ImmediateInputStreamHandler
from penstock_testing import ScheduleHarness, calculator, node, wired


@pytest.fixture
def three(watched):
    return watched(ImmediateInputStreamHandler, "a b c")


@pytest.fixture
def three_with_bounds(watched):
    return watched(ImmediateInputStreamHandler, "a b c", bounds=True)


def test_nothing_runs_before_anything_has_come(three):
    three.bound("a", 100)

    assert three.calls == []


def test_any_packet_makes_the_node_ready_whatever_the_other_streams_say(three):
    three.add("b", 10)

    assert three.seen == [(10, "b10")]
    assert three.calls[0].stamps == {"a": UNSTARTED, "b": 10, "c": UNSTARTED}


def test_the_earliest_packet_that_is_there_goes_first_and_equal_timestamps_together(three):
    three.add_only("a", 1, 5)
    three.add_only("b", 2, 5)
    three.add_only("c", 3, 5)
    three.harness.run()

    assert three.seen == [(1, "a1"), (2, "b2"), (3, "c3"), (5, "a5 b5 c5")]


def test_a_stream_that_is_not_taken_shows_what_is_settled_before_its_oldest_packet(three):
    step_by_hand(three, [("a", 1), ("b", 2), ("c", 3)], [("a", 5), ("b", 5), ("c", 5)])

    assert [(call.at, call.stamps) for call in three.calls] == [
        (1, {"a": 1, "b": UNSTARTED, "c": UNSTARTED}),
        (2, {"a": 4, "b": 2, "c": 2}),
        (3, {"a": 4, "b": 4, "c": 3}),
        (5, {"a": 5, "b": 5, "c": 5}),
    ]


def step_by_hand(run, before, while_it_runs):
    for stream, stamp in before:
        run.add_only(stream, stamp)
    step = run.harness.take()
    for stream, stamp in while_it_runs:
        run.add_only(stream, stamp)
    run.harness.complete(run.harness.call(step))
    run.harness.run()


def test_the_input_timestamp_may_go_back_and_repeat(three):
    three.add("a", 10)
    three.add("b", 5)
    three.add("c", 5)

    assert three.seen == [(10, "a10"), (5, "b5"), (5, "c5")]


def test_the_end_of_a_stream_is_one_call_without_packets_at_the_least_bound_of_the_others(three):
    three.add("b", 10)
    three.add("c", 7)
    three.close("a")
    three.add("b", 12)

    assert three.seen == [(10, "b10"), (7, "c7"), (8, ""), (12, "b12")]


def test_the_end_of_a_stream_before_any_packet_is_a_call_at_prestream(three):
    three.close("a")

    assert three.seen == [(PRESTREAM, "")]


def test_the_end_of_the_last_stream_closes_the_node_without_a_call(three):
    three.close("a", "b")
    assert len(three.calls) == 2
    assert not three.is_closed

    three.close("c")
    assert len(three.calls) == 2
    assert three.is_closed


def test_the_last_packet_of_a_stream_is_delivered_before_the_call_for_its_end(three):
    three.add_only("a", 3)
    three.harness.close_input("a")
    three.harness.run()

    assert three.seen == [(3, "a3"), (PRESTREAM, "")]
    assert three.calls[0].done == set()
    assert three.calls[1].done == {"a"}


def test_with_process_bounds_the_end_of_a_stream_is_one_call_at_max(three_with_bounds):
    three_with_bounds.add("b", 1, payload="p")
    three_with_bounds.close("b")
    three_with_bounds.close("a")
    assert not three_with_bounds.is_closed
    three_with_bounds.close("c")

    assert three_with_bounds.seen == [(1, "p"), (MAX, ""), (MAX, ""), (MAX, "")]
    assert [call.stamps for call in three_with_bounds.calls] == [
        {"a": UNSTARTED, "b": 1, "c": UNSTARTED},
        {"a": UNSTARTED, "b": MAX, "c": UNSTARTED},
        {"a": MAX, "b": MAX, "c": UNSTARTED},
        {"a": MAX, "b": MAX, "c": MAX},
    ]
    assert three_with_bounds.is_closed


def test_with_process_bounds_streams_that_end_while_the_node_runs_are_one_call(three_with_bounds):
    three_with_bounds.harness.close_input("a", "b", "c")
    three_with_bounds.harness.run()

    assert three_with_bounds.seen == [(MAX, ""), (MAX, "")]
    assert three_with_bounds.is_closed


def test_with_process_bounds_a_packet_at_max_is_the_last_call_of_its_stream(three_with_bounds):
    three_with_bounds.add("b", Timestamp.MAX)
    three_with_bounds.close("b")

    assert three_with_bounds.seen == [(MAX, f"b{MAX}")]


def test_with_process_bounds_a_settled_timestamp_is_processed_once(three_with_bounds):
    three_with_bounds.bound("a", 10)
    three_with_bounds.bound("a", 10)
    three_with_bounds.bound("a", 12)
    three_with_bounds.add("a", 12)

    assert three_with_bounds.seen == [(9, ""), (11, ""), (12, "a12")]


def test_with_process_bounds_a_timestamp_found_settled_is_still_processed_when_more_has_settled(
    three_with_bounds,
):
    run = three_with_bounds
    run.harness.set_bound("a", 3)
    run.harness.set_bound("b", 2)
    step = run.harness.take()  # at 2, for a; b and its 1 are found when this is over
    run.harness.complete(run.harness.call(step))
    run.harness.set_bound("b", 20)
    run.harness.run()

    assert [call.at for call in run.calls] == [2, 1, 19]


def test_outputs_that_go_back_are_an_error_at_the_calculator_that_writes_them():
    def merge(cc):
        for port in cc.inputs:
            if not port.is_empty():
                cc.output.add_packet(port.packet)

    plan = wired(node(calculator(merge), "a b", "out", handler=ImmediateInputStreamHandler), inputs="a b")
    harness = ScheduleHarness(plan).start()
    for stream, stamp in [("a", 0), ("a", 1), ("b", 0)]:
        harness.add_packet(stream, Packet("x", stamp))
        harness.run()

    with pytest.raises(GraphRunError, match="'out': packet at 0 is behind the bound 2"):
        harness.finish()
    assert harness.carried("out") == [(0, "x"), (1, "x")]


def test_an_offset_passes_on_the_least_bound_of_all_streams(passed_on):
    events = [("a", 30), ("c", 50), ("b", 40), ("a", 45)]

    assert passed_on(ImmediateInputStreamHandler, "a b c", events) == [29, 39]


# --- what MediaPipe's own tests ask for: streams a, b, c are the outputs 0, 1, 2 -----------------------


def add(i, at, payload):
    return lambda outputs: outputs[i].add(payload, at)


def end(*streams):
    return lambda outputs: [outputs[i].close() for i in streams]


def bound(i, at):
    return lambda outputs: outputs[i].set_next_timestamp_bound(at)


@pytest.fixture
def plain(told):
    return told(ImmediateInputStreamHandler, "a b c")


@pytest.fixture
def with_bounds(told):
    return told(ImmediateInputStreamHandler, "a b c", bounds=True)


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.EmptyPacketsNotReady",
    "ImmediateInputStreamHandlerTest.AnyPacketsReady",
)
def test_a_node_without_packets_is_not_ready_and_one_packet_is_enough(plain):
    assert plain.harness.ready() == []

    plain.tell(add(0, 10, "packet 1"))

    assert plain.packets == [{"a": "packet 1"}]


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.StreamDoneReady",
)
def test_each_end_of_a_stream_is_a_call_and_a_bound_is_none(plain):
    plain.tell(add(0, 10, "packet 1"))
    assert plain.packets == [{"a": "packet 1"}]
    plain.tell(end(1))
    assert plain.packets[1:] == [{}]
    plain.tell(bound(0, 200))
    assert len(plain.packets) == 2
    plain.tell(end(0))
    assert plain.packets[2:] == [{}]
    assert not plain.is_closed


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.ReadyForCloseAfterTimestampMax",
)
def test_bounds_behind_the_greatest_time_close_the_node(plain):
    plain.tell(add(0, 10, "packet 1"))
    assert [at for at, _ in plain.calls] == [10]

    plain.tell(*(bound(i, Timestamp.MAX.next_allowed_in_stream()) for i in range(3)))

    assert [at for at, _ in plain.calls] == [10]
    assert plain.is_closed


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.ReadyForClose",
)
def test_streams_that_all_end_before_a_call_is_over_cause_no_further_one(plain):
    plain.tell_in_two([add(1, 1, "packet 1"), end(1)], [end(0, 2)])

    assert plain.packets == [{"b": "packet 1"}]
    assert plain.is_closed


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.ProcessTimestampBounds",
)
def test_with_process_bounds_ends_are_calls_at_max_that_show_which_streams_have_ended(with_bounds):
    with_bounds.tell(add(1, 1, "packet 1"), end(1))
    assert with_bounds.calls == [
        (1, {"a": UNSTARTED, "b": "packet 1", "c": UNSTARTED}),
        (MAX, {"a": UNSTARTED, "b": MAX, "c": UNSTARTED}),
    ]
    assert not with_bounds.is_closed

    with_bounds.tell(end(0, 2))

    assert with_bounds.calls[2:] == [(MAX, {"a": MAX, "b": MAX, "c": MAX})]
    assert with_bounds.is_closed


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.ProcessTimestampBoundsNoOpScheduleInvocations",
)
def test_with_process_bounds_nothing_new_is_no_call(with_bounds):
    with_bounds.tell(add(1, 1, "packet 1"))
    with_bounds.tell(end(0, 2))
    assert with_bounds.calls == [
        (1, {"a": UNSTARTED, "b": "packet 1", "c": UNSTARTED}),
        (MAX, {"a": MAX, "b": 1, "c": MAX}),
    ]

    with_bounds.tell()
    assert len(with_bounds.calls) == 2
    assert with_bounds.harness.ready() == []

    with_bounds.tell(end(1))
    assert with_bounds.calls[2:] == [(MAX, {"a": MAX, "b": MAX, "c": MAX})]
    assert with_bounds.is_closed


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.VerifyPacketsReleaseOrder",
)
def test_with_process_bounds_packets_go_in_the_order_of_their_timestamps(with_bounds):
    at_first = [add(i, i + 1, name) for i, name in enumerate("abc")]
    with_bounds.tell_in_two(at_first, [add(i, 5, name) for i, name in enumerate("abc")])
    assert with_bounds.calls == [
        (1, {"a": "a", "b": 1, "c": 2}),
        (2, {"a": 4, "b": "b", "c": 2}),
        (3, {"a": 4, "b": 4, "c": "c"}),
        (5, {"a": "a", "b": "b", "c": "c"}),
    ]

    with_bounds.tell(end(0, 1, 2))

    assert with_bounds.calls[4:] == [(MAX, {"a": MAX, "b": MAX, "c": MAX})]
    assert with_bounds.is_closed


@pytest.mark.reference(
    "framework/stream_handler/immediate_input_stream_handler_test.cc",
    "ImmediateInputStreamHandlerTest.SimulateProcessNode",
)
def test_packets_of_one_timestamp_go_together_as_long_as_streams_have_some(plain):
    first = [add(0, at, f"packet {n}") for n, at in enumerate((10, 30, 40), 1)] + [add(1, 10, "packet 1")]
    first += [add(2, at, f"packet {n}") for n, at in enumerate((10, 30), 1)]

    plain.tell_in_two(first, [add(2, 40, "packet 3"), add(1, 30, "packet 2"), end(1)])

    assert plain.packets[:3] == [
        {"a": "packet 1", "b": "packet 1", "c": "packet 1"},
        {"a": "packet 2", "b": "packet 2", "c": "packet 2"},
        {"a": "packet 3", "c": "packet 3"},
    ]
