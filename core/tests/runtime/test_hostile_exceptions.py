"""Exceptions whose class runs code of its own, wherever they are raised, break nothing.

Each kind is raised in each place where a run calls user code. The run, or the call that was made, fails with
an error of ours that names the place, and the same graph can run once more.
"""

# ruff: noqa: N818  # the classes are named after what is wrong with them
from __future__ import annotations

import pytest

import penstock
from penstock.errors import GraphRunError, InvalidArgumentError, PenstockError
from penstock_testing import InlineExecutor, calculator, testing_registry

TIMEOUT = 20


class RaisingText(Exception):
    def __str__(self):
        raise RuntimeError("never readable")

    __repr__ = __str__


class NumberAsText(Exception):
    def __str__(self):
        return 7  # noqa: PLE0307  # what is tested


class ExitingText(Exception):
    def __str__(self):
        raise SystemExit(3)


class TextWithFormat(Exception):
    class _Text(str):
        __slots__ = ()

        def __format__(self, spec):
            raise RuntimeError("never formatted")

    def __str__(self):
        return self._Text("said")


class RaisingFields(Exception):
    @property
    def stream(self):
        raise RuntimeError("closed already")

    code = timestamp = node = stream


class WithoutInit(PenstockError):
    """As a user writes one who forgets `super().__init__`."""

    def __init__(self):
        self.reason = "said"


class RaisingCode(PenstockError):
    """Its fields are not what they should be."""

    def __init__(self):
        super().__init__("said")
        self.code = self.stream = self.timestamp = object()


KINDS = [RaisingText, NumberAsText, ExitingText, TextWithFormat, RaisingFields, WithoutInit, RaisingCode]


class Raises:
    """Raises in one place, in one run only; the run after it is whole."""

    def __init__(self, kind, place):
        self.kind = kind
        self.place = place

    def at(self, place):
        if place == self.place:
            self.place = ""
            raise self.kind


def graph_that(raises):  # noqa: C901  # one place after the other
    class Step(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs["IN"].set(int)
            cc.outputs["OUT"].set(int)
            cc.use_service(service_key)

        def __init__(self):
            raises.at("__init__")

        def open(self, cc):
            raises.at("open")

        def process(self, cc):
            raises.at("process")
            cc.outputs["OUT"].add(cc.inputs["IN"].payload, cc.input_timestamp)

        def close(self, cc):
            raises.at("close")

    class Policy(penstock.InputStreamHandler):
        depends_on_arrival = True  # so that the engine asks `look` itself

        def prepare(self, inputs):
            raises.at("policy prepare")
            super().prepare(inputs)

        def look(self):
            raises.at("policy look")
            return super().look()

        def fill(self, timestamp, inputs):
            raises.at("policy fill")
            super().fill(timestamp, inputs)

    class ExecutorLease(penstock.ExecutorLease):
        helps = True

        def __init__(self, lease):
            self._lease = lease

        def wake(self):
            raises.at("executor wake")
            self._lease.wake()

        def help(self):
            return self._lease.help()

        def stop(self, timeout=None):
            raises.at("executor stop")
            return self._lease.stop(timeout)

    class Runs(InlineExecutor):
        def lend_to(self, work):
            raises.at("executor start")
            return ExecutorLease(super().lend_to(work))

    class Service:
        def __init__(self):
            raises.at("service made")

        def close(self):
            raises.at("service closed")

    service_key = penstock.ServiceKey("hostile", create=Service)
    registry = testing_registry(Step)
    registry.add("input stream handler", "Policy", Policy)
    graph = penstock.CalculatorGraph(
        """
        input_stream: "in"
        node { name: "step" calculator: "Step" input_stream: "IN:in" output_stream: "OUT:out"
               input_stream_handler { input_stream_handler: "Policy" } }
        """,
        registry=registry,
    )
    graph.set_executor("", Runs())

    def observe(_name, packet):
        raises.at("observer")

    graph.observe_output_stream("out", observe)
    return graph


def run_once(graph):
    graph.start_run()
    try:
        graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))
        graph.close_all_input_streams()
    finally:
        graph.wait_until_done(TIMEOUT)
    graph.close(TIMEOUT)


PLACES = {
    "__init__": "node 'step'",
    "open": "node 'step' (Step): open() failed",
    "process": "node 'step' (Step): process() failed at 5",
    "close": "node 'step' (Step): close() failed",
    "policy prepare": "prepare",
    "policy look": "node 'step' (Step): its input policy Policy failed",
    "policy fill": "node 'step' (Step): its input policy Policy failed",
    "executor start": "executor",
    "executor wake": "the default executor cannot run anything",
    "executor stop": "the default executor failed to stop",
    "observer": "observer of stream 'out' failed",
    "service made": "service 'hostile', required by node 'step', is not there",
    "service closed": "service 'hostile' failed to close",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_an_error_that_names_the_place_and_the_graph_can_run_again(kind, place) -> None:
    graph = graph_that(Raises(kind, place))

    with pytest.raises(PenstockError) as caught:
        run_once(graph)

    assert "in the middle of a change" not in str(caught.value)
    if type(caught.value).__name__ != kind.__name__ and not isinstance(caught.value, kind):
        assert PLACES[place] in str(caught.value)
    assert not graph.is_running
    run_once(graph)


@pytest.mark.parametrize("method", ["prepare", "sync_sets"])
def test_a_typed_error_of_a_policy_that_gets_ready_names_node_and_policy(method) -> None:
    class Policy(penstock.InputStreamHandler):
        pass

    def refuse(*_):
        raise InvalidArgumentError("n is 0")

    setattr(Policy, method, refuse)
    registry = testing_registry(calculator(name="Step"))
    registry.add("input stream handler", "Policy", Policy)
    graph = penstock.CalculatorGraph(
        'input_stream: "in" node { name: "step" calculator: "Step" input_stream: "in" '
        'input_stream_handler { input_stream_handler: "Policy" } }',
        registry=registry,
    )

    with pytest.raises(
        ValueError, match=r"^node 'step' \(Policy\): prepare\(\) failed: n is 0 \(at "
    ) as caught:
        graph.start_run()

    assert caught.value.node == "step"


@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_that_raises_in_a_wait_is_an_error_of_the_wait_and_the_run_goes_on(kind) -> None:
    def broken():
        raise kind

    graph = graph_that(Raises(kind, ""))
    graph.set_clock(broken)
    graph.start_run()

    with pytest.raises(PenstockError, match="the graph's clock failed"):
        graph.wait_until_done(TIMEOUT)

    assert graph.is_running
    graph.close_all_input_streams()
    graph.wait_until_done()  # without a time-out it needs no clock


def test_a_clock_that_tells_no_number_is_an_error_of_the_wait() -> None:
    graph = graph_that(Raises(ValueError, ""))
    graph.set_clock(lambda: "noon")
    graph.start_run()

    with pytest.raises(PenstockError, match="the graph's clock failed: ValueError: could not convert"):
        graph.wait_until_idle(TIMEOUT)

    graph.cancel()
    with pytest.raises(GraphRunError, match="cancelled"):
        graph.wait_until_done()


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_a_clock_that_tells_no_finite_number_is_an_error_of_the_wait(number) -> None:
    graph = graph_that(Raises(ValueError, ""))
    graph.set_clock(lambda: float(number))
    graph.start_run()

    with pytest.raises(PenstockError, match=f"the graph's clock returned {number}, which is no time"):
        graph.wait_until_done(TIMEOUT)

    assert graph.is_running
    graph.close_all_input_streams()
    graph.wait_until_done()


@pytest.mark.parametrize("kind", KINDS)
def test_an_executor_whose_making_raises_is_named_when_the_graph_is_made(kind) -> None:
    class Unmade(InlineExecutor):
        @classmethod
        def create(cls, options, defaults):
            raise kind

    registry = testing_registry()
    registry.add("executor", "Unmade", Unmade)

    with pytest.raises(PenstockError, match=r"executor 'e' \(Unmade\): "):
        penstock.CalculatorGraph('executor { name: "e" type: "Unmade" }', registry=registry)


@pytest.mark.parametrize("said", ["now", None, 1.5])
@pytest.mark.parametrize("form", [{}, {"batch_size": 2}, {"takes_late": True}])
def test_a_policy_whose_look_returns_no_timestamp_fails_the_run_and_is_named(said, form) -> None:
    class Policy(penstock.InputStreamHandler):
        takes_late = form.get("takes_late", False)

        def prepare(self, inputs):
            super().prepare(inputs)
            self.batch_size = form.get("batch_size", 1)

        def look(self):
            return said if self.inputs[0].queue else super().look()

    class Step(penstock.Calculator):
        @classmethod
        def get_contract(cls, cc):
            cc.inputs[0].set(int)

    registry = testing_registry(Step)
    registry.add("input stream handler", "Policy", Policy)
    graph = penstock.CalculatorGraph(
        """
        input_stream: "in"
        node {
          name: "step" calculator: "Step" input_stream: "in"
          input_stream_handler { input_stream_handler: "Policy" }
        }
        """,
        registry=registry,
    )
    graph.start_run()
    graph.add_packet_to_input_stream("in", penstock.Packet(1, 5))

    with pytest.raises(GraphRunError) as caught:
        graph.close(TIMEOUT)

    (failure,) = caught.value.errors
    # the compiled engine says it in other words
    assert str(failure).startswith("node 'step' (Step): its input policy Policy failed: TypeError: ")
    assert ("None" if said is None else type(said).__name__) in str(failure)
