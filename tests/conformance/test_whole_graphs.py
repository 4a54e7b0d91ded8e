"""Scenarios without a number: parallel calls, observers, summaries, cycles with bounds, what stays alive."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from penstock import STOP, Timestamp
from penstock_testing import calculator


def test_extra_outputs_of_parallel_calls_leave_in_order(pool):
    """Of each pair of calls the second ends first, so that order cannot come about by itself."""

    def in_pairs(name):
        over = [threading.Event() for _ in range(100)]

        def add_one(cc):
            t = cc.input_timestamp
            if t % 2 == 0:
                assert over[t + 1].wait(30)
            cc.output.add(cc.input.payload + 1, t)
            over[t].set()

        return calculator(add_one, name=name, offset=0)

    pool.start(
        pool.net(
            "in",
            "First in -> half | max_in_flight: 5",
            "Second half -> out | max_in_flight: 5",
            more="num_threads: 12\n",
        ),
        in_pairs("First"),
        in_pairs("Second"),
        watch=["out"],
    )
    pool.add("in", *range(100))
    pool.end()

    assert pool.seen["out"] == [(t, t + 2) for t in range(100)]


def test_extra_an_observer_that_fails_ends_the_run_and_is_not_called_again(bench):
    seen = []

    def fail_at_the_sixth(_, packet):
        seen.append(packet.payload)
        if len(seen) == 6:
            raise RuntimeError("five were enough")

    graph = bench.load(bench.net("", "Endless -> out"))
    graph.observe_output_stream("out", fail_at_the_sixth)
    graph.start_run()

    error = bench.failure()

    assert "five were enough" in str(error)
    assert seen == [0, 1, 2, 3, 4, 5]


def test_extra_an_observer_of_all_streams_sees_the_same_in_every_run(bench):
    bench.load(bench.net("in", "Pass in -> half", "Merge half in -> out"), watch=["in", "half", "out"])
    for _ in range(3):
        for packets in bench.seen.values():
            packets.clear()
        bench.graph.start_run()
        bench.add("in", *range(5))
        bench.end()
        assert bench.seen == {
            "in": [(t, t) for t in range(5)],
            "half": [(t, t) for t in range(5)],
            "out": [(t, f"{t}: {t} {t}") for t in range(5)],
        }


@pytest.mark.parametrize(
    ("at", "calls"),
    [
        (None, ["max: in@max"]),
        (5, ["5: in=x", "max: in@max"]),
        (Timestamp.PRESTREAM, ["prestream: in=x", "max: in@max"]),
        (Timestamp.MAX, ["max: in=x"]),
        (Timestamp.POSTSTREAM, ["poststream: in=x"]),
    ],
)
@pytest.mark.parametrize("end", ["close_all_input_streams", "close_all_packet_sources"])
def test_extra_a_node_that_wants_bounds_at_once_hears_of_the_end_once(bench, at, calls, end):
    bench.start(bench.net("in", f"SeenBounds in | {bench.handler('Immediate')}"))
    if at is not None:
        bench.add_one_by_one("in", (at, "x"))
    getattr(bench.graph, end)()
    bench.done()

    assert bench.calls == [*calls, "close"]


def test_extra_a_summary_after_a_source_is_written_within_the_run(bench):
    summary = calculator(
        lambda cc: cc.output.add("summary", Timestamp.MAX) if cc.input.is_done() else None,
        name="Summary",
        process_bounds=True,
        contract=lambda cc: cc.set_input_stream_handler("ImmediateInputStreamHandler"),
    )
    bench.run(
        bench.net(
            "", 'Emit -> out | input_side_packet: "packets"', "Summary out -> summary", "Pass summary -> end"
        ),
        summary,
        sides={"packets": [(i, i) for i in range(3)]},
        watch=["end"],
    )

    assert bench.seen["end"] == [(Timestamp.MAX, "summary")]


def test_extra_a_bound_goes_round_a_cycle_with_an_offset(bench):
    """Only the first packet comes from outside; later ones come round, each once a bound lets it."""
    again = calculator(
        lambda cc: cc.output.add_packet(cc.input.packet.at(cc.input_timestamp + 20)),
        name="Again",
        open=lambda cc: cc.output.add(0, 0),
        offset=20,
    )
    total = calculator(
        lambda cc: cc.output.add(sum(p.payload for p in cc.inputs if not p.is_empty()), cc.input_timestamp),
        name="Total",
        offset=0,
    )
    back = 'input_stream_info { tag_index: ":1" back_edge: true }'
    bench.start(
        bench.net("in", f"Total in old -> sum | {back} {bench.handler('EarlyClose')}", "Again sum -> old"),
        total,
        again,
        watch=["sum"],
    )
    bench.add_one_by_one("in", (0, 1))
    for count in range(1, 101):
        assert len(bench.seen["sum"]) == count
        bench.bound("in", 20 * count + 1)
    bench.end()

    assert bench.seen["sum"] == [(20 * i, 1) for i in range(101)]


def test_extra_inputs_are_empty_in_open_though_a_node_above_has_written_in_its_own(bench):
    met = []
    looks = calculator(
        open=lambda cc: met.append((cc.input.is_empty(), cc.input.packet.timestamp)), name="Looks"
    )
    early = calculator(lambda cc: STOP, name="Early", open=lambda cc: cc.output.add("x", 0))
    bench.run(bench.net("", "Early -> out", "Looks out"), early, looks)

    assert met == [(True, Timestamp.UNSET)]


def test_extra_payloads_die_when_all_nodes_are_done_with_them(bench):
    class Payload:
        """Something that can be watched."""

    bench.start(bench.net("in", "Pass in -> a", "Pass a -> b", "Counting a b"))
    payloads = [Payload() for _ in range(3)]
    alive = [weakref.ref(payload) for payload in payloads]
    bench.add("in", *enumerate(payloads))
    del payloads
    bench.idle()
    gc.collect()

    assert [ref() for ref in alive] == [None, None, None]
    bench.end()
