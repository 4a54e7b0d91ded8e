"""What is easily got wrong about input policies and parallel calls; numbers as in `test_table.py`."""

from __future__ import annotations

import logging
import threading

import pytest

from penstock import STOP, GraphConfigError
from penstock_testing import calculator

#: A calculator that asks for the immediate policy: a call for each packet, in any order.
Wanting = calculator(
    lambda cc: cc.counter("calls").increment(),
    name="Wanting",
    contract=lambda cc: cc.set_input_stream_handler("ImmediateInputStreamHandler"),
)


def calls(bench):
    bench.idle()
    bench.add("b", 2)
    bench.add("a", 1)
    bench.add("b", 3)
    bench.idle()
    return bench.graph.counters.get("Wanting-calls", 0)


def test_quirk16_the_contract_chooses_the_policy_where_the_graph_does_not(bench):
    bench.start(bench.net("a b", "Wanting a b"), Wanting)

    assert calls(bench) == 3
    bench.end()


@pytest.mark.parametrize("place", ["graph", "node"])
def test_quirk16_the_graph_s_choice_goes_before_the_contract_s_with_a_warning(bench, caplog, place):
    """Decision 17: the warning; the reference replaces it in silence."""
    handler = bench.handler("Default")
    text = bench.net("a b", f"Wanting a b | {handler if place == 'node' else ''}")
    with caplog.at_level(logging.WARNING, "penstock"):
        bench.start(text + (handler if place == "graph" else ""), Wanting)

    assert "'ImmediateInputStreamHandler'" in caplog.text
    assert "'DefaultInputStreamHandler'" in caplog.text
    assert calls(bench) == 1
    bench.end()


def test_quirk17_the_end_of_each_stream_is_a_call_of_its_own(bench):
    bench.start(bench.net("a b", f"Seen a b | {bench.handler('Immediate')}"))
    bench.add_one_by_one("a", 3)
    bench.add_one_by_one("b", 1)
    bench.bound("b", 8)
    bench.close("a")

    assert bench.calls == ["3: a=3 b@unstarted", "1: a@3 b=1", "8: a@max b@7"]
    bench.end()


def test_quirk18_the_last_stream_in_the_order_of_tags_controls_a_mux(bench):
    mux = bench.handler("Mux")
    bench.start(bench.net("c x y", f"Seen Z:c A:0:x A:1:y | {mux}"))
    bench.add("x", (1, "x1"), (2, "x2"))
    bench.add("y", (1, "y1"), (2, "y2"))
    bench.add_one_by_one("c", (1, 1), (2, 0))

    assert bench.calls == ["1: x@unset y=y1 c=1", "2: x=x2 y@unset c=0"]
    assert bench.drops() == [("x", "not selected", 1), ("y", "not selected", 1)]
    bench.end()


def test_quirk19_a_barrier_drops_what_waits_when_a_stream_ends(bench):
    bench.start(bench.net("a b", f"Seen a b | {bench.handler('Barrier')}"))
    bench.add_one_by_one("a", 5, 4, 3)
    bench.add_one_by_one("b", 1)
    bench.close("b")

    assert bench.calls == ["1: a=5@5 b=1", "close"]
    assert bench.drops() == [("a", "the reader had closed", 2)]
    bench.end()


def test_quirk20_fixed_size_forgets_between_runs_what_it_has_dropped(bench):
    """Decision 9: in the reference the second run loses its packets."""
    graph = bench.load(bench.net("in", f"SeenPass in -> out | {bench.handler('FixedSize')}"), watch=["out"])
    for base in (1000, 0):
        bench.seen["out"].clear()
        bench.during = {1: lambda base=base: bench.add("in", *range(base + 1, base + 5))}
        graph.start_run()
        bench.add_one_by_one("in", base)
        bench.end()
        assert [t for t, _ in bench.seen["out"]] == [base, base + 4]


def test_quirk21_two_sets_that_are_ready_together_are_both_processed_with_bounds_too(bench):
    fan = calculator(
        lambda cc: [output.add("x", cc.input_timestamp) for output in cc.outputs] and None, name="Fan"
    )
    sets = 'sync_set { tag_index: ":0" } sync_set { tag_index: ":1" }'
    bench.start(bench.net("in", "Fan in -> a b", f"SeenBounds a b | {bench.handler('SyncSet', sets)}"), fan)
    bench.add_one_by_one("in", 5)

    assert bench.calls == ["5: a=x b@4", "5: a@5 b=x"]
    bench.end()


def test_quirk22_an_align_node_whose_base_ends_first_is_closed_by_the_end_of_the_run(bench):
    align = bench.handler("TimestampAlign", 'timestamp_base_tag_index: ":0"')
    bench.start(bench.net("a b", f"Seen a b | name: 'n' {align}"))
    bench.add_one_by_one("a", 1)
    bench.close("a")
    assert bench.node("n").state == "opened"
    bench.add_one_by_one("b", 1)
    assert bench.node("n").state == "opened"
    bench.end()

    assert bench.calls == ["1: a=1 b@unset", "close"]


def test_quirk23_stop_within_a_batch_drops_the_rest_of_it(bench):
    bench.during = {2: lambda: STOP}
    bench.start(bench.net("in", f"Seen in | {bench.handler('Default', 'batch_size: 3')}"))
    bench.add("in", 1, 2, 3)
    bench.done()

    assert bench.calls == ["1: in=1", "2: in=2", "close"]


def test_quirk23_an_error_within_a_batch_drops_the_rest_of_it(bench):
    def fail():
        raise ValueError("the second")

    bench.during = {2: fail}
    bench.start(bench.net("in", f"Seen in | {bench.handler('Default', 'batch_size: 3')}"))
    bench.add("in", 1, 2, 3)

    error = bench.failure()

    assert "process() failed at 2: ValueError: the second" in str(error)
    assert bench.calls == ["1: in=1", "2: in=2", "close"]


def test_quirk24_parallel_calls_share_the_calculator_and_a_failing_one_holds_later_outputs_back(pool):
    begun = threading.Barrier(2)
    second_is_over = threading.Event()
    objects = []

    class Parallel(calculator(offset=0)):
        def process(self, cc):
            objects.append(self)
            begun.wait(30)
            if cc.input_timestamp == 1:
                assert second_is_over.wait(30)
                raise ValueError("the first")
            cc.output.add("lost", cc.input_timestamp)
            second_is_over.set()

    pool.start(
        pool.net("in", "Parallel in -> out | max_in_flight: 2", more="num_threads: 3\n"),
        Parallel,
        watch=["out"],
    )
    pool.add("in", 1, 2)

    assert "the first" in str(pool.failure())
    assert pool.seen["out"] == []
    assert objects[0] is objects[1]


def test_quirk24_parallel_calls_of_a_source_are_one_with_a_warning(bench, caplog):
    """Decision 10: the reference loses the outputs."""
    with caplog.at_level(logging.WARNING, "penstock"):
        bench.run(
            bench.net("", 'Emit -> out | max_in_flight: 4 input_side_packet: "packets"'),
            sides={"packets": [(i, i) for i in range(9)]},
            watch=["out"],
        )

    assert "max_in_flight 4 counts as 1" in caplog.text
    assert bench.seen["out"] == [(i, i) for i in range(9)]


def test_quirk24_parallel_calls_under_a_policy_that_repeats_timestamps_each_get_their_own(bench):
    """Decision 3: the reference aborts when two calls of one node have the same timestamp."""
    fan = calculator(
        lambda cc: [output.add("x", cc.input_timestamp) for output in cc.outputs] and None, name="Fan"
    )
    sets = 'sync_set { tag_index: ":0" } sync_set { tag_index: ":1" }'
    bench.start(
        bench.net("in", "Fan in -> a b", f"Counting a b | max_in_flight: 4 {bench.handler('SyncSet', sets)}"),
        fan,
    )
    bench.add_one_by_one("in", 5)
    bench.end()

    assert bench.graph.counters == {"Counting-calls": 2}


def test_quirk62_a_policy_that_nobody_provides_is_refused_wherever_it_stands(bench):
    with pytest.raises(GraphConfigError, match="NoSuchInputStreamHandler"):
        bench.load(bench.net("in", "Pass in -> out", more=bench.handler("NoSuch")))


@pytest.mark.parametrize("name", ["InOrderOutputStreamHandler", "NoSuchOutputStreamHandler"])
def test_quirk62_the_graph_s_output_stream_handler_is_honoured(bench, name):
    """Decision 10: the reference accepts any name there and does nothing."""
    more = f'output_stream_handler {{ output_stream_handler: "{name}" }}\n'
    text = bench.net("in", "Pass in -> out", more=more)
    if name.startswith("NoSuch"):
        with pytest.raises(GraphConfigError, match=name):
            bench.load(text)
        return
    bench.start(text, watch=["out"])
    bench.add("in", 1)
    bench.end()
    assert bench.seen["out"] == [(1, 1)]
