"""SensorBusExecutor and SensorBus: one thread, opened and closed with the run, with pauses between calls."""

from __future__ import annotations

import threading
import time

import pytest

import penstock
from penstock import Calculator, CalculatorGraph, GraphRunError, Packet
from penstock.errors import FailedPreconditionError, InvalidArgumentError, UnavailableError
from penstock.packs import default_registry
from penstock_room_sensors.bus_executor import LONGEST_QUIET_US, SensorBusExecutor
from penstock_room_sensors.sensor_bus import SENSOR_BUS, SensorBus

#: Seconds after which a wait of a test fails; long, since a loaded machine is slow.
PATIENCE_S = 30.0


class Ask(Calculator):
    """Reads address 1 of the bus for each packet, and records its calls in the driver's list."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set(float)
        cc.run_on(SENSOR_BUS)
        cc.input_side_packets["DRIVER"].set_any()
        cc.set_timestamp_offset(0)

    def open(self, cc):
        self._driver = cc.input_side_packets["DRIVER"].payload
        self._driver.note(f"{cc.node_name} opens")

    def process(self, cc):
        if cc.input.payload == "fail":
            raise ValueError("told to fail")
        cc.output.add(cc.service(SENSOR_BUS).read(1), cc.input_timestamp)

    def close(self, cc):
        self._driver.note(f"{cc.node_name} closes")


class Elsewhere(Calculator):
    """Uses the bus without declaring to run on it."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.use_service(SENSOR_BUS)

    def process(self, cc):
        cc.service(SENSOR_BUS).read(5)


@pytest.fixture
def registry():
    own = default_registry().child()
    own.add("calculator", "Ask", Ask)
    own.add("calculator", "Elsewhere", Elsewhere)
    return own


TWO = 'input_stream: "in" input_side_packet: "driver"' + "".join(
    f'node {{ calculator: "Ask" name: "{name}" input_stream: "in" output_stream: "{name}_said" '
    'input_side_packet: "DRIVER:driver" }'
    for name in ("first", "second")
)


def two_on(driver, registry, **kwargs):
    graph = CalculatorGraph(TWO, side_packets={"driver": driver}, registry=registry)
    graph.set_service(SENSOR_BUS, SensorBus("rs485", driver, **kwargs))
    return graph


def feed(graph, *payloads):
    for number, payload in enumerate(payloads):
        graph.add_packet_to_input_stream("in", Packet(payload, number))


def test_all_nodes_of_the_bus_run_on_its_one_thread_between_its_opening_and_its_closing(driver, registry):
    graph = two_on(driver, registry)
    for _ in range(2):
        graph.start_run()
        feed(graph, *"abc")
        graph.wait_until_idle(PATIENCE_S)
        graph.close(PATIENCE_S)

        assert driver.what[0] == "open"
        assert sorted(driver.what[1:3]) == ["first opens", "second opens"]
        assert driver.what[3:9] == [("read", 1)] * 6
        assert sorted(driver.what[9:11]) == ["first closes", "second closes"]
        assert driver.what[11:] == ["close"]
        assert [thread.name for thread in driver.threads] == ["penstock-rs485"]
        driver.calls.clear()


def test_nodes_that_do_not_declare_the_bus_run_elsewhere_and_may_not_read_it(driver, registry):
    graph = CalculatorGraph(
        'input_stream: "in" node { calculator: "Elsewhere" input_stream: "in" }', registry=registry
    )
    graph.set_service(SENSOR_BUS, SensorBus("rs485", driver))
    graph.start_run()
    feed(graph, "a")

    with pytest.raises(
        GraphRunError,
        match=r"sensor bus 'rs485': address 5 is read on thread '.+', but the bus is not open; declare "
        r"cc.run_on\(SENSOR_BUS\) in get_contract",
    ):
        graph.wait_until_done(PATIENCE_S)
    assert driver.calls == []


def test_a_bus_that_is_open_belongs_to_its_thread(driver, registry):
    graph = two_on(driver, registry)
    bus = graph.get_service(SENSOR_BUS)
    with graph:
        graph.start_run()
        with pytest.raises(FailedPreconditionError, match="but the bus belongs to thread 'penstock-rs485'"):
            bus.read(7)
        feed(graph, "a")

    assert ("read", 7) not in driver.what


@pytest.mark.parametrize("end", ["error", "cancel"])
def test_a_run_that_does_not_end_well_closes_nodes_and_bus_on_the_same_thread(driver, registry, end):
    graph = two_on(driver, registry)
    graph.start_run()
    feed(graph, "a", "b")
    graph.wait_until_idle(PATIENCE_S)
    if end == "cancel":
        graph.cancel()
    else:
        graph.add_packet_to_input_stream("in", Packet("fail", 9))
    with pytest.raises(GraphRunError, match="cancelled" if end == "cancel" else "told to fail"):
        graph.wait_until_done(PATIENCE_S)

    assert sorted(driver.what[-3:-1]) == ["first closes", "second closes"]
    assert driver.what[-1] == "close"
    assert len(driver.threads) == 1


def test_a_bus_that_does_not_open_keeps_the_run_from_starting_and_the_next_one_may(driver, registry):
    graph = two_on(driver, registry)
    driver.opening = OSError("no such device: /dev/ttyUSB0")
    with pytest.raises(
        UnavailableError,
        match=r"^executor .*: the executor of sensor bus 'rs485' could not open it: no such device: /dev/tty",
    ):
        graph.start_run()
    assert driver.what == ["open"]

    driver.opening = None
    graph.start_run()
    graph.close(PATIENCE_S)
    assert driver.what.count("close") == 1


def test_a_bus_that_does_not_open_in_time_is_closed_when_it_does(driver, registry):
    may_open, has_closed = threading.Event(), threading.Event()

    class Slow:
        name = "rs485"

        def open(self):
            may_open.wait(PATIENCE_S)
            driver.open()

        def read(self, address):
            return driver.read(address)

        def close(self):
            driver.close()
            has_closed.set()

    graph = CalculatorGraph(TWO, side_packets={"driver": driver}, registry=registry)
    graph.set_service(SENSOR_BUS, SensorBus("rs485", Slow(), open_timeout_s=0.01))
    with pytest.raises(
        UnavailableError,
        match=r"cannot serve the run: the executor of sensor bus 'rs485' did not open it within 0.01 s; see",
    ):
        graph.start_run()
    (opening,) = [thread for thread in threading.enumerate() if thread.name == "penstock-rs485"]
    with pytest.raises(
        FailedPreconditionError, match="the executor of sensor bus 'rs485' serves another run"
    ):
        graph.start_run()

    may_open.set()
    assert has_closed.wait(PATIENCE_S)
    opening.join(PATIENCE_S)
    assert driver.what == ["open", "close"]


def test_a_bus_serves_one_run_at_a_time(driver, registry):
    first, second = two_on(driver, registry), two_on(driver, registry)
    second.set_service(SENSOR_BUS, first.get_service(SENSOR_BUS))
    first.start_run()
    with pytest.raises(
        FailedPreconditionError,
        match=r": the executor of sensor bus 'rs485' serves another run; wait until that is done, or give "
        r"each graph a bus of its own$",
    ):
        second.start_run()
    feed(first, "a")
    first.close(PATIENCE_S)

    second.start_run()
    second.close(PATIENCE_S)
    assert driver.what.count("open") == driver.what.count("close") == 2


def test_a_bus_that_fails_to_close_is_an_error_of_the_run_once_and_not_of_the_next(driver, registry):
    graph = two_on(driver, registry)
    driver.closing = OSError("device gone")
    graph.start_run()
    with pytest.raises(GraphRunError, match=r"'penstock-room-sensors\.bus' failed to stop: device gone"):
        graph.close(PATIENCE_S)

    driver.closing = None
    graph.start_run()
    graph.close(PATIENCE_S)


def test_a_graph_without_a_bus_says_that_it_must_be_set(driver, registry):
    graph = CalculatorGraph(TWO, side_packets={"driver": driver}, registry=registry)

    with pytest.raises(
        UnavailableError,
        match=r"^service 'penstock-room-sensors.bus', required by node 'first', is not there: it was not set"
        r", .*; set it with graph.set_service\(key, obj\)$",
    ):
        graph.start_run()


# --- the pause --------------------------------------------------------------------------------


class Times:
    """A driver that records when each read begins and ends."""

    def __init__(self):
        self.spans = []

    def open(self): ...

    def note(self, what): ...

    def read(self, address):
        began = time.monotonic()
        self.spans.append((began, time.monotonic()))
        return float(address)

    def close(self): ...


def test_the_executor_pauses_between_two_calls(registry):
    times = Times()
    graph = two_on(times, registry, quiet_us=3000)
    graph.start_run()
    feed(graph, *"abcdefgh")
    graph.close(PATIENCE_S)

    gaps = [begin - end for (_, end), (begin, _) in zip(times.spans, times.spans[1:], strict=False)]
    assert len(gaps) == 15
    assert min(gaps) >= 0.0029  # a timed wait may be a tick of the clock short


class OneStep:
    """A ready queue with one step, which records when it was taken."""

    name = "bus"

    def __init__(self):
        self.taken = threading.Event()

    def step(self):
        is_first = not self.taken.is_set()
        self.taken.set()
        return is_first


def test_the_end_of_a_run_cuts_the_last_pause_short():
    work = OneStep()
    lease = SensorBusExecutor(LONGEST_QUIET_US).lend_to(work)
    assert work.taken.wait(PATIENCE_S)

    assert lease.stop(PATIENCE_S)


def test_stopping_a_lease_whose_thread_is_inside_a_call_returns_false_and_may_be_repeated():
    may_go_on = threading.Event()

    class Stuck(OneStep):
        def step(self):
            super().step()
            return not may_go_on.wait(PATIENCE_S)

    work = Stuck()
    lease = SensorBusExecutor().lend_to(work)
    assert work.taken.wait(PATIENCE_S)

    assert not lease.stop(0.01)
    may_go_on.set()
    assert lease.stop(PATIENCE_S)


# --- by a graph file ---------------------------------------------------------------------------

NAMED = """
input_stream: "in"
executor {
  name: "bus"
  type: "SensorBusExecutor"
  options { [penstock_room_sensors.SensorBusExecutorOptions.ext] { QUIET } }
}
node {
  calculator: "Where" executor: "bus" input_stream: "in" output_stream: "a" input_side_packet: "LOG:log"
}
node {
  calculator: "Where" executor: "bus" input_stream: "a" output_stream: "out" input_side_packet: "LOG:log"
}
"""


class Where(Calculator):
    """Forwards its input, and records on which thread it ran."""

    @classmethod
    def get_contract(cls, cc):
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.input_side_packets["LOG"].set(list)

    def process(self, cc):
        cc.input_side_packets["LOG"].payload.append(threading.current_thread().name)
        cc.output.add_packet(cc.input.packet)


@pytest.mark.parametrize("quiet", ["", "quiet_us: 50"])
def test_a_graph_file_names_the_executor_and_its_nodes_share_one_thread(registry, quiet):
    registry.add("calculator", "Where", Where)
    log, seen = [], []
    graph = CalculatorGraph(NAMED.replace("QUIET", quiet), side_packets={"log": log}, registry=registry)
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    for _ in range(2):
        graph.start_run()
        feed(graph, *range(300))
        graph.close(PATIENCE_S)

    assert seen == [*range(300)] * 2
    assert log == ["penstock-bus"] * 1200


def test_it_can_be_the_default_executor(registry):
    seen = []
    graph = CalculatorGraph(
        'input_stream: "in" executor { type: "SensorBusExecutor" } '
        'node { calculator: "PassThroughCalculator" input_stream: "in" output_stream: "out" }',
        registry=registry,
    )
    graph.observe_output_stream("out", lambda _, packet: seen.append(packet.payload))
    graph.start_run()
    feed(graph, *range(100))
    graph.wait_until_idle(PATIENCE_S)
    assert seen == [*range(100)]
    graph.close(PATIENCE_S)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SensorBusExecutor(-1), "^the bus executor's quiet_us is -1, but must be 0 to 60000000$"),
        (
            lambda: SensorBusExecutor(open_timeout_s=0.0),
            "^the bus executor's open_timeout_s is 0.0, but must be above 0 and at most ",
        ),
        (
            lambda: CalculatorGraph(NAMED.partition("node")[0].replace("QUIET", "quiet_us: 60000001")),
            r"executor 'bus' \(SensorBusExecutor\): the bus executor's quiet_us is 60000001, but must be 0",
        ),
    ],
)
def test_numbers_out_of_range_are_refused(make, message):
    with pytest.raises((InvalidArgumentError, penstock.GraphConfigError), match=message):
        make()
