"""Decisions on what the reference leaves open or does otherwise, each by its number."""

from __future__ import annotations

import pytest

import penstock
from penstock import StatusCode
from penstock.errors import PacketTypeError
from penstock_testing import calculator

#: Policy → its options. Mux is not here: it chooses one of its inputs.
POLICIES = {
    "DefaultInputStreamHandler": "",
    "EarlyCloseInputStreamHandler": "",
    "ImmediateInputStreamHandler": "",
    "BarrierInputStreamHandler": "",
    "FixedSizeInputStreamHandler": "trigger_queue_size: 2",
    "SyncSetInputStreamHandler": 'sync_set { tag_index: "A:0" tag_index: "A:1" }',
    "TimestampAlignInputStreamHandler": 'timestamp_base_tag_index: "A:0"',
    "InnerJoin": "",
    "Latest": 'tick: "A"',
    "Nearest": 'base: "A" tolerance: 0',
    "Timeout": "timeout_ms: 60000",
}


def policy(name):
    given = f"options {{ [penstock.{name}Options.ext] {{ {POLICIES[name]} }} }}" if POLICIES[name] else ""
    return f'input_stream_handler {{ input_stream_handler: "{name}" {given} }}'


# --- 22: what depends on arrival --------------------------------------------------------------------


@pytest.mark.parametrize("b_comes", ["first", "last"])
def test_decision22_what_a_node_that_closes_early_still_sees_depends_on_arrival(bench, b_comes):
    """Each stream carries the same packets and bounds in both orders."""
    bench.start(bench.net("a b", f"Seen a b | {policy('EarlyCloseInputStreamHandler')}"))
    if b_comes == "first":
        bench.add("b", 1, 2)
    bench.add("a", 1)
    bench.bound("a", 3)
    bench.close("a")
    if b_comes == "last":
        bench.add("b", 1, 2)
    bench.end()

    if b_comes == "first":
        assert bench.calls == ["1: a=1 b=1", "2: a@2 b=2", "close"]
        assert bench.drops() == []
    else:
        assert bench.calls == ["1: a=1 b=1", "close"]
        assert bench.drops() == [("b", "the reader had closed", 1)]


# --- 23: bounds may melt together -------------------------------------------------------------------


@pytest.mark.parametrize("is_told_of_each", [True, False])
def test_decision23_bounds_that_come_before_a_node_looks_count_as_one(bench, is_told_of_each):
    bench.start(bench.net("a", "SeenBounds a"))
    bench.idle()
    if not is_told_of_each:
        bench.graph.pause()
    for bound in (3, 5):
        bench.graph.set_input_stream_timestamp_bound("a", bound)
        if is_told_of_each:
            bench.idle()
    bench.add("a", 7)
    bench.graph.resume()
    bench.idle()

    of_bounds = ["2: a@2", "4: a@4"] if is_told_of_each else ["2: a@2"]
    assert bench.calls == [*of_bounds, "7: a=7"]
    bench.end()


# --- 24: an int where float is declared -------------------------------------------------------------


def declares(payload_type, name):
    class Declares(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(payload_type)
            cc.outputs[0].set(payload_type)

        def process(self, cc):
            cc.output.add_packet(cc.input.packet)

    Declares.__name__ = name
    return Declares


def test_decision24_an_int_may_go_where_float_is_declared_and_stays_an_int(bench):
    bench.start(bench.net("in", "Floats in -> out"), declares(float, "Floats"), watch=["out"])
    bench.add("in", (1, 5), (2, 2.5))
    bench.end()

    assert bench.seen["out"] == [(1, 5), (2, 2.5)]
    assert [type(payload) for _, payload in bench.seen["out"]] == [int, float]


def test_decision24_a_float_may_not_go_where_int_is_declared_and_changes_nothing(bench):
    bench.start(bench.net("in", "Ints in -> out"), declares(int, "Ints"), watch=["out"])
    with pytest.raises(PacketTypeError, match="float"):
        bench.add("in", (1, 5.0))
    bench.add("in", (1, 5))
    bench.end()

    assert bench.seen["out"] == [(1, 5)]


# --- 25: every run is observed alike ----------------------------------------------------------------


def test_decision25_observers_hear_of_the_bounds_of_a_second_run_as_of_those_of_the_first(bench):
    bench.load(bench.net("in", "Pass in -> out"), watch=["in", "out"], bounds=True)
    runs = []
    for _ in range(3):
        bench.graph.start_run()
        bench.bound("in", 4)
        bench.add_one_by_one("in", 6)
        bench.bound("in", 8)
        bench.end()
        runs.append({name: list(seen) for name, seen in bench.seen.items()})
        for seen in bench.seen.values():
            seen.clear()

    heard = [(3, None), (6, 6), (7, None)]
    assert runs == 3 * [{"in": heard, "out": heard}]


# --- 26: one stream at several ports ----------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("waits", [True, False])
def test_decision26_a_stream_at_several_ports_arrives_at_all_of_them_in_one_input_set(bench, name, waits):
    sets = []

    def note(cc):
        sets.append([None if port.is_empty() else port.payload for port in cc.inputs])

    bench.start(
        bench.net("a b", f"Note A:0:a A:1:a B:b | {policy(name)}"), calculator(note, name="Note"), watch=[]
    )
    for stream, stamp in [("b", 1), ("a", 1), ("a", 2), ("b", 2), ("a", 4), ("a", 5), ("b", 5)]:
        (bench.add_one_by_one if waits else bench.add)(stream, stamp)
    bench.end()

    assert any(first is not None for first, *_ in sets)
    assert [both for both in sets if both[0] != both[1]] == []


# --- 27: no bound is sent because of a step that failed ---------------------------------------------


@pytest.mark.parametrize("in_flight", [1, 4])
def test_decision27_no_bound_is_sent_because_of_a_step_that_failed(bench, in_flight):
    def fail(cc):
        cc.output.set_next_timestamp_bound(100)
        raise ValueError("no")

    fails = calculator(fail, name="Fails", offset=0)
    bench.start(
        bench.net("in", f"Fails in -> bad | max_in_flight: {in_flight}", "SeenBounds bad", "Pass in -> good"),
        fails,
        watch=["bad", "good"],
        bounds=True,
    )
    bench.add("in", 1)
    assert bench.failure().code is StatusCode.INVALID_ARGUMENT

    assert bench.seen["bad"] == []
    assert bench.calls == ["close"]


# --- 28: the order of observers ---------------------------------------------------------------------


def test_decision28_observers_of_one_stream_are_called_in_the_order_in_which_they_were_attached(one_thread):
    bench, called = one_thread, []
    graph = bench.load(bench.net("in", "Pass in -> out"))
    for name in "badc":
        graph.observe_output_stream("out", lambda _, packet, name=name: called.append((packet.payload, name)))
    for _ in range(2):
        graph.start_run()
        bench.add_one_by_one("in", 1, 2)
        bench.end()

    assert called == 2 * [(number, name) for number in (1, 2) for name in "badc"]
