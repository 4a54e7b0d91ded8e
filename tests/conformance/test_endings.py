"""Scenarios 51-55: STOP, the end of sources, cancelling, and errors in open."""

from __future__ import annotations

import penstock
from penstock import STOP, CalculatorError, StatusCode, Timestamp
from penstock_testing import calculator


def test_s51_stop_from_a_sink_ends_an_endless_source_and_the_run_is_well(bench):
    bench.during = {5: lambda: STOP}
    bench.run(bench.net("", "Endless -> out", "Seen out"), watch=["out"])

    assert bench.graph.counters["Endless-closes"] == 1
    assert len(bench.seen["out"]) >= 5
    assert bench.seen["out"] == [(i, i) for i in range(len(bench.seen["out"]))]
    assert bench.calls[-1] == "close"


class Timed(penstock.Calculator):
    """Writes down the input timestamp of each call in its side packet, a list."""

    @classmethod
    def get_contract(cls, cc):
        for port in (*cc.inputs, *cc.outputs):
            port.set_any()
        cc.input_side_packets[0].set(list)

    def open(self, cc):
        self.times = cc.input_side_packets[0].payload
        self.times.append(("open", cc.input_timestamp))

    def process(self, cc):
        self.times.append(("process", cc.input_timestamp))
        if len(cc.inputs):
            return None
        cc.output.add("x", 42)
        return STOP

    def close(self, cc):
        self.times.append(("close", cc.input_timestamp))


def test_s52_the_input_timestamp_tells_which_method_of_a_source_or_a_sink_runs(bench):
    times = {"of_source": [], "of_sink": []}
    bench.run(
        bench.net(
            "", 'Timed -> out | input_side_packet: "of_source"', 'Timed out | input_side_packet: "of_sink"'
        ),
        Timed,
        sides=times,
    )

    begin, end = ("open", Timestamp.UNSTARTED), ("close", Timestamp.DONE)
    assert times == {"of_source": [begin, ("process", 0), end], "of_sink": [begin, ("process", 42), end]}


def test_s53_closing_all_sources_ends_an_endless_one_and_delivers_what_close_writes(bench):
    events = calculator(
        open=lambda cc: cc.output.add(1, 1), close=lambda cc: cc.output.add(2, 2), name="Events"
    )
    bench.start(bench.net("in", "Endless -> out", "Events out in -> events"), events, watch=["events"])
    bench.graph.close_all_packet_sources()
    bench.done()

    assert bench.seen["events"] == [(1, 1), (2, 2)]
    assert bench.graph.counters["Endless-closes"] == 1


def test_s54_cancel_ends_a_run_whose_inputs_are_open(bench):
    bench.start(bench.net("in", "Seen in"))
    bench.add_one_by_one("in", 1)
    bench.graph.cancel()

    assert bench.failure().code is StatusCode.CANCELLED
    assert bench.calls == ["1: in=1", "close"]


def test_s54_cancel_ends_a_paused_run_with_queued_work(bench):
    bench.start(bench.net("in", "Seen in"))
    bench.idle()
    bench.graph.pause()
    bench.add("in", 1, 2, 3)
    bench.graph.cancel()
    bench.graph.pause()

    assert bench.failure().code is StatusCode.CANCELLED
    assert bench.calls[-1] == "close"
    assert not bench.graph.has_error()


class Careful(penstock.Calculator):
    """Writes down its calls in CALLS, a list; open fails in the node "middle" where FAILS says so."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_any()
        cc.input_side_packets["CALLS"].set(list)
        cc.input_side_packets["FAILS"].set(bool)

    def open(self, cc):
        self.calls = cc.input_side_packets["CALLS"].payload
        self.calls.append((cc.node_name, "open"))
        if cc.node_name == "middle" and cc.input_side_packets["FAILS"].payload:
            raise OSError("cannot open the middle")

    def process(self, cc):
        self.calls.append((cc.node_name, "process"))
        cc.output.add_packet(cc.input.packet)

    def close(self, cc):
        self.calls.append((cc.node_name, "close"))


def test_s55_when_open_fails_the_opened_nodes_are_closed_and_the_next_run_is_well(bench):
    sides = 'input_side_packet: "CALLS:calls" input_side_packet: "FAILS:fails"'
    graph = bench.load(
        bench.net(
            "in",
            f"Careful in -> a | name: 'first' {sides}",
            f"Careful a -> b | name: 'middle' {sides}",
            f"Careful b -> c | name: 'last' {sides}",
        ),
        Careful,
        watch=["c"],
    )
    calls = []
    graph.start_run({"calls": calls, "fails": True})

    error = bench.failure()

    assert calls == [("first", "open"), ("middle", "open"), ("first", "close")]
    [cause] = error.errors
    assert isinstance(cause, CalculatorError)
    assert (cause.node, cause.method) == ("middle", "open")
    assert "node 'middle' (Careful): open() failed: OSError: cannot open the middle" in str(error)

    calls.clear()
    graph.start_run({"calls": calls, "fails": False})
    bench.add("in", 1)
    bench.end()
    assert bench.seen["c"] == [(1, 1)]
    assert sorted(calls) == sorted(
        (name, method) for name in ("first", "middle", "last") for method in ("open", "process", "close")
    )


def test_s55_what_was_written_before_an_error_in_open_reaches_nobody(bench):
    def fail(cc):
        cc.output.add("lost", 1)
        raise RuntimeError("no")

    bench.start(bench.net("", "Fails -> out", "Seen out"), calculator(open=fail, name="Fails"), watch=["out"])

    assert bench.failure().node == "Fails"
    assert bench.calls == []
    assert bench.seen["out"] == []
