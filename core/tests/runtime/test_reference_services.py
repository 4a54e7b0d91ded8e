"""Services and nodes as in the reference's tests, with its inputs and expected values.

They are from its files `graph_service_test.cc`, `graph_service_manager_test.cc` and
`calculator_node_test.cc`.
"""

from __future__ import annotations

import contextlib
import gc
import weakref
from typing import ClassVar

import pytest

import penstock
from penstock import Packet, StatusCode
from penstock.errors import InternalError, NotFoundError, UnavailableError
from penstock.services import ServiceKey
from penstock_testing import ScheduleHarness, calculator, node, wired

TIMEOUT = 20

# --- services -------------------------------------------------------------------------------------------

TEST: ServiceKey[dict[str, int]] = ServiceKey("test_service")
ANOTHER: ServiceKey[int] = ServiceKey("another_service", create=int)
MADE: ServiceKey[object] = ServiceKey("test.allow_default", create=object)
NEVER_MADE: ServiceKey[object] = ServiceKey("test.disallow_default")


class Adds(penstock.Calculator):
    """Adds the "delta" of one service and the number that another one is; counts in "count"."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set(int)
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.use_service(TEST)
        cc.use_service(ANOTHER, optional=True)
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self.bias = 0
        with contextlib.suppress(NotFoundError):
            self.bias = cc.service(ANOTHER)

    def process(self, cc):
        service = cc.service(TEST)
        service["count"] += 1
        cc.output.add(cc.input.payload + service["delta"] + self.bias, cc.input_timestamp)


@pytest.fixture
def adding(make):
    """Make a graph of `Adds`, and a list of its results."""
    graph = make([(Adds, "in", "out")], "in")
    written: list[object] = []
    graph.observe_output_stream("out", lambda name, packet: written.append(packet.payload))
    return graph, written


def feed_three(graph):
    graph.start_run()
    graph.add_packet_to_input_stream("in", Packet(3, 0))
    graph.close_all_input_streams()
    graph.wait_until_done(TIMEOUT)


@pytest.mark.reference("framework/graph_service_test.cc", "GraphServiceTest.SetOnGraph")
@pytest.mark.reference("framework/graph_service_manager_test.cc", "GraphServiceManager.SetGetServiceObject")
def test_a_service_of_a_graph_is_the_last_one_that_was_set(adding) -> None:
    graph, _ = adding
    assert graph.get_service(TEST) is None
    for service in ({"delta": 3}, {"delta": 5, "count": 0}):
        graph.set_service(TEST, service)
        assert graph.get_service(TEST) is service

    graph.set_service(ANOTHER, 100)
    assert graph.get_service(ANOTHER) == 100


@pytest.mark.reference(
    "framework/graph_service_test.cc",
    "GraphServiceTest.UseInCalculator",
    "GraphServiceTest.OptionalIsOptional",
    "ServiceBindingTest.IsAvailableReturnsFalsOnNullServiceObject",
)
def test_a_calculator_uses_the_service_that_it_needs(adding) -> None:
    graph, written = adding
    service = {"delta": 5, "count": 0}
    graph.set_service(TEST, service)
    feed_three(graph)

    assert written == [8]
    assert service["count"] == 1


@pytest.mark.reference("framework/graph_service_test.cc", "GraphServiceTest.OptionalIsAvailable")
def test_a_calculator_uses_the_optional_service_that_is_set(adding) -> None:
    graph, written = adding
    graph.set_service(TEST, {"delta": 5, "count": 0})
    graph.set_service(ANOTHER, 100)
    feed_three(graph)

    assert written == [108]


@pytest.mark.reference("framework/graph_service_test.cc", "GraphServiceTest.Contract")
def test_a_contract_says_which_services_are_optional() -> None:
    (planned,) = wired(node(Adds, "in", "out"), inputs="in").nodes

    assert planned.contract.services == {TEST: False, ANOTHER: True}


@pytest.mark.reference("framework/graph_service_test.cc", "GraphServiceTest.MustHaveRequired")
def test_a_run_without_a_service_that_is_needed_does_not_start_and_names_it(adding) -> None:
    graph, _ = adding

    with pytest.raises(UnavailableError, match="test_service"):
        graph.start_run()


@pytest.mark.reference("framework/graph_service_test.cc", "GraphServiceTest.CreateDefault")
def test_a_key_can_make_its_service_or_cannot() -> None:
    made = ServiceKey("test.made", create=lambda: ["by a function"])

    assert [key.create for key in (TEST, NEVER_MADE)] == [None, None]
    assert ANOTHER.create is not None
    assert ANOTHER.create() == 0
    assert made.create is not None
    assert made.create() == ["by a function"]


def needs(key, *, optional):
    """Return a calculator that fails in `open` where its service is not there."""

    def open_(cc):
        try:
            cc.service(key)
        except NotFoundError:
            raise InternalError("Service is unavailable.") from None

    return calculator(
        open=open_, contract=lambda cc: cc.use_service(key, optional=optional), name="NeedsService"
    )


@pytest.mark.parametrize(
    "optional",
    [
        pytest.param(
            True,
            marks=pytest.mark.reference(
                "framework/graph_service_test.cc",
                "AllowDefaultInitializationGraphServiceTest.ServiceIsAvailableWithOptionalUse",
            ),
        ),
        pytest.param(
            False,
            marks=pytest.mark.reference(
                "framework/graph_service_test.cc",
                "AllowDefaultInitializationGraphServiceTest.ServiceIsAvailable",
            ),
        ),
    ],
)
def test_a_service_that_its_key_can_make_is_there(make, optional) -> None:
    graph = make([(needs(MADE, optional=optional), "")])
    graph.start_run()
    graph.wait_until_idle(TIMEOUT)
    graph.wait_until_done(TIMEOUT)


@pytest.mark.reference(
    "framework/graph_service_test.cc",
    "DisallowDefaultInitializationGraphServiceTest.ServiceIsUnavailableWithOptionalUse",
)
def test_an_optional_service_that_its_key_cannot_make_is_not_there(make) -> None:
    graph = make([(needs(NEVER_MADE, optional=True), "")])
    graph.start_run()

    with pytest.raises(penstock.GraphRunError, match=r"Service is unavailable\.") as caught:
        graph.wait_until_idle(TIMEOUT)

    assert caught.value.code is StatusCode.INTERNAL


@pytest.mark.reference(
    "framework/graph_service_test.cc",
    "DisallowDefaultInitializationGraphServiceTest.StartRunFailsMissingService",
)
def test_a_needed_service_that_its_key_cannot_make_is_an_internal_error_of_the_start(make) -> None:
    graph = make([(needs(NEVER_MADE, optional=False), "")])

    with pytest.raises(UnavailableError, match="it was not set, and its key cannot make one") as caught:
        graph.start_run()

    assert caught.value.code is StatusCode.INTERNAL


# --- the life of a node ---------------------------------------------------------------------------------


class Counted(penstock.Calculator):
    """Adds a side packet to its input, and counts what is called; `alive` has its instances."""

    counts: ClassVar[dict[str, int]] = {}
    alive: ClassVar[weakref.WeakSet[Counted]] = weakref.WeakSet()

    def __init__(self) -> None:
        self.count("constructed")
        self.alive.add(self)

    @classmethod
    def count(cls, what: str) -> None:
        cls.counts[what] = cls.counts.get(what, 0) + 1

    @classmethod
    def get_contract(cls, cc):
        cls.count("contract")
        for ports in (cc.inputs, cc.outputs, cc.input_side_packets):
            next(iter(ports)).set(int)

    def open(self, cc):
        self.count("open")

    def process(self, cc):
        self.count("process")
        side = next(iter(cc.input_side_packets))
        cc.output.add(cc.input.payload + side.payload, cc.input_timestamp)

    def close(self, cc):
        self.count("close")


class Life:
    """The node `Counted`, and the steps of its run."""

    def __init__(self, *, with_tags: bool = False) -> None:
        Counted.counts.clear()
        Counted.alive.clear()
        tags = ("INPUT_TAG:", "OUTPUT_TAG:", "INPUT_SIDE_PACKET_TAG:") if with_tags else ("", "", "")
        ports = [f"{tag}{name}" for tag, name in zip(tags, ("stream_a", "stream_b", "input_a"), strict=True)]
        self.plan = wired(node(Counted, ports[0], ports[1], side_inputs=ports[2]), inputs="stream_a")
        self.harness: ScheduleHarness | None = None

    def begin(self) -> None:
        self.harness = ScheduleHarness(self.plan, side_packets={"input_a": 42}, observe=()).start()

    def end(self) -> None:
        """Forget the run."""
        self.harness = None
        gc.collect()

    def add(self, *numbers: tuple[int, int]) -> None:
        for number, stamp in numbers:
            self.harness.add("stream_a", number, stamp)

    def steps(self, count: int) -> None:
        for _ in range(count):
            assert self.harness.step()

    def seen(self) -> list[int]:
        """Return how often it was constructed, asked for its contract, opened, called, closed, destroyed."""
        names = ("constructed", "contract", "open", "process", "close")
        counts = [Counted.counts.get(name, 0) for name in names]
        return [*counts, counts[0] - len(Counted.alive)]


@pytest.mark.reference("framework/calculator_node_test.cc", "CalculatorNodeTest.Initialize")
def test_a_graph_that_is_loaded_has_asked_for_the_contract_once() -> None:
    life = Life()

    assert [one.name for one in life.plan.nodes] == ["Counted"]
    assert life.seen() == [0, 1, 0, 0, 0, 0]


@pytest.mark.reference("framework/calculator_node_test.cc", "CalculatorNodeTest.PrepareForRun")
def test_a_run_that_begins_makes_the_calculator() -> None:
    life = Life()
    life.begin()

    assert life.seen() == [1, 1, 0, 0, 0, 0]


@pytest.mark.reference("framework/calculator_node_test.cc", "CalculatorNodeTest.Open")
def test_the_first_step_opens_it_and_no_other_follows() -> None:
    life = Life()
    life.begin()
    life.steps(1)

    assert not life.harness.step()
    assert life.seen() == [1, 1, 1, 0, 0, 0]


@pytest.mark.reference("framework/calculator_node_test.cc", "CalculatorNodeTest.Process")
def test_a_packet_makes_one_step() -> None:
    life = Life()
    life.begin()
    life.steps(1)
    life.add((1, 1))
    life.steps(1)

    assert not life.harness.step()
    assert life.seen() == [1, 1, 1, 1, 0, 0]


@pytest.mark.reference("framework/calculator_node_test.cc", "CalculatorNodeTest.ProcessSeveral")
def test_packets_make_a_step_each_and_only_one_at_a_time() -> None:
    life = Life()
    life.begin()
    life.steps(1)
    life.add((1, 1))
    life.steps(1)
    life.add((2, 4), (3, 8))
    life.steps(1)
    held = life.harness.take()
    life.add((4, 16))
    assert life.harness.take() is None
    life.harness.complete(life.harness.call(held))
    life.steps(1)

    assert not life.harness.step()
    assert life.seen() == [1, 1, 1, 4, 0, 0]


@pytest.mark.reference(
    "framework/calculator_node_test.cc", "CalculatorNodeTest.Close", "CalculatorNodeTest.CleanupAfterRun"
)
def test_the_end_of_the_input_closes_it_and_the_end_of_the_run_forgets_it() -> None:
    life = Life()
    life.begin()
    life.steps(1)
    life.add((1, 1))
    held = life.harness.take()
    life.harness.close_input()
    assert life.harness.take() is None
    life.harness.complete(life.harness.call(held))
    del held
    life.steps(1)
    assert life.harness.is_over
    assert life.seen() == [1, 1, 1, 1, 1, 0]

    life.end()
    assert life.seen() == [1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "with_tags",
    [
        pytest.param(
            False,
            marks=pytest.mark.reference(
                "framework/calculator_node_test.cc", "CalculatorNodeTest.CleanupAfterRunTwice"
            ),
        ),
        pytest.param(
            True,
            marks=pytest.mark.reference(
                "framework/calculator_node_test.cc", "CalculatorNodeTest.CleanupAfterRunTwiceWithTags"
            ),
        ),
    ],
)
def test_each_run_has_a_calculator_of_its_own_and_the_contract_is_asked_for_once(with_tags) -> None:
    life = Life(with_tags=with_tags)
    for numbers in ([(1, 1)], [(2, 4), (3, 8)]):
        life.begin()
        life.steps(1)
        life.add(*numbers)
        life.harness.close_input()
        life.steps(len(numbers) + 1)
        assert life.harness.is_over
        life.end()

    assert life.seen() == [2, 1, 2, 3, 2, 2]


@pytest.mark.reference(
    "framework/calculator_node_test.cc", "CalculatorNodeTest.ShouldGenerateStreamMonitoringInfo"
)
def test_a_snapshot_counts_packets_and_has_bounds(make) -> None:
    graph = make(
        [(Counted, "stream_a", "stream_b", 'input_side_packet: "input_a"')],
        "stream_a",
        side_packets={"input_a": 42},
    )
    graph.start_run()
    graph.add_packet_to_input_stream("stream_a", Packet(1, 1))
    graph.wait_until_idle(TIMEOUT)
    snapshot = graph.snapshot()
    added = {stream.name: stream.added for stream in graph.ledger().streams}

    assert [one.name for one in snapshot.nodes] == ["Counted"]
    for name in ("stream_a", "stream_b"):
        (stream,) = [stream for stream in snapshot.streams if stream.name == name]
        assert (added[name], stream.bound) == (1, "2")
    graph.close(TIMEOUT)
