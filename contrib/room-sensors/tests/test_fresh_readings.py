"""FreshReadings, stepped by hand, under random feeds, and explored under many orders."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock import Timestamp
from penstock.errors import InvalidArgumentError
from penstock_room_sensors.fresh_readings import NO_TICK, OVERTAKEN, TOO_OLD, FreshReadings
from penstock_room_sensors.messages.options_pb2 import FreshReadingsOptions
from penstock_testing import ScheduleHarness, calculator, explore, node, wired

S = 1_000_000


class Tell(penstock.Calculator):
    """Sends for each call the readings that it saw, as stream → timestamp of the reading."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set_any()
        cc.outputs[0].set(tuple)

    def open(self, cc):
        self._calls = 0

    def process(self, cc):
        self._calls += 1
        seen = {port.name: int(port.packet.timestamp) for port in cc.inputs if not port.is_empty()}
        cc.outputs[0].add((int(cc.input_timestamp), seen), self._calls)


def hand_on(cc):
    if not cc.input.is_empty():
        cc.output.add_packet(cc.input.packet)


#: A node before each input of an explored node: packets of different streams then come in any order.
HandOn = calculator(hand_on, offset=0)


def fresh(max_age=None, tick=None):
    return FreshReadingsOptions(max_age=max_age, tick=tick)


class Stepped:
    """A run of one node under the policy, stepped by a test; payloads are the stream's name."""

    def __init__(self, inputs, options, **kwargs):
        names = [port.rpartition(":")[2] for port in inputs.split()]
        line = node(Tell, inputs, "out", name="told", handler=FreshReadings, options=[options])
        self.harness = ScheduleHarness(wired(line, inputs=names, **kwargs)).start()
        self.harness.run()

    def add(self, stream, *stamps):
        for stamp in stamps:
            self.harness.add(stream, stream, stamp)
            self.harness.run()

    def bound(self, stream, bound):
        self.harness.set_bound(stream, bound)
        self.harness.run()

    def close(self, *streams):
        for stream in streams:
            self.harness.close_input(stream)
            self.harness.run()

    @property
    def calls(self):
        return [packet.payload for packet in self.harness.seen["out"]]

    @property
    def is_closed(self):
        return "close told" in self.harness.log

    def ledger(self, stream):
        """Return how many packets were delivered, and how many dropped by reason."""
        (reader,) = self.harness.stream(stream).readers
        return reader.delivered, reader.dropped


@pytest.fixture
def stepped():
    return Stepped("TICK:tick a", fresh(3, "TICK"))


def test_each_tick_sees_the_last_reading_unless_it_is_too_old(stepped):
    stepped.add("a", 2, 4, 5)
    stepped.add("tick", 1, 3, 4, 6, 9)
    stepped.close("a", "tick")

    assert stepped.calls == [
        (1, {"tick": 1}),
        (3, {"tick": 3, "a": 2}),
        (4, {"tick": 4, "a": 4}),
        (6, {"tick": 6, "a": 5}),
        (9, {"tick": 9}),
    ]
    assert stepped.ledger("a") == (3, {})
    assert stepped.is_closed


@pytest.mark.parametrize(("tick", "is_shown"), [(10, True), (13, True), (14, False)])
def test_the_age_itself_is_fresh_enough(stepped, tick, is_shown):
    stepped.add("a", 10)
    stepped.close("a")
    stepped.add("tick", tick)

    assert [("a" in seen) for _, seen in stepped.calls] == [is_shown]
    assert stepped.ledger("a") == ((1, {}) if is_shown else (0, {TOO_OLD: 1}))


def test_an_age_of_zero_joins_equal_timestamps():
    stepped = Stepped("TICK:tick a", fresh(0, "TICK"))
    stepped.add("a", 1, 3)
    stepped.add("tick", 1, 2, 3)

    assert [seen.get("a") for _, seen in stepped.calls] == [1, None, 3]


def test_a_tick_waits_until_every_sensor_is_settled_there():
    stepped = Stepped("TICK:tick a b", fresh(9, "TICK"))
    stepped.add("tick", 5)
    stepped.add("a", 5)
    assert stepped.calls == []

    stepped.bound("b", 5)
    assert stepped.calls == []
    stepped.bound("b", 6)
    assert stepped.calls == [(5, {"tick": 5, "a": 5})]


@pytest.mark.parametrize(
    ("events", "expected"),
    [([], "tick"), ([("a", 7)], "tick"), ([("tick", 5)], "a b"), ([("tick", 5), ("b", 9)], "a")],
)
def test_it_waits_for_a_tick_and_then_for_the_sensors_that_are_not_settled(events, expected):
    stepped = Stepped("TICK:tick a b", fresh(9, "TICK"))
    for stream, stamp in events:
        stepped.add(stream, stamp)

    blocking = stepped.harness.node("told").policy.blocking()
    assert " ".join(stream.name for stream in blocking) == expected


def test_readings_that_no_tick_sees_are_dropped_with_the_reason(stepped):
    stepped.add("a", 1, 2)
    stepped.add("tick", 2)
    stepped.add("a", 3, 8)
    stepped.bound("a", 21)
    stepped.add("tick", 20)
    stepped.add("a", 21, 30)
    stepped.close("tick")

    assert stepped.ledger("a") == (1, {OVERTAKEN: 2, TOO_OLD: 1, NO_TICK: 2})
    assert stepped.is_closed


def test_readings_too_old_for_any_tick_are_released_before_a_tick_comes(stepped):
    stepped.add("a", 1, 2)
    stepped.bound("tick", 5)
    assert stepped.ledger("a")[1] == {OVERTAKEN: 1}

    stepped.bound("tick", 6)
    assert stepped.ledger("a")[1] == {OVERTAKEN: 1, TOO_OLD: 1}


def test_readings_do_not_fill_the_queue_while_they_wait_for_ticks():
    stepped = Stepped("TICK:tick a", fresh(100, "TICK"), max_queue_size=2)
    stepped.bound("tick", 50)
    stepped.add("a", *range(20))

    assert not stepped.harness.is_throttled("a")
    stepped.add("tick", 50)
    stepped.close("a")
    assert stepped.calls == [(50, {"tick": 50, "a": 19})]


def test_a_sensor_that_is_done_keeps_its_last_reading_until_it_is_too_old(stepped):
    stepped.add("a", 1)
    stepped.close("a")
    stepped.add("tick", 2, 4, 5)

    assert [seen.get("a") for _, seen in stepped.calls] == [1, 1, None]
    assert not stepped.is_closed


def test_an_input_without_a_fresh_reading_is_settled_at_the_tick():
    settled = []

    def note(cc):
        settled.append([int(port.packet.timestamp) for port in cc.inputs])

    line = node(calculator(note), "TICK:tick a b", handler=FreshReadings, options=[fresh(3, "TICK")])
    harness = ScheduleHarness(wired(line, inputs=["tick", "a", "b"])).start()
    harness.add("a", "reading", 1)
    harness.set_bound("a", 8)
    harness.add("b", "reading", 9)
    harness.add("tick", "now", 7)
    harness.run()

    assert settled == [[7, 7, 7]]


def test_the_first_input_is_the_tick_where_none_is_named():
    stepped = Stepped("tick a", fresh(3))
    stepped.add("a", 1)
    stepped.close("a")
    stepped.add("tick", 2)

    assert stepped.calls == [(2, {"tick": 2, "a": 1})]


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM])
def test_readings_at_special_timestamps_are_fresh_at_ticks_of_the_same(stepped, stamp):
    stepped.add("a", stamp)
    stepped.add("tick", stamp)
    stepped.close("a")

    assert stepped.calls == [(int(stamp), {"tick": int(stamp), "a": int(stamp)})]


@pytest.mark.parametrize(
    ("reading", "tick"), [(Timestamp.PRESTREAM, Timestamp.MIN), (Timestamp.MAX, Timestamp.POSTSTREAM)]
)
def test_readings_and_ticks_at_special_timestamps_are_of_no_age_to_each_other(stepped, reading, tick):
    stepped.add("a", reading)
    stepped.close("a")
    stepped.add("tick", tick)

    assert stepped.calls == [(int(tick), {"tick": int(tick)})]
    assert stepped.ledger("a") == (0, {TOO_OLD: 1})


def test_an_offset_forwards_the_bound_of_the_ticks_and_the_time_of_a_waiting_one():
    silent = calculator(name="Silent", offset=0)
    line = node(silent, "TICK:tick a", "out", handler=FreshReadings, options=[fresh(3, "TICK")])
    harness = ScheduleHarness(wired(line, inputs=["tick", "a"]), bounds_of=["out"]).start()
    harness.run()
    for stream, bound in (("a", 50), ("tick", 5), ("tick", 8)):
        harness.set_bound(stream, bound)
        harness.run()
    harness.add("tick", "now", 60)
    harness.run()
    harness.set_bound("a", 61)
    harness.run()

    assert [stamp for stamp, _ in harness.carried("out")] == [4, 7, 59, 60]


@pytest.mark.parametrize(
    ("inputs", "options", "message"),
    [
        (
            "tick a",
            fresh(),
            "^node 'told': max_age of fresh readings is missing, but must be given as 0 or more",
        ),
        (
            "tick a",
            fresh(-1),
            "^node 'told': max_age of fresh readings is -1, but must be given as 0 or more timestamp units",
        ),
        (
            "TICK:tick A:a",
            fresh(1, "TIK"),
            "tick of the fresh readings is 'TIK', but 0 inputs have that tag, and it must be 1",
        ),
        (
            "A:0:tick A:1:a",
            fresh(1, "A"),
            "^node 'told': tick of the fresh readings is 'A', but 2 inputs have that tag",
        ),
    ],
)
def test_invalid_options_are_refused_before_the_run(inputs, options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        Stepped(inputs, options)


stamps = st.sets(st.integers(0, 40), max_size=12).map(sorted)


@settings(max_examples=80, deadline=None)
@given(stamps, st.tuples(stamps, stamps), st.integers(0, 8), st.randoms(use_true_random=False))
def test_in_any_order_of_arrival_each_tick_sees_what_a_search_of_all_readings_finds(
    ticks, sensors, max_age, order
):
    feeds = {"tick": ticks, **dict(zip("ab", sensors, strict=True))}
    run = Stepped("TICK:tick a b", fresh(max_age, "TICK"))
    waiting = {name: list(times) for name, times in feeds.items()}
    while waiting:
        name = order.choice(sorted(waiting))
        if not waiting[name]:
            run.harness.close_input(name)
            del waiting[name]
            continue
        if order.randrange(3) == 0:
            run.harness.set_bound(name, waiting[name][0])
        run.harness.add(name, name, waiting[name].pop(0))
        if order.randrange(2):
            run.harness.step()
    run.harness.finish()

    expected = [
        (t, {"tick": t, **{name: last for name in "ab" for last in last_fresh(feeds[name], t, max_age)}})
        for t in ticks
    ]
    assert run.calls == expected
    for name in "ab":
        delivered, dropped = run.ledger(name)
        assert delivered == len({seen[name] for _, seen in expected if name in seen})
        assert delivered + sum(dropped.values()) == len(feeds[name])


def last_fresh(times, t, max_age):
    """Return the last reading up to `t` as a list of one; an empty list if it is too old."""
    return [last for last in sorted(one for one in times if one <= t)[-1:] if t - last <= max_age]


def test_what_it_shows_does_not_depend_on_the_order_of_steps():
    plan = wired(
        *(node(HandOn, f"{name}_in", name) for name in ("tick", "a", "b")),
        node(Tell, "TICK:tick a b", "out", handler=FreshReadings, options=[fresh(5, "TICK")]),
        inputs=["tick_in", "a_in", "b_in"],
    )
    feed = [("tick", t) for t in (10, 20, 22, 30)] + [("a", t) for t in (6, 21, 24)] + [("b", 30)]

    def drive(harness):
        harness.start()
        for stream, stamp in feed:
            harness.add(f"{stream}_in", stream, stamp)
            harness.step()
        harness.finish()

    assert [call for _, call in explore(plan, drive, range(40))["out"]] == [
        (10, {"tick": 10, "a": 6}),
        (20, {"tick": 20}),
        (22, {"tick": 22, "a": 21}),
        (30, {"tick": 30, "b": 30}),
    ]


def test_a_graph_file_names_it_and_gives_its_options():
    seen = []
    with penstock.CalculatorGraph("""
        input_stream: "tick"
        input_stream: "reading"
        node {
          calculator: "PassThroughCalculator"
          input_stream: "TICK:tick"
          input_stream: "READING:reading"
          output_stream: "TICK:tick_out"
          output_stream: "READING:reading_out"
          input_stream_handler {
            input_stream_handler: "FreshReadings"
            options { [penstock_room_sensors.FreshReadingsOptions.ext] { tick: "TICK" max_age: 500000 } }
          }
        }
    """) as graph:
        graph.observe_output_stream("reading_out", lambda _, packet: seen.append(packet.payload))
        graph.start_run()
        graph.add_packet_to_input_stream("reading", penstock.Packet("old", 0))
        graph.add_packet_to_input_stream("reading", penstock.Packet("new", S))
        graph.close_input_stream("reading")
        graph.add_packet_to_input_stream("tick", penstock.Packet(None, S))

    assert seen == ["new"]
    assert [drop.reason for drop in graph.ledger().drops] == [OVERTAKEN]
