from __future__ import annotations

from penstock import Calculator, CalculatorGraph, Packet
from penstock.testing import testing_registry


class Weighty:
    """Asks whether the lock of the run is held while its size is asked for."""

    def __init__(self) -> None:
        self.graph = None
        self.was_locked = []

    @property
    def nbytes(self) -> int:
        self.was_locked.append(self.graph._runner.lock._is_owned())
        return 70


class Speechless:
    @property
    def nbytes(self) -> int:
        raise RuntimeError("no size")


class Both(Calculator):
    """Waits for two inputs."""

    @classmethod
    def get_contract(cls, cc):
        for port in cc.inputs:
            port.set_any()

    def process(self, cc) -> None:
        """Takes what comes."""


def test_the_bytes_that_wait_are_counted_without_the_lock_and_by_who_can_say() -> None:
    graph = CalculatorGraph(
        'input_stream: "a" input_stream: "b" node { calculator: "Both" input_stream: "a" input_stream: "b" }',
        registry=testing_registry(Both),
    )
    payload = Weighty()
    payload.graph = graph
    graph.start_run()
    for timestamp, one in enumerate([payload, Speechless(), payload]):
        graph.add_packet_to_input_stream("a", Packet(one, timestamp))

    (stream,) = (s for s in graph.snapshot().streams if s.name == "a")

    assert (stream.queued, stream.queued_bytes) == (3, 140)
    assert payload.was_locked == [False, False]
    graph.close(30)
