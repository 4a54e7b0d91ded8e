"""ReadSensorCalculator: alone with a replacement of a bus, and on a bus with a driver."""

from __future__ import annotations

import pytest

import penstock
from penstock_room_sensors.calibration import CALIBRATION, RoomCalibration, SensorCalibration
from penstock_room_sensors.messages.options_pb2 import ReadSensorCalculatorOptions
from penstock_room_sensors.sensor_bus import SENSOR_BUS, SensorBus
from penstock_testing import check_calculator

PATIENCE_S = 30.0
GRAPH = """
input_stream: "tick"
node {
  calculator: "ReadSensorCalculator"
  name: "door"
  input_stream: "TICK:tick"
  output_stream: "READING:door_celsius"
  node_options {
    [type.googleapis.com/penstock_room_sensors.ReadSensorCalculatorOptions] { address: 1 sensor: "door" }
  }
}
node {
  calculator: "ReadSensorCalculator"
  name: "window"
  input_stream: "TICK:tick"
  output_stream: "READING:window_celsius"
  node_options {
    [type.googleapis.com/penstock_room_sensors.ReadSensorCalculatorOptions] { address: 2 }
  }
}
"""
JOIN = """
node {
  calculator: "PassThroughCalculator"
  input_stream: "door_celsius"
  input_stream: "window_celsius"
  output_stream: "a"
  output_stream: "b"
}
"""


class AddressAsReading:
    """Replaces a bus where the thread does not matter; address 13 never answers."""

    def read(self, address):
        if address == 13:
            raise TimeoutError("no answer from 13")
        return float(address)


def on_a_bus(config, driver):
    """Return a graph whose bus has this driver, and whose sensor "door" is calibrated."""
    door = SensorCalibration(gain=2.0, offset=-3.0)
    graph = penstock.CalculatorGraph(config)
    graph.set_service(SENSOR_BUS, SensorBus("rs485", driver))
    graph.set_service(CALIBRATION, RoomCalibration(sensors={"door": door}))
    return graph


def tick(graph):
    for at in (10, 20, 30):
        graph.add_packet_to_input_stream("tick", penstock.Packet(None, at))


def readings(driver):
    """Run the graph for three ticks; return the readings of both sensors with their timestamps."""
    seen = {"door_celsius": [], "window_celsius": []}
    graph = on_a_bus(GRAPH, driver)
    for stream in seen:
        graph.observe_output_stream(
            stream, lambda name, packet: seen[name].append((int(packet.timestamp), packet.payload))
        )
    graph.start_run()
    tick(graph)
    graph.close(PATIENCE_S)
    return seen


def test_each_tick_gives_a_reading_that_is_corrected_if_the_sensor_has_a_name(driver):
    driver.answers = {1: 11.5, 2: 18.0}

    seen = readings(driver)

    assert seen == {
        "door_celsius": [(10, 20.0), (20, 20.0), (30, 20.0)],
        "window_celsius": [(10, 18.0), (20, 18.0), (30, 18.0)],
    }
    assert (
        sorted(what for what in driver.what if isinstance(what, tuple))
        == [("read", 1)] * 3 + [("read", 2)] * 3
    )
    assert [thread.name for thread in driver.threads] == ["penstock-rs485"]


def test_a_sensor_that_does_not_answer_is_counted_and_does_not_delay_other_nodes(driver):
    driver.answers = {1: TimeoutError("no answer"), 2: 18.0}
    joined = []
    graph = on_a_bus(GRAPH + JOIN, driver)
    graph.observe_output_stream("b", lambda _, packet: joined.append((int(packet.timestamp), packet.payload)))
    graph.start_run()
    tick(graph)
    graph.wait_until_idle(PATIENCE_S)

    assert joined == [(10, 18.0), (20, 18.0), (30, 18.0)], "all of it before the inputs end"
    graph.close(PATIENCE_S)
    assert graph.counters["door-unanswered"] == 3
    assert graph.counters.get("window-unanswered", 0) == 0


def test_a_driver_that_fails_otherwise_ends_the_run_with_the_node_and_closes_the_bus(driver):
    driver.answers = {1: OSError("short circuit")}

    with pytest.raises(penstock.GraphRunError, match=r"node 'door' .*: short circuit"):
        readings(driver)
    assert driver.what[-1] == "close"


def test_without_an_address_the_graph_is_refused():
    with pytest.raises(penstock.GraphConfigError, match="node 'door': address is missing; say in ReadSensor"):
        penstock.CalculatorGraph(GRAPH.replace("address: 1 ", ""))


def test_it_follows_the_rules_for_calculators():
    services = {SENSOR_BUS: AddressAsReading(), CALIBRATION: RoomCalibration()}

    answered = check_calculator("ReadSensorCalculator", services=services)
    silent = check_calculator(
        "ReadSensorCalculator", services=services, options=ReadSensorCalculatorOptions(address=13)
    )

    assert answered.packets_out > 0
    assert silent.packets_out == 0
