"""Conformance scenarios on whole runs: throttling, stopping, cancelling, errors, side packets."""

from __future__ import annotations

import pytest

import penstock
from penstock import STOP, CalculatorError, Packet, StatusCode, Timestamp
from penstock.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    StreamClosedError,
    UnavailableError,
)


class AnyPorts(penstock.Calculator):
    """Accepts anything everywhere; subclasses do the work."""

    @classmethod
    def get_contract(cls, cc) -> None:
        for ports in (cc.inputs, cc.outputs, cc.input_side_packets, cc.output_side_packets):
            for port in ports:
                port.set_any()

    def process(self, cc):
        """Take what comes."""


def passing(*links, more=""):
    """Return a chain of pass-through nodes, one for each (input, output)."""
    return "".join(
        f'node {{ calculator: "PassThroughCalculator" input_stream: "{a}" output_stream: "{b}" {more} }}\n'
        for a, b in links
    )


class CountSrc(AnyPorts):
    """Writes 1 at 0, 2 at 1, ... up to 5 at 4, and stops in the last of these calls."""

    def open(self, cc):
        self.sent = 0

    def process(self, cc):
        cc.output.add(self.sent + 1, self.sent)
        self.sent += 1
        return STOP if self.sent == 5 else None


class Endless(AnyPorts):
    """Never stops by itself."""

    closed_at: list

    def open(self, cc):
        self.sent = 0

    def process(self, cc):
        cc.output.add(self.sent, self.sent)
        self.sent += 1

    def close(self, cc):
        self.closed_at.append(cc.input_timestamp)


@pytest.fixture
def endless():
    return type("Endless", (Endless,), {"closed_at": []})


class UnitDelay(AnyPorts):
    def open(self, cc):
        cc.output.add(0, 0)

    def process(self, cc):
        packet = cc.input.packet
        cc.output.add_packet(packet.at(packet.timestamp.next_allowed_in_stream()))


class Merge(AnyPorts):
    """Writes what came at which time as text."""

    def process(self, cc):
        parts = ["empty" if port.is_empty() else str(port.payload) for port in cc.inputs]
        cc.output.add(f"Timestamp({cc.input_timestamp}) {' '.join(parts)}", cc.input_timestamp)


DELAYED = """
max_queue_size: 1
node { calculator: "CountSrc" output_stream: "ints" }
node { calculator: "UnitDelay" input_stream: "ints" output_stream: "delayed" }
"""


def test_a_packet_written_in_open_does_not_block_a_queue_of_one(bench):
    bench.load(
        DELAYED + 'node { calculator: "PassThroughCalculator" input_stream: "delayed" output_stream: "out" }',
        CountSrc,
        UnitDelay,
        watch=["out"],
    )
    bench.graph.start_run()
    bench.done()

    assert bench.seen["out"] == [(i, i) for i in range(6)]


def test_a_join_of_a_stream_with_its_delay_does_not_block_queues_of_one(bench):
    bench.load(
        DELAYED
        + 'node { calculator: "Merge" input_stream: "delayed" input_stream: "ints" output_stream: "out" }',
        CountSrc,
        UnitDelay,
        Merge,
        watch=["out"],
    )
    bench.graph.start_run()
    bench.done()

    texts = [f"Timestamp({i}) {i} {i + 1}" for i in range(5)]
    assert bench.seen["out"] == list(enumerate([*texts, "Timestamp(5) 5 empty"]))


# --- the end of a run ----------------------------------------------------------------------------


class StopAfterFive(AnyPorts):
    def open(self, cc):
        self.taken = 0

    def process(self, cc):
        self.taken += 1
        return STOP if self.taken == 5 else None


def test_stop_from_a_sink_ends_an_endless_source_and_the_run_is_well(bench, endless):
    bench.load(
        """node { calculator: "Endless" output_stream: "out" }
        node { calculator: "StopAfterFive" input_stream: "out" }""",
        endless,
        StopAfterFive,
        watch=["out"],
    )
    bench.graph.start_run()
    bench.done()

    assert endless.closed_at == [Timestamp.DONE]
    assert len(bench.seen["out"]) >= 5
    assert bench.seen["out"] == [(i, i) for i in range(len(bench.seen["out"]))]


def test_stop_from_a_sink_closes_the_graph_inputs_and_what_is_under_way_still_arrives(bench):
    bench.start(
        'input_stream: "in" node { calculator: "StopAfterFive" input_stream: "in" }' + passing(("in", "out")),
        StopAfterFive,
        watch=["out"],
    )
    bench.graph.pause()
    for t in range(8):
        bench.add("in", t, t)
    bench.graph.resume()
    bench.idle()

    message = "graph input 'in' takes no more: the graph is stopping: node 'StopAfterFive' returned STOP"
    with pytest.raises(StreamClosedError, match=message):
        bench.add("in", 9, 9)
    bench.done()
    assert bench.node("StopAfterFive").steps == 8
    assert bench.seen["out"] == [(t, t) for t in range(8)]


class Timed(AnyPorts):
    """Writes down the input timestamp of each call."""

    times: list

    def open(self, cc):
        self.times.append(("open", cc.input_timestamp))

    def process(self, cc):
        self.times.append(("process", cc.input_timestamp))
        if not len(cc.inputs):
            cc.output.add("x", 42)
            return STOP
        return None

    def close(self, cc):
        self.times.append(("close", cc.input_timestamp))


def test_the_input_timestamp_tells_which_method_of_a_source_or_a_sink_runs(bench):
    kinds = [type(name, (Timed,), {"times": []}) for name in ("TimedSource", "TimedSink")]
    bench.load(
        """node { calculator: "TimedSource" output_stream: "out" }
        node { calculator: "TimedSink" input_stream: "out" }""",
        *kinds,
    )
    bench.graph.start_run()
    bench.done()

    ends = ("open", Timestamp.UNSTARTED), ("close", Timestamp.DONE)
    assert kinds[0].times == [ends[0], ("process", 0), ends[1]]
    assert kinds[1].times == [ends[0], ("process", 42), ends[1]]


class OpenAndClose(AnyPorts):
    """Writes 1 in open and 2 in close."""

    def open(self, cc):
        cc.output.add(1, 1)

    def close(self, cc):
        cc.output.add(2, 2)


def test_closing_all_packet_sources_ends_an_endless_source_and_delivers_what_close_writes(bench, endless):
    bench.start(
        """input_stream: "in"
        node { calculator: "Endless" output_stream: "endless" }
        node {
          calculator: "OpenAndClose"
          input_stream: "endless" input_stream: "in" output_stream: "events"
        }""",
        endless,
        OpenAndClose,
        watch=["events"],
    )
    bench.graph.close_all_packet_sources()
    bench.done()

    assert bench.seen["events"] == [(1, 1), (2, 2)]
    assert endless.closed_at == [Timestamp.DONE]


ONE_PASS = 'input_stream: "in"\n' + passing(("in", "out"))


def test_cancel_ends_a_run_whose_inputs_are_open(bench):
    bench.start(ONE_PASS)
    bench.add("in", 1, "a")
    bench.graph.cancel()

    error = bench.failure()

    assert error.code is StatusCode.CANCELLED
    assert "the run was cancelled" in str(error)


def test_cancel_ends_a_paused_run_with_queued_work(bench):
    bench.start(ONE_PASS, watch=["out"])
    bench.graph.pause()
    for t in range(3):
        bench.add("in", t, "a")
    bench.graph.cancel()
    bench.graph.pause()

    assert bench.failure().code is StatusCode.CANCELLED
    assert not bench.graph.has_error()


# --- errors --------------------------------------------------------------------------------------


class Careful(AnyPorts):
    """Writes down its calls; open fails where the side packet says so."""

    calls: list

    def open(self, cc):
        self.calls.append((cc.node_name, "open"))
        if cc.node_name == "middle" and cc.input_side_packets[0].payload == "bad":
            raise OSError("cannot open the middle")

    def process(self, cc):
        self.calls.append((cc.node_name, "process"))
        cc.output.add_packet(cc.input.packet)

    def close(self, cc):
        self.calls.append((cc.node_name, "close"))


MIDDLE = 'input_stream: "in"' + "".join(
    f'node {{ name: "{name}" calculator: "Careful" input_stream: "{a}" output_stream: "{b}" '
    'input_side_packet: "quality" }\n'
    for name, a, b in (("first", "in", "a"), ("middle", "a", "b"), ("last", "b", "c"))
)


def test_when_open_fails_in_the_middle_the_opened_nodes_are_closed_and_the_next_run_is_well(bench):
    careful = type("Careful", (Careful,), {"calls": []})
    bench.load(MIDDLE, careful, watch=["c"])
    bench.graph.start_run({"quality": "bad"})

    error = bench.failure()

    assert careful.calls == [("first", "open"), ("middle", "open"), ("first", "close")]
    [cause] = error.errors
    assert isinstance(cause, CalculatorError)
    assert (cause.node, cause.method) == ("middle", "open")
    assert "node 'middle' (Careful): open() failed: OSError: cannot open the middle" in str(error)

    careful.calls.clear()
    bench.graph.start_run({"quality": "good"})
    bench.add("in", 1, "a")
    bench.end()
    assert bench.seen["c"] == [(1, "a")]
    assert sorted(careful.calls) == sorted(
        (name, method) for name in ("first", "middle", "last") for method in ("open", "process", "close")
    )


# --- side packets --------------------------------------------------------------------------------


class Make(AnyPorts):
    """Makes its side packet of each input: once, and then it is too many."""

    def process(self, cc):
        cc.output_side_packets[0].set(cc.input.payload)


class Emit(AnyPorts):
    """A source of one packet, which is its side packet."""

    def process(self, cc):
        cc.output.add(cc.input_side_packets[0].payload, 0)
        return STOP


MADE = """
input_stream: "in"
node { calculator: "Make" input_stream: "in" output_side_packet: "made" }
node { calculator: "Emit" input_side_packet: "made" output_stream: "out" }
"""


def test_a_source_opens_once_the_side_packet_is_made_that_it_needs(bench):
    bench.load(MADE, Make, Emit, watch=["out"])
    with pytest.raises(UnavailableError, match="side packet 'made' of the graph has not been made yet"):
        bench.graph.get_output_side_packet("made")
    with pytest.raises(NotFoundError, match="the graph has no side packet 'nothing'"):
        bench.graph.get_output_side_packet("nothing")

    bench.graph.start_run()
    bench.idle()
    assert bench.node("Emit").state == "unopened"
    bench.add("in", 3, "value")
    bench.idle()
    assert bench.seen["out"] == [(0, "value")]
    bench.end()

    made = bench.graph.get_output_side_packet("made")
    assert (made.payload, made.timestamp) == ("value", Timestamp.UNSET)


@pytest.mark.parametrize(
    ("payloads", "kind", "message"),
    [
        (["one", "two"], AlreadyExistsError, "'made'"),
        ([Packet("one", 237)], InvalidArgumentError, "output side packet 'made' has a timestamp 237"),
    ],
    ids=["set twice", "with a timestamp"],
)
def test_a_side_packet_is_set_once_and_has_no_timestamp(bench, payloads, kind, message):
    bench.start(MADE, Make, Emit)
    bench.graph.pause()
    for t, payload in enumerate(payloads):
        bench.add("in", t, payload)
    bench.graph.resume()

    error = bench.failure()

    assert isinstance(error.errors[0].__cause__, kind)
    assert error.node == "Make"
    assert message in str(error)
