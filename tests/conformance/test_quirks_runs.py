"""What is easily got wrong about the scheduler and the life of a run; numbers as in `test_table.py`."""

from __future__ import annotations

import threading

import pytest

import penstock
from penstock import STOP, GraphConfigError, StatusCode
from penstock.errors import StreamClosedError
from penstock_testing import calculator


def telling(log):
    """Return a calculator that forwards packets and writes (method, node's name, payload) in a list."""

    class Tells(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            for port in (*cc.inputs, *cc.outputs):
                port.set_any()

        def open(self, cc):
            log.append(("open", cc.node_name, None))

        def process(self, cc):
            log.append(("process", cc.node_name, cc.inputs[0].payload))
            for output in cc.outputs:
                output.add_packet(cc.inputs[0].packet)

        def close(self, cc):
            log.append(("close", cc.node_name, None))

    return Tells


def test_quirk25_nodes_open_in_order_and_then_those_nearest_to_the_end_run_first(one_thread):
    log = []
    one_thread.start(
        one_thread.net(
            "in", "Tells in -> a | name: 'first'", "Tells a -> b | name: 'second'", "Tells b | name: 'third'"
        ),
        telling(log),
    )
    one_thread.graph.pause()
    one_thread.add("in", 1, 2)
    one_thread.graph.resume()
    one_thread.end()

    names = ["first", "second", "third"]
    assert [name for method, name, _ in log if method == "open"] == names
    assert [entry[1:] for entry in log if entry[0] == "process"] == [(n, p) for p in (1, 2) for n in names]
    assert [name for method, name, _ in log if method == "close"] == names


def test_quirk26_the_limit_is_a_trigger_and_a_source_may_overfill_a_queue(bench):
    def write_five(cc):
        for _ in range(5):
            cc.output.add("x", self_made[0])
            self_made[0] += 1
        return STOP if self_made[0] == 20 else None

    self_made = [0]
    bench.start(
        bench.net("in", "Fives -> out", "Merge out in -> joined", more="max_queue_size: 2\n"),
        calculator(write_five, name="Fives"),
        watch=["joined"],
    )
    bench.idle()
    assert bench.stream("out").queued == 20
    bench.end()
    assert len(bench.seen["joined"]) == 20


@pytest.mark.parametrize(
    ("text", "limit"), [("", 100), ("max_queue_size: 0\n", 100), ("max_queue_size: -1\n", -1)]
)
def test_quirk26_a_limit_of_zero_is_the_default(bench, text, limit):
    assert bench.load(bench.net("in", "Pass in -> out", more=text)).max_queue_size == limit


def test_quirk28_a_graph_is_idle_while_its_sources_are_throttled(bench):
    graph = bench.load(bench.net("", "Endless -> out"))
    poller = graph.add_output_stream_poller("out")
    poller.set_max_queue_size(3)
    graph.start_run()
    bench.idle()

    assert poller.queue_size() == 3
    assert graph.snapshot().throttled == ("Endless",)
    assert [poller.next(30).payload for _ in range(7)] == list(range(7))
    graph.close_all_packet_sources()
    while poller.next(30) is not None:
        pass
    bench.done()
    assert graph.counters["Endless-closes"] == 1


def fail(cc):
    raise ValueError("in process")


def test_quirk28_waiting_until_idle_tells_of_an_error_and_leaves_it_to_the_end(bench):
    bench.start(bench.net("in", "Fails in"), calculator(fail, name="Fails"))
    bench.add("in", 1)

    assert "in process" in str(bench.failure(bench.idle))
    assert bench.graph.has_error()
    assert "in process" in str(bench.failure())
    assert not bench.graph.has_error()


def test_quirk29_after_an_error_open_nodes_close_and_what_they_write_is_discarded(bench):
    says_bye = calculator(name="SaysBye", close=lambda cc: cc.output.add("bye", 99))
    bench.start(
        bench.net("in", "Fails in", "SaysBye in -> out", "Seen in"),
        calculator(fail, name="Fails"),
        says_bye,
        watch=["out"],
    )
    bench.add("in", 1)

    bench.failure()

    assert bench.seen["out"] == []
    assert bench.calls[-1] == "close"


def test_quirk29_an_error_in_close_is_an_error_of_the_run_even_after_another(bench):
    """Decision 16: the reference ignores errors of the last closes."""

    def fail_again(cc):
        raise RuntimeError("in close")

    bench.start(bench.net("in", "Fails in"), calculator(fail, name="Fails", close=fail_again))
    bench.add("in", 1)

    error = bench.failure()

    assert [one.method for one in error.errors] == ["process", "close"]
    assert "in process" in str(error)
    assert "in close" in str(error)


def test_quirk30_stop_from_a_node_with_inputs_closes_the_graph_inputs_and_lets_the_rest_drain(bench):
    """Decision 15: in the reference the graph inputs stay open."""
    bench.during = {2: lambda: STOP}
    bench.start(bench.net("in", "Seen in | name: 'stops'", "Pass in -> out"), watch=["out"])
    bench.idle()
    bench.graph.pause()
    bench.add("in", 1, 2, 3)
    bench.graph.resume()
    bench.idle()

    with pytest.raises(StreamClosedError, match="the graph is stopping: node 'stops' returned STOP"):
        bench.add("in", 4)
    bench.done()
    assert bench.calls == ["1: in=1", "2: in=2", "3: in=3", "close"]
    assert bench.seen["out"] == [(t, t) for t in (1, 2, 3)]


def cycle(bench):
    back = 'input_stream_info { tag_index: ":1" back_edge: true }'
    return bench.net("in", f"Loops in back -> there | name: 'a' {back}", "Loops there -> back | name: 'b'")


def test_quirk31_32_nodes_of_a_cycle_that_wait_for_each_other_are_closed_upstream_first(bench):
    """Decision 16: within the run, so that what they write is delivered."""
    log = []

    def close(cc):
        log.append(cc.node_name)
        cc.output.add(f"bye of {cc.node_name}", 99)

    loops = calculator(name="Loops", close=close)
    bench.start(cycle(bench), loops, watch=["there", "back"])
    bench.close("in")
    bench.done()

    assert log == ["a", "b"]
    assert bench.seen == {"there": [(99, "bye of a")], "back": [(99, "bye of b")]}


def test_quirk33_a_cancelled_run_says_so(bench):
    bench.start(bench.net("in", "Pass in -> out"))
    bench.graph.cancel()

    error = bench.failure()

    assert error.code is StatusCode.CANCELLED
    assert "the run was cancelled" in str(error)


@pytest.mark.parametrize(
    ("second", "code"), [(ValueError, StatusCode.INVALID_ARGUMENT), (LookupError, StatusCode.UNKNOWN)]
)
def test_quirk34_errors_of_several_codes_have_none_in_common(bench, second, code):
    def fail_otherwise(cc):
        raise second("in close")

    bench.start(bench.net("in", "Fails in"), calculator(fail, name="Fails", close=fail_otherwise))
    bench.add("in", 1)

    assert bench.failure().code is code


@pytest.mark.parametrize(
    ("text", "is_mine"),
    [("", False), ("num_threads: 0\n", False), ('executor { type: "ApplicationThreadExecutor" }\n', True)],
)
def test_quirk35_no_number_of_threads_is_not_the_application_s_own(pool, text, is_mine):
    threads = []
    here = calculator(lambda cc: threads.append(threading.get_ident()), name="Here")
    pool.start(pool.net("in", "Here in", more=text), here)
    pool.add("in", 1)
    pool.end()

    assert [thread == threading.get_ident() for thread in threads] == [is_mine]


def test_quirk37_a_node_that_never_gets_its_side_packet_never_opens_and_the_run_is_well(bench):
    log = []
    bench.start(
        bench.net(
            "in",
            'SetsNothing in | output_side_packet: "never"',
            'Tells in -> out | input_side_packet: "never"',
            "Pass in -> same",
        ),
        calculator(name="SetsNothing"),
        type("Tells", (telling(log),), {"get_contract": classmethod(any_ports)}),
        watch=["out", "same"],
    )
    bench.add("in", 1)
    bench.end()

    assert log == []
    assert bench.seen == {"out": [], "same": [(1, 1)]}


def any_ports(cls, cc):
    for port in (*cc.inputs, *cc.outputs, *cc.input_side_packets):
        port.set_any()


def test_quirk39_an_observer_that_failed_works_again_in_the_next_run(bench):
    """Decision 7: the reference never calls it again."""
    graph = bench.load(bench.net("in", "Pass in -> out"))
    seen = []

    def observe(_, packet):
        seen.append(packet.payload)
        if packet.payload == "bad":
            raise ValueError("bad")

    graph.observe_output_stream("out", observe)
    graph.start_run()
    bench.add("in", (1, "bad"))
    bench.failure()
    graph.start_run()
    bench.add("in", (1, "good"))
    bench.end()

    assert seen == ["bad", "good"]


def test_quirk39_settled_timestamps_are_observed_anew_in_each_run(bench):
    bench.load(bench.net("in", "Pass in -> out"), watch=["out"], bounds=True)
    for base in (1000, 0):
        bench.seen["out"].clear()
        bench.graph.start_run()
        bench.bound("in", base + 5)
        bench.end()
        assert bench.seen["out"] == [(base + 4, None)]


def test_quirk40_a_run_that_lacks_a_side_packet_does_not_start_and_can_be_started_with_it(bench):
    graph = bench.load(bench.net("", 'Emit -> out | input_side_packet: "packets"'), watch=["out"])

    with pytest.raises(GraphConfigError, match="'packets'") as caught:
        graph.start_run()
    assert caught.value.code is StatusCode.INVALID_ARGUMENT
    assert not graph.has_error()

    graph.start_run({"packets": [("x", 0)]})
    bench.done()
    assert bench.seen["out"] == [(0, "x")]
