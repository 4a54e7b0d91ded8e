"""Rows in `for` loops; `test_running.py` has those of event loops."""

from __future__ import annotations

import concurrent.futures
import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock.errors import (
    FailedPreconditionError,
    GraphRunError,
    InvalidArgumentError,
    NotFoundError,
    PenstockError,
    TimestampOrderError,
    WaitTimeoutError,
)
from penstock.runtime.rows.row_reader import LEFT
from penstock.runtime.runner.runner import Runner
from penstock_testing import InlineExecutor, OneSetInputStreamHandler, calculator, testing_registry

TIMEOUT = 20
Packet = penstock.Packet
Timestamp = penstock.Timestamp
Pass = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Pass", offset=0)
#: Promises nothing about what it does not write.
Mute = calculator(lambda cc: cc.output.add_packet(cc.input.packet), name="Mute")


def count_to(number, name="Count"):
    """Make a source of the numbers below `number`, or without end where that is None."""

    class Count(penstock.Calculator):
        made = 0

        @classmethod
        def get_contract(cls, cc):
            cc.outputs[0].set_any()

        def open(self, cc):
            type(self).made = 0

        def process(self, cc):
            if self.made == number:
                return penstock.STOP
            cc.output.add(self.made, self.made)
            type(self).made += 1
            return None

    Count.__name__ = name
    return Count


def sieve(step, name="Sieve"):
    """Make a calculator that passes each so-manieth packet, and says nothing of the others."""

    def process(cc):
        if cc.input.payload % step == 0:
            cc.output.add_packet(cc.input.packet)

    return calculator(process, name=name)


def put(graph, stream, *stamps):
    for stamp in stamps:
        graph.add_packet_to_input_stream(stream, Packet(f"{stream}{stamp:d}", stamp), timeout=TIMEOUT)


def shape(row):
    """Return a row as its timestamp and the payloads that it has."""
    return int(row.timestamp), {name: packet.payload for name, packet in row.packets.items()}


def collect(rows, found):
    """Add rows to a list in a loop, which may raise."""
    for row in rows:
        found.append(row)  # what came before it raised is looked at


def dropped(graph, stream):
    """Return what the ledger says of the rows of a stream: delivered, dropped, in flight."""
    ledger = graph.ledger()
    assert ledger.adds_up, str(ledger)
    (account,) = [
        reader
        for one in ledger.streams
        if one.name == stream
        for reader in one.readers
        if reader.place == "rows"
    ]
    return account.delivered, account.dropped, account.in_flight


@pytest.fixture
def two(make):
    """A graph that passes two inputs on, its rows, and a run under way."""
    graph = make([(Pass, "x", "a"), (Pass, "y", "b")], "x y", 'output_stream: "a" output_stream: "T:0:b"')
    rows = graph.rows(timeout=TIMEOUT)
    graph.start_run()
    return graph, rows


# --- what a row is ----------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_a_row_has_what_all_streams_have_at_one_time_and_none_where_there_is_nothing(make, threads) -> None:
    graph = make([(Pass, "x", "a"), (Pass, "y", "b")], "x y", threads=threads)
    rows = graph.rows("a", "b")
    graph.start_run()
    put(graph, "x", 1, 3)
    put(graph, "y", 1, 2)
    graph.close_all_input_streams()
    found = list(rows)

    assert [shape(row) for row in found] == [
        (1, {"a": "x1", "b": "y1"}),
        (2, {"b": "y2"}),
        (3, {"a": "x3"}),
    ]
    assert [row["a"] for row in found] == ["x1", None, "x3"]
    assert ["b" in row for row in found] == [True, True, False]
    graph.wait_until_done(TIMEOUT)


def test_a_row_says_what_it_is(two) -> None:
    graph, rows = two
    payload = object()
    graph.add_packet_to_input_stream("x", Packet(payload, 7))
    graph.close_all_input_streams()
    row = rows.next()

    assert repr(row) == "Row(7, 'a')"
    assert isinstance(row.timestamp, Timestamp)
    assert row.stamp == 7
    assert row["a"] is payload
    assert "c" not in row
    assert row != "row"
    with pytest.raises(
        NotFoundError, match=r"the rows are of streams 'a', 'b', not of 'aa' \(did you mean 'a'\?\)"
    ):
        row["aa"]
    assert rows.streams == ("a", "b")
    assert rows.next() is None


def test_rows_are_equal_that_hold_the_same_payloads_at_the_same_time(make) -> None:
    graph = make([(Pass, "x", "a")], "x")
    first, second, other = graph.rows("a"), graph.rows("a"), graph.rows("x")
    graph.start_run()
    put(graph, "x", 1, 2)
    graph.close_all_input_streams()
    ones, same, others = list(first), list(second), list(other)

    assert ones == same
    assert ones[0] != ones[1]
    assert ones != others
    with pytest.raises(TypeError, match="unhashable"):
        hash(ones[0])


def test_a_payload_of_none_is_a_packet_all_the_same(two) -> None:
    graph, rows = two
    graph.add_packet_to_input_stream("x", Packet(None, 1))
    graph.close_all_input_streams()
    row = rows.next()

    assert row["a"] is None
    assert "a" in row
    assert "b" not in row


@pytest.mark.parametrize("stamp", [Timestamp.PRESTREAM, Timestamp.POSTSTREAM, Timestamp.MIN, Timestamp.MAX])
def test_packets_at_the_ends_of_time_make_rows(two, stamp) -> None:
    graph, rows = two
    put(graph, "x", stamp)
    put(graph, "y", 5)
    graph.close_all_input_streams()

    assert [row.timestamp for row in rows] == sorted([stamp, 5])


def test_a_row_comes_when_it_is_settled_on_all_streams_and_not_before(two) -> None:
    graph, rows = two
    put(graph, "x", 5)
    graph.set_input_stream_timestamp_bound("y", 5)
    graph.wait_until_idle(TIMEOUT)
    with pytest.raises(WaitTimeoutError) as caught:
        rows.next(0.01)
    assert str(caught.value).startswith(
        "the next row of 'a', 'b' took longer than 0.01 s\nthe run is running"
    )
    graph.set_input_stream_timestamp_bound("y", 6)

    assert shape(rows.next()) == (5, {"a": "x5"})


def test_a_stream_that_has_ended_is_settled_at_all_later_timestamps(two) -> None:
    graph, rows = two
    put(graph, "x", 5)
    graph.close_input_stream("y")

    assert shape(rows.next()) == (5, {"a": "x5"})


@settings(max_examples=30, deadline=None)
@given(
    feeds=st.lists(st.sets(st.integers(0, 12), max_size=8), min_size=1, max_size=3),
    limit=st.sampled_from([1, 2, -1]),
)
def test_rows_are_the_union_of_all_timestamps_whatever_comes_when(feeds, limit) -> None:
    names = [f"s{i}" for i in range(len(feeds))]
    text = "".join(
        f'input_stream: "i{n}" node {{ calculator: "Pass" input_stream: "i{n}" output_stream: "{n}" }}'
        for n in names
    )
    graph = penstock.CalculatorGraph(text, registry=testing_registry(Pass))
    rows = graph.rows(*names, max_queue_size=limit, timeout=TIMEOUT)
    graph.start_run()
    for name, stamps in zip(names, feeds, strict=True):
        put(graph, f"i{name}", *sorted(stamps))
    graph.close_all_input_streams()
    found = [shape(row) for row in rows]
    graph.wait_until_done(TIMEOUT)

    assert found == [
        (t, {name: f"i{name}{t}" for name, stamps in zip(names, feeds, strict=True) if t in stamps})
        for t in sorted(set().union(*feeds))
    ]
    assert graph.ledger().adds_up


# --- which run, and which streams -------------------------------------------------------------


@pytest.mark.parametrize("threads", [0, 2])
def test_a_loop_over_a_graph_of_sources_is_all_that_it_takes(make, threads) -> None:
    graph = make([(count_to(50), "", "n"), (Pass, "n", "out")], "", 'output_stream: "out"', threads=threads)
    for _ in range(2):
        assert [row["out"] for row in graph.rows()] == list(range(50))
        assert not graph.is_running


def test_the_run_that_a_loop_starts_gets_its_side_packets(make) -> None:
    source = calculator(
        lambda cc: cc.output.add(cc.input_side_packets[0].payload, 0) or penstock.STOP, name="Source"
    )
    graph = make([(source, "", "out", 'input_side_packet: "side"')])

    assert [row["out"] for row in graph.rows("out", side_packets={"side": 17})] == [17]
    rows = graph.rows("out", side_packets={"side": 17})
    with pytest.raises(
        FailedPreconditionError, match=r"but another has been started; give them to start_run\(\)"
    ):
        graph.start_run({"side": 18})
    assert rows.next()["out"] == 17


def test_a_run_that_could_not_start_leaves_the_rows_to_the_next(make) -> None:
    source = calculator(lambda cc: cc.output.add(1, 0) or penstock.STOP, name="Source")
    graph = make([(source, "", "out", 'input_side_packet: "side"')])
    rows = graph.rows("out")
    for _ in range(2):
        with pytest.raises(penstock.GraphConfigError, match="side"):
            rows.next()
    graph.start_run({"side": 1})

    assert [row["out"] for row in rows] == [1]


def test_a_run_that_failed_to_begin_leaves_the_rows_that_it_had_to_the_next(make) -> None:
    class Unwilling(InlineExecutor):
        has_refused = False

        def lend_to(self, work):
            if not self.has_refused:
                self.has_refused = True
                raise OSError("not today")
            return super().lend_to(work)

    graph = make([(Pass, "in", "out")], "in", threads=0)
    graph.set_executor("", Unwilling())
    rows = graph.rows("out", timeout=TIMEOUT)
    with pytest.raises(PenstockError, match="not today"):
        graph.start_run()
    graph.start_run()
    put(graph, "in", 1)
    graph.close_all_input_streams()

    assert [row["out"] for row in rows] == ["in1"]


def test_rows_of_a_graph_with_inputs_need_a_run(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    with pytest.raises(
        FailedPreconditionError,
        match=r"the next row of 'out' needs a run, and the graph has inputs \('in'\) that must be "
        r"fed; call start_run\(\)",
    ):
        next(iter(graph.rows("out")))


def test_rows_of_no_stream_an_unknown_one_or_one_twice_are_refused(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    with pytest.raises(
        InvalidArgumentError, match=r'the graph has no output_stream; say which streams: graph.rows\("a"\)'
    ):
        graph.rows()
    with pytest.raises(NotFoundError, match=r"there is no stream 'outt' \(did you mean 'out'\?\)"):
        graph.rows("outt")
    with pytest.raises(InvalidArgumentError, match="stream 'out' is named twice; name it once"):
        graph.rows("out", "in", "out")
    with pytest.raises(
        InvalidArgumentError, match="max_queue_size 0 of rows: must be at least 1, or -1 for no limit"
    ):
        graph.rows("out", max_queue_size=0)
    assert graph._desk.named == set(), "what was refused is watched in no run"


def test_a_stream_that_goes_out_under_two_tags_is_in_the_rows_once(make) -> None:
    graph = make([(Pass, "in", "out")], "in", 'output_stream: "A:out" output_stream: "B:out"')

    assert graph.rows().streams == graph.output_streams == ("out",)


def test_rows_without_names_leave_out_the_outputs_that_nothing_makes(make) -> None:
    graph = make([(Pass, "in", "out")], "in", 'output_stream: "unmade" output_stream: "out"')

    assert graph.rows().streams == ("out",)


def test_rows_may_join_a_run_so_long_as_nothing_was_added(make) -> None:
    graph = make([(Pass, "in", "mid"), (Pass, "mid", "out"), (Pass, "other", "aside")], "in other")
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    rows = graph.rows("mid", "out", timeout=TIMEOUT)
    put(graph, "in", *range(5))
    assert shape(rows.next()) == (0, {"mid": "in0", "out": "in0"})
    with pytest.raises(
        FailedPreconditionError,
        match="rows of stream 'out' could miss packets: packets have been added to 'in'; ask for "
        r"rows before start_run\(\), or before the first packet is added",
    ):
        graph.rows("out")
    assert graph.rows("aside", timeout=TIMEOUT).streams == ("aside",)
    graph.close_all_input_streams()

    assert len(list(rows)) == 4


def test_rows_of_what_a_source_writes_cannot_join_a_run(make) -> None:
    graph = make([(count_to(3), "", "n"), (Pass, "n", "out")])
    graph.start_run()
    with pytest.raises(FailedPreconditionError, match="could miss packets: source 'Count' runs"):
        graph.rows("out")


def test_rows_cannot_join_where_a_stream_was_written_in_open_or_has_ended(make) -> None:
    early = calculator(name="Early", open=lambda cc: cc.output.add(1, 0))
    graph = make([(early, "in", "out"), (Pass, "in", "other")], "in")
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    with pytest.raises(
        FailedPreconditionError, match=r"rows of stream 'out' could miss .*: 1 packets have been written"
    ):
        graph.rows("out")
    graph.close_all_input_streams()
    graph.wait_until_idle(TIMEOUT)
    with pytest.raises(FailedPreconditionError, match=r"rows of stream 'other' could miss .*: it has ended"):
        graph.rows("other")


def test_rows_of_a_stream_that_nodes_hand_on_directly_see_all_of_it(make) -> None:
    graph = make([(Pass, "in", "a"), (Pass, "a", "b"), (Pass, "b", "c")], "in", threads=1)
    graph.start_run()
    rows = graph.rows("a", "b", timeout=TIMEOUT)
    put(graph, "in", *range(300))
    graph.close_all_input_streams()

    assert [(row["a"], row["b"]) for row in rows] == [(f"in{i}", f"in{i}") for i in range(300)]


def test_rows_read_timestamps_so_a_writer_out_of_order_gets_an_error(make) -> None:
    class Careless(OneSetInputStreamHandler):
        ignores_timestamps = True

    jumbled = calculator(lambda cc: [cc.output.add(0, stamp) for stamp in (5, 3)] and None, name="Jumbled")
    registry = testing_registry(jumbled, Pass)
    registry.add("input stream handler", "Careless", Careless)
    graph = penstock.CalculatorGraph(
        """
        input_stream: "in"
        node { calculator: "Jumbled" input_stream: "in" output_stream: "out" }
        node { calculator: "Pass" input_stream: "out" output_stream: "end"
               input_stream_handler { input_stream_handler: "Careless" } }
        """,
        registry=registry,
    )
    rows = graph.rows("out", timeout=TIMEOUT)
    graph.start_run()
    put(graph, "in", 1)
    with pytest.raises(GraphRunError, match=r"stream 'out': .*3.* behind") as caught:
        list(rows)
    assert isinstance(caught.value.errors[0].__cause__, TimestampOrderError)
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)


def test_rows_to_which_no_reference_is_left_take_part_in_no_run(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    graph.rows("out")
    closed = graph.rows("out")
    closed.close()
    gc.collect()
    graph.start_run()
    put(graph, "in", 1)
    graph.close(TIMEOUT)

    assert [reader.place for stream in graph.ledger().streams for reader in stream.readers] == [
        "node 'Pass' input 0"
    ]


# --- throttling, and never against oneself ----------------------------------------------------


def test_a_source_waits_while_its_rows_are_not_read(make) -> None:
    source = count_to(None)
    graph = make([(source, "", "n"), (Pass, "n", "out")], rest="max_queue_size: 3")
    rows = graph.rows("out", max_queue_size=5, timeout=TIMEOUT)
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    waiting = source.made
    with pytest.raises(
        WaitTimeoutError,
        match=r"nobody reads the rows of stream 'out', which is full \(\d+ packets, limit 5\); "
        r"read on, or close\(\) them",
    ):
        graph.wait_until_done(0)

    assert 5 <= waiting <= 12
    for i in range(40):
        assert rows.next()["out"] == i
    rows.close()
    graph.close(TIMEOUT)


def test_one_thread_may_feed_all_and_then_read_all(make) -> None:
    graph = make([(Pass, "in", "out")], "in", "max_queue_size: 3")
    rows = graph.rows("out", timeout=TIMEOUT)
    graph.start_run()
    put(graph, "in", *range(60))
    assert rows.next()["out"] == "in0"
    put(graph, "in", *range(60, 120))
    graph.close_all_input_streams()

    assert [row["out"] for row in rows] == [f"in{i}" for i in range(1, 120)]


@pytest.mark.parametrize("threads", [0, 2])
def test_one_thread_may_feed_one_and_read_its_row(make, threads) -> None:
    graph = make([(Pass, "in", "out")], "in", threads=threads)
    with graph, graph.rows("out", timeout=TIMEOUT, max_queue_size=1) as rows:
        graph.start_run()
        for i in range(20):
            put(graph, "in", i)
            assert rows.next()["out"] == f"in{i}"


def test_a_thread_that_feeds_waits_for_another_that_reads(make) -> None:
    graph = make([(Pass, "in", "out")], "in", "max_queue_size: 3")
    rows = graph.rows("out", max_queue_size=4, timeout=TIMEOUT)
    graph.start_run()
    fed: list[int] = []

    def feed() -> None:
        for i in range(100):
            put(graph, "in", i)
            fed.append(i)
        graph.close_all_input_streams()

    feeder = threading.Thread(target=feed)
    feeder.start()
    deadline = time.monotonic() + TIMEOUT
    # the queue of the node is full now and then too
    while (
        len(fed) < 4
        or graph.snapshot().throttled != ("in",)
        or graph.ledger().streams[0].readers[0].in_flight
    ):
        assert time.monotonic() < deadline
        graph.wait_until_idle(TIMEOUT)
    in_the_way = len(fed)
    with pytest.raises(WaitTimeoutError, match="adding to throttled stream 'in' took longer than 0"):
        in_another_thread(lambda: graph.add_packet_to_input_stream("in", Packet(0, 1000), timeout=0))

    assert 4 <= in_the_way < 12
    assert len(list(rows)) == 100
    feeder.join(TIMEOUT)
    graph.wait_until_done(TIMEOUT)


def test_a_second_thread_that_reads_is_refused_and_may_read_later(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    rows = graph.rows("out")
    graph.start_run()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        first = pool.submit(rows.next, TIMEOUT)
        deadline = time.monotonic() + TIMEOUT
        while not rows._reading and time.monotonic() < deadline:
            time.sleep(0.001)
        with pytest.raises(FailedPreconditionError, match="another thread or task is waiting for it"):
            rows.next(TIMEOUT)
        graph.add_packet_to_input_stream("in", Packet("a", 0))
        assert first.result(TIMEOUT)["out"] == "a"
    graph.add_packet_to_input_stream("in", Packet("b", 1))
    assert rows.next(TIMEOUT)["out"] == "b"
    rows.close()
    graph.close(TIMEOUT)


def in_another_thread(call):
    """Call something in a thread of its own, and raise the time-out that it raises."""
    raised: list[WaitTimeoutError] = []

    def serve() -> None:
        try:
            call()
        except WaitTimeoutError as error:
            raised.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    thread.join(TIMEOUT)
    if raised:
        raise raised[0]


def test_with_add_if_not_full_an_add_by_the_reader_itself_raises_while_rows_are_full(make) -> None:
    graph = make([(Pass, "in", "out")], "in", threads=0)
    graph.graph_input_stream_add_mode = "ADD_IF_NOT_FULL"
    rows = graph.rows("out", max_queue_size=2, timeout=TIMEOUT)
    graph.start_run()
    for i in range(2):
        put(graph, "in", i)
        graph.wait_until_idle(TIMEOUT)
    with pytest.raises(penstock.PenstockError, match="graph is throttled: input stream 'in'"):
        put(graph, "in", 3)
    rows.close()
    put(graph, "in", 3)


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("limit", [1, 4, None])
def test_streams_of_very_different_rates_never_hold_one_another_up(make, threads, limit) -> None:
    graph = make(
        [(count_to(1000), "", "n"), (sieve(300), "n", "rare"), (Mute, "n", "often")], threads=threads
    )
    found = [shape(row) for row in graph.rows("often", "rare", max_queue_size=limit, timeout=TIMEOUT)]

    assert len(found) == 1000
    assert [t for t, row in found if "rare" in row] == [0, 300, 600, 900]


def test_a_run_that_is_never_idle_does_not_keep_rows_from_what_they_need(make) -> None:
    graph = make(
        [
            (count_to(100), "", "n"),
            (sieve(60), "n", "rare"),
            (calculator(name="Sink"), "ticks"),
            (count_to(None, "Ticks"), "", "ticks"),
        ],
        rest="max_queue_size: 3",
    )
    rows = graph.rows("n", "rare", max_queue_size=2, timeout=TIMEOUT)
    graph.start_run()
    found = [shape(row)[0] for row in rows]
    graph.close(TIMEOUT)

    assert found == list(range(100))


def test_a_node_that_stays_busy_with_something_else_does_not_keep_rows_waiting(pools) -> None:
    class OneByOne(OneSetInputStreamHandler):
        """The node takes what comes on a stream whatever the others have."""

        depends_on_arrival = True

        def sync_sets(self):
            return [[position] for position in range(len(self.inputs))]

    def process(cc):
        if not cc.inputs[0].is_empty() and cc.inputs[0].payload % 8 == 7:
            cc.output.add_packet(cc.inputs[0].packet)

    rare = calculator(process, name="Rare")
    registry = testing_registry(count_to(16), count_to(None, "Ticks"), rare)
    registry.add("input stream handler", "OneByOne", OneByOne)
    graph = penstock.CalculatorGraph(
        """
        node { calculator: "Count" output_stream: "n" }
        node { calculator: "Ticks" output_stream: "ticks" }
        node { calculator: "Rare" input_stream: "n" input_stream: "ticks" output_stream: "rare"
               input_stream_handler { input_stream_handler: "OneByOne" } }
        """,
        registry=registry,
    )
    graph.set_executor("", pools(2))
    rows = graph.rows("n", "rare", max_queue_size=2, timeout=TIMEOUT)
    found = [shape(rows.next())[0] for _ in range(16)]
    graph.close(TIMEOUT)

    assert found == list(range(16))
    assert rows.next() is None


def test_inputs_that_are_fed_one_after_the_other_do_not_wait_for_the_rows(make) -> None:
    graph = make([(Pass, "x", "a"), (Pass, "y", "b")], "x y")
    rows = graph.rows("a", "b", max_queue_size=2, timeout=TIMEOUT)
    graph.start_run()
    fed = threading.Event()

    def feed() -> None:
        put(graph, "x", *range(30))
        put(graph, "y", *range(30))
        graph.close_all_input_streams()
        fed.set()

    thread = threading.Thread(target=feed)
    thread.start()
    found = [shape(row) for row in rows]
    thread.join(TIMEOUT)

    assert fed.is_set()
    assert found == [(i, {"a": f"x{i}", "b": f"y{i}"}) for i in range(30)]


# --- leaving ----------------------------------------------------------------------------------


def leave_by_break(rows):
    for row in rows:
        assert row["out"] == 0
        break


def leave_by_exception(rows):
    def loop():
        for _ in rows:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        loop()


def leave_by_with(rows):
    with rows:
        assert rows.next()["out"] == 0


def leave_by_close(rows):
    assert rows.next()["out"] == 0
    rows.close()
    rows.close()


@pytest.mark.parametrize("leave", [leave_by_break, leave_by_exception, leave_by_with, leave_by_close])
@pytest.mark.parametrize("threads", [0, 2])
def test_rows_that_are_left_throttle_no_longer_and_what_comes_then_is_accounted_for(
    make, leave, threads
) -> None:
    seen: list[object] = []
    graph = make([(count_to(200), "", "n"), (Pass, "n", "out")], threads=threads)
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    rows = graph.rows("out", max_queue_size=3, timeout=TIMEOUT)
    graph.start_run()
    leave(rows)
    graph.wait_until_done(TIMEOUT)

    assert seen == list(range(200))
    assert dropped(graph, "out") == (1, {LEFT: 199}, 0)
    with pytest.raises(
        FailedPreconditionError, match=r"'out': these rows are closed; ask graph.rows\(\) for new ones"
    ):
        next(iter(rows))


def test_the_end_of_a_run_waits_for_the_threads_that_close_its_rows(make, monkeypatch) -> None:
    name, is_awaited = "penstock-leave", threading.Event()
    change, join = Runner.change, threading.Thread.join

    def change_late(runner, *event):
        if threading.current_thread().name == name:
            is_awaited.wait(TIMEOUT)
        return change(runner, *event)

    def note_join(thread, timeout=None):
        if thread.name == name:
            is_awaited.set()
        join(thread, timeout)

    monkeypatch.setattr(Runner, "change", change_late)
    monkeypatch.setattr(threading.Thread, "join", note_join)
    graph = make([(Pass, "x", "a")], "x")
    rows = graph.rows("a", timeout=TIMEOUT)
    graph.start_run()
    put(graph, "x", 1, 2, 3)
    for _ in rows:
        break
    graph.close(TIMEOUT)
    was_awaited = is_awaited.is_set()
    is_awaited.set()

    assert was_awaited
    assert dropped(graph, "a") == (1, {LEFT: 2}, 0)


def test_rows_that_die_unread_are_left(make) -> None:
    graph = make([(count_to(50), "", "n"), (Pass, "n", "out")])
    rows = graph.rows("out", max_queue_size=3)
    graph.start_run()
    del rows
    gc.collect()
    graph.wait_until_done(TIMEOUT)

    assert dropped(graph, "out") == (0, {LEFT: 50}, 0)


def test_rows_that_die_in_a_circle_of_garbage_are_left(make) -> None:
    graph = make([(count_to(50), "", "n"), (Pass, "n", "out")])
    graph.rows("out")
    circle: list[object] = [graph.rows("out", max_queue_size=3)]
    circle.append(circle)
    graph.start_run()
    del circle
    gc.collect()
    graph.wait_until_done(TIMEOUT)

    assert dropped(graph, "out") == (0, {LEFT: 50}, 0)


@pytest.mark.parametrize(
    "how", ["rows = graph.rows('n'); graph.start_run()", "rows = iter(graph.rows('n')); next(rows)"]
)
def test_a_script_that_ends_with_rows_in_hand_ends(how) -> None:
    script = f"""
        import concurrent.futures, penstock
        from penstock_testing import calculator, testing_registry
        Endless = calculator(lambda cc: cc.output.add(1, max(0, cc.output.bound)), name="Endless")
        text = 'node {{ calculator: "Endless" output_stream: "n" }}'
        graph = penstock.CalculatorGraph(text, registry=testing_registry(Endless))
        graph.set_executor("", concurrent.futures.ThreadPoolExecutor(2))
        {how}
        print("left")
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONPATH": str(Path(penstock.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "left\n", "")


@pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="without the interpreter's lock what another thread drops dies on the thread that made it, at "
    "whatever line that is",
)
def test_payloads_of_rows_that_were_left_are_freed_outside_the_lock(make, is_locked) -> None:
    locked: list[bool] = []
    graph = make([(Pass, "in", "out")], "in")

    class Payload:
        def __del__(self) -> None:
            locked.append(is_locked(graph))

    rows = graph.rows("out", timeout=TIMEOUT)
    graph.start_run()
    for i in range(5):
        graph.add_packet_to_input_stream("in", Packet(Payload(), i))
    graph.wait_until_idle(TIMEOUT)
    rows.close()
    for i in range(5, 10):
        graph.add_packet_to_input_stream("in", Packet(Payload(), i))
    graph.close(TIMEOUT)

    assert locked == [False] * 10


def test_rows_that_are_closed_in_another_thread_are_waited_for_no_longer(two, runner_of) -> None:
    graph, rows = two
    raised: list[str] = []

    def read() -> None:
        try:
            rows.next()
        except FailedPreconditionError as error:
            raised.append(str(error))

    thread = threading.Thread(target=read)
    thread.start()
    deadline = time.monotonic() + TIMEOUT
    while not runner_of(graph).waiters:
        assert time.monotonic() < deadline
    rows.close()
    thread.join(2)

    assert raised == ["the next row of 'a', 'b': these rows are closed; ask graph.rows() for new ones"]


def test_rows_can_be_read_after_the_run(make) -> None:
    graph = make([(Pass, "in", "out")], "in")
    rows = graph.rows("out", timeout=TIMEOUT)
    graph.start_run()
    put(graph, "in", 1, 2)
    graph.close(TIMEOUT)
    assert dropped(graph, "out") == (0, {}, 2)

    assert [row["out"] for row in rows] == ["in1", "in2"]
    assert list(rows) == []


# --- waits and failures -----------------------------------------------------------------------


def test_a_loop_that_timed_out_goes_on_where_it_was(two) -> None:
    graph, _ = two
    graph.close(TIMEOUT)
    rows = graph.rows("a", timeout=0.02)
    graph.start_run()
    found: list[penstock.Row] = []
    for stamp in (1, 2, 3):
        put(graph, "x", stamp)
        graph.wait_until_idle(TIMEOUT)
        with pytest.raises(WaitTimeoutError, match="graph input 'x' is open; the application feeds"):
            collect(rows, found)
    graph.close_all_input_streams()

    assert [shape(row)[0] for row in found] == [1, 2, 3]
    assert list(rows) == []


def test_an_interrupted_wait_leaves_the_rows_as_they_were(two, monkeypatch) -> None:
    graph, rows = two
    wait = Runner.wait

    def interrupted(self, *arguments):
        monkeypatch.setattr(Runner, "wait", wait)
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect(rows, [])
    put(graph, "x", 1)
    graph.close_all_input_streams()

    assert [shape(row) for row in rows] == [(1, {"a": "x1"})]


@pytest.mark.parametrize("starts", [True, False])
@pytest.mark.parametrize("threads", [0, 2])
def test_a_failed_run_raises_after_the_rows_that_were_settled(make, starts, threads) -> None:
    def process(cc):
        if cc.input.payload == 3:
            raise ValueError("three")
        cc.output.add_packet(cc.input.packet)

    graph = make(
        [(count_to(9), "", "n"), (calculator(process, name="Fails", offset=0), "n", "out")], threads=threads
    )
    rows = graph.rows("out", timeout=TIMEOUT)
    if not starts:
        graph.start_run()
    found: list[penstock.Row] = []
    with pytest.raises(GraphRunError, match=r"node 'Fails' .* ValueError: three"):
        collect(rows, found)

    assert [row["out"] for row in found] == [0, 1, 2]
    assert rows.next() is None
    assert graph.is_running is not starts


@pytest.mark.parametrize("threads", [0, 2])
def test_a_wait_for_a_row_ends_when_the_run_fails_while_its_stream_has_no_end_yet(
    make, runner_of, threads
) -> None:
    deaf: concurrent.futures.Future[None] = concurrent.futures.Future()
    deaf.set_running_or_notify_cancel()  # the run cannot end before it does
    started = threading.Event()

    def defer(cc):
        started.set()
        return deaf

    def fail(cc):
        deadline = time.monotonic() + TIMEOUT
        assert started.wait(TIMEOUT if threads else 0)
        while threads and not runner_of(graph).waiters:
            assert time.monotonic() < deadline
        raise ValueError("elsewhere")

    graph = make(
        [(calculator(fail, name="Fails"), "in"), (calculator(defer, name="Deaf"), "in", "out")],
        "in",
        threads=threads,
    )
    rows = graph.rows("out", timeout=3)  # a call that was cancelled is given up later
    graph.start_run()
    put(graph, "in", 1)
    with pytest.raises(GraphRunError, match="ValueError: elsewhere"):
        rows.next()
    deaf.set_result(None)
    with pytest.raises(GraphRunError, match="ValueError: elsewhere"):
        graph.wait_until_done(TIMEOUT)


def test_the_end_of_a_run_that_the_rows_started_has_its_time_out_too(make) -> None:
    leave = threading.Event()
    slow = calculator(lambda cc: leave.wait(TIMEOUT) and None, name="Slow")
    graph = make([(count_to(1), "", "n"), (slow, "n")], threads=3)
    rows = graph.rows("n", timeout=0.02)
    assert rows.next(TIMEOUT)["n"] == 0
    for _ in range(2):
        with pytest.raises(WaitTimeoutError, match="node 'Slow' is running"):
            rows.next()
    leave.set()

    assert rows.next(TIMEOUT) is None
    assert not graph.is_running


def test_a_failure_makes_no_row_settled_but_those_beside_an_ended_stream_are(make) -> None:
    graph = make([(Pass, "x", "a"), (Pass, "y", "b"), (Pass, "z", "c")], "x y z")
    rows, beside = graph.rows("a", "b", timeout=TIMEOUT), graph.rows("a", "c", timeout=TIMEOUT)
    graph.start_run()
    put(graph, "x", 1, 2, 3)
    put(graph, "y", 1)
    graph.close_input_stream("z")
    graph.wait_until_idle(TIMEOUT)
    graph.cancel()
    with pytest.raises(GraphRunError):
        graph.wait_until_done(TIMEOUT)
    found: list[penstock.Row] = []
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        collect(rows, found)

    assert [shape(beside.next())[0] for _ in range(3)] == [1, 2, 3]
    with pytest.raises(GraphRunError, match="the run was cancelled"):
        beside.next()
    assert [shape(row) for row in found] == [(1, {"a": "x1", "b": "y1"})]
    assert rows.next() is None
    assert graph.ledger().adds_up
    assert {(drop.stream, drop.count) for drop in graph.ledger().drops} == {("a", 2)}


@pytest.mark.parametrize("reads", ["while it runs", "after its end"])
def test_a_failed_call_settles_no_row_but_what_calls_before_it_settled_is_there(make, reads) -> None:
    def process(cc):
        if cc.input_timestamp == 9:
            cc.output.add("never seen", 9)
            raise ValueError("nine")

    silent = calculator(process, name="Silent", offset=0)
    graph = make([(Pass, "in", "a"), (silent, "in", "b")], "in")
    rows, found = graph.rows("a", "b", timeout=TIMEOUT), []
    graph.start_run()
    put(graph, "in", 5)
    graph.wait_until_idle(TIMEOUT)
    if reads == "while it runs":
        found.append(rows.next())
    put(graph, "in", 9)
    with pytest.raises(GraphRunError, match="ValueError: nine"):
        graph.wait_until_done(TIMEOUT)
    with pytest.raises(GraphRunError, match="ValueError: nine"):
        collect(rows, found)

    assert [shape(row) for row in found] == [(5, {"a": "in5"})]


def test_rows_are_refused_inside_a_step_and_an_observer(make) -> None:
    raised: list[str] = []
    holder: dict[str, object] = {}
    one_reader_at_a_time = threading.Lock()  # the observer is called on another thread

    def read(*_):
        with one_reader_at_a_time:
            for call in (holder["rows"].next, lambda: next(iter(holder["rows"]))):
                try:
                    call()
                except FailedPreconditionError as error:
                    raised.append(str(error))

    graph = make([(calculator(read, name="Reads"), "in")], "in", threads=1)
    graph.observe_output_stream("in", read)
    holder["rows"] = graph.rows("in", timeout=0.5)
    graph.start_run()
    put(graph, "in", 1)
    graph.wait_until_idle(TIMEOUT)

    assert len(raised) == 4
    assert all(
        text.startswith(
            "the next row of 'in' was called from inside this graph's own step, observer or event loop"
        )
        for text in raised
    )
    assert holder["rows"].next()["in"] == "in1"
