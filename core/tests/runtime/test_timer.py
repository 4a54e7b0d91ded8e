"""Time-outs of input policies and late packets, in a running graph."""

from __future__ import annotations

import concurrent.futures
import threading
import time

import pytest

import penstock
from penstock import LatePacketMode, Packet
from penstock.engine.input_stream_handler import NOT_READY, InputStreamHandler
from penstock.errors import GraphRunError, InvalidArgumentError, NotFoundError, TimestampOrderError
from penstock.runtime.runner import timer
from penstock.timestamp import UNSET
from penstock_testing import ManualClock, calculator, testing_registry

TIMEOUT = 20


class Patient(InputStreamHandler):
    patience = 2.0

    def __init__(self, options=None) -> None:
        super().__init__(options)
        self.patience_s = self.patience
        self.until = UNSET

    def lose_patience(self, timestamp: int) -> None:
        self.until = timestamp

    def look(self) -> int:
        t = super().look()
        return self.until if t == NOT_READY and self.waits_with() == self.until else t

    def fill(self, timestamp, inputs) -> None:
        for port in inputs:
            port.fill(port.stream.pop_at(timestamp))


def note(cc) -> None:
    cc.output.add("".join("-" if port.is_empty() else port.payload for port in cc.inputs), cc.input_timestamp)


Note = calculator(note, name="Note")


@pytest.fixture
def joined():
    registry = testing_registry(Note)
    registry.add("input stream handler", "Patient", Patient)
    graph = penstock.CalculatorGraph(
        'input_stream: "a" input_stream: "b" node { calculator: "Note" input_stream: "a" input_stream: "b" '
        'output_stream: "out" input_stream_handler { input_stream_handler: "Patient" } }',
        registry=registry,
    )
    graph.poller = graph.add_output_stream_poller("out")
    yield graph
    graph.cancel()
    graph.wait_until_done(TIMEOUT) if not graph.has_error() else None


def watchers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "penstock-timer"]


def test_time_ends_the_wait_on_the_graphs_clock_and_not_before(joined) -> None:
    clock = ManualClock()
    joined.set_clock(clock)
    joined.start_run()
    joined.add_packet_to_input_stream("a", Packet("x", 5))
    poller = joined.poller

    clock.advance(1.5)
    with pytest.raises(penstock.WaitTimeoutError):
        poller_soon(poller, clock, by=0.0)
    packet = poller_soon(poller, clock, by=1.0)

    assert (packet.payload, packet.timestamp) == ("x-", 5)
    joined.close_all_packet_sources()
    joined.wait_until_done(TIMEOUT)
    assert watchers() == []


def poller_soon(poller, clock, by):
    """Move the clock until the poller has something; time-outs of waits read the same clock."""
    done = threading.Event()

    def move() -> None:
        while not done.wait(0.005):
            clock.advance(by or 0.01)

    mover = threading.Thread(target=move)
    mover.start()
    try:
        return poller.next(timeout=100.0 if by else 0.1)
    finally:
        done.set()
        mover.join()


def test_a_graph_without_such_policies_has_no_such_thread(make) -> None:
    graph = make([(Note, "in", "out")], "in")
    graph.start_run()
    assert watchers() == []


def test_a_clock_that_raises_ends_the_run_with_its_error(joined) -> None:
    def broken() -> float:
        raise OSError("no battery")

    joined.set_clock(broken)
    joined.start_run()
    with pytest.raises(GraphRunError, match="the graph's clock failed: OSError: no battery"):
        joined.wait_until_done()
    assert watchers() == []


def test_a_clock_whose_exception_has_no_readable_text_ends_the_run_too(joined) -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("never readable")

    def broken() -> float:
        raise MuteError

    joined.set_clock(broken)
    joined.start_run()
    with pytest.raises(GraphRunError, match="MuteError: no text, since its __str__ raised RuntimeError"):
        joined.wait_until_done()  # a time-out would read the clock too
    assert watchers() == []


def test_late_packets_raise_unless_the_input_says_otherwise(make) -> None:
    graph = make([(Note, "in", "out")], "in")
    seen = []
    graph.observe_output_stream("out", lambda _, packet: seen.append((packet.payload, int(packet.timestamp))))
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("x", 5))
    with pytest.raises(TimestampOrderError):
        graph.add_packet_to_input_stream("in", Packet("y", 5))
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    graph.set_late_packet_mode("in", "DROP")
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("x", 5))
    graph.add_packet_to_input_stream("in", Packet("y", 5))
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    graph.set_late_packet_mode("in", LatePacketMode.CLAMP)
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet("x", 5))
    graph.add_packet_to_input_stream("in", Packet("y", 5))
    graph.close_all_packet_sources()
    graph.wait_until_done(TIMEOUT)

    assert seen == [("x", 5), ("x", 5), ("x", 5), ("y", 6)]


def test_an_unknown_mode_or_input_is_refused(make) -> None:
    graph = make([(Note, "in", "out")], "in")
    with pytest.raises(InvalidArgumentError, match="late packet mode 'LOSE': must be RAISE or DROP or CLAMP"):
        graph.set_late_packet_mode("in", "LOSE")
    with pytest.raises(NotFoundError, match="'other'"):
        graph.set_late_packet_mode("other", "DROP")


class GivesUp(Patient):
    """Drops what it has waited with too long, and so settles it without a call."""

    def look(self) -> int:
        for stream in self.inputs:
            stream.drop_below(self.until + 1, "waited too long")
        t = InputStreamHandler.look(self)
        self.waits_at = max(self.waits_at, self.until + 1)
        return t


def test_observers_of_what_a_time_out_settles_are_not_called_on_the_timers_thread() -> None:
    Silent = calculator(name="Silent", offset=0)  # noqa: N806  # a class
    registry = testing_registry(Silent)
    registry.add("input stream handler", "GivesUp", GivesUp)
    graph = penstock.CalculatorGraph(
        'input_stream: "a" input_stream: "b" node { calculator: "Silent" input_stream: "a" input_stream: "b" '
        'output_stream: "out" input_stream_handler { input_stream_handler: "GivesUp" } }',
        registry=registry,
    )
    seen: list[str] = []
    settled = threading.Event()

    def observe(_: str, packet: Packet) -> None:
        seen.append(threading.current_thread().name)
        if packet.timestamp >= 5:
            settled.set()

    clock = ManualClock()
    graph.set_clock(clock)
    graph.observe_output_stream("out", observe, observe_timestamp_bounds=True)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        graph.set_executor("", pool)
        graph.start_run()
        graph.add_packet_to_input_stream("a", Packet("x", 5))
        deadline = time.monotonic() + TIMEOUT
        while not settled.wait(0.005):
            assert time.monotonic() < deadline
            clock.advance(1.0)
        graph.close(TIMEOUT)

    assert seen
    assert "penstock-timer" not in seen


def test_a_node_that_begins_to_wait_wakes_the_timer(joined, monkeypatch) -> None:
    """On the system's clock the timer sleeps until the first wait is over, and a new one reports itself."""
    monkeypatch.setattr(timer, "_LOOK_AGAIN_S", 3600.0)
    monkeypatch.setattr(Patient, "patience", 0.01)
    joined.start_run()
    joined.wait_until_idle(TIMEOUT)

    joined.add_packet_to_input_stream("a", Packet("x", 5))

    packet = joined.poller.next(timeout=TIMEOUT)
    assert (packet.payload, packet.timestamp) == ("x-", 5)
