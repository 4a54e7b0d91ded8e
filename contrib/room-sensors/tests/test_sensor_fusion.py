"""SensorFusionCalculator: alone, under random feeds, and with many readings on threads."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock_room_sensors.calibration import CALIBRATION, RoomCalibration, SensorCalibration
from penstock_room_sensors.kalman import Estimate, RandomWalkFilter
from penstock_room_sensors.messages.options_pb2 import SensorFusionCalculatorOptions
from penstock_room_sensors.sensor_fusion import SensorFusionCalculator
from penstock_testing import check_calculator, run_calculator

S = 1_000_000
MESSAGE = "type.googleapis.com/penstock_room_sensors.SensorFusionCalculatorOptions"


def fused(*sensors, **options):
    """Return the estimates of sensors, each a list of (timestamp, reading)."""
    run = run_calculator(
        SensorFusionCalculator,
        {("READING", index): readings for index, readings in enumerate(sensors)},
        outputs=["ESTIMATE"],
        options=SensorFusionCalculatorOptions(**options),
    )
    return [(int(packet.timestamp), packet.payload) for packet in run.outputs["ESTIMATE"]], run.counters


def graph_of(inputs, options=""):
    lines = "\n".join(f'input_stream: "{name}"' for name in inputs)
    ports = "\n".join(f'input_stream: "READING:{index}:{name}"' for index, name in enumerate(inputs))
    return f"""
    {lines}
    node {{
      calculator: "SensorFusionCalculator"
      {ports}
      output_stream: "ESTIMATE:estimate"
      node_options {{ [{MESSAGE}] {{ {options} }} }}
    }}
    """


def test_each_timestamp_with_readings_gives_one_estimate():
    estimates, _ = fused([(0, 10.0), (2, 14.0)], [(1, 12.0), (2, 12.0)])

    assert [at for at, _ in estimates] == [0, 1, 2]
    assert estimates[0][1] == Estimate(10.0, 1.0)
    assert estimates[1][1] == Estimate(11.0, 0.5)
    assert estimates[2][1].value == pytest.approx((10 + 12 + 14 + 12) / 4)
    assert estimates[2][1].variance == pytest.approx(1 / 4)


def test_time_between_readings_is_in_microseconds_and_lets_the_estimate_drift():
    estimates, _ = fused([(0, 10.0), (2 * S, 14.0)], drift_variance_per_s=1.5)

    # variance 1 + 3 before the second reading of variance 1: it counts for 4/5
    assert estimates[1] == (2 * S, Estimate(pytest.approx(13.2), pytest.approx(0.8)))


def test_a_reading_that_the_gate_refuses_is_counted_and_sends_nothing():
    estimates, counters = fused(
        [(0, 20.0), (1, 20.0), (2, 99.0), (3, float("nan")), (4, 20.0)], gate_sigmas=3.0
    )

    assert [at for at, _ in estimates] == [0, 1, 4]
    assert counters == {"refused": 2}


def test_one_good_reading_beside_a_refused_one_is_sent():
    estimates, counters = fused([(0, 20.0), (1, 99.0)], [(1, 20.0)], gate_sigmas=3.0)

    assert estimates[1] == (1, Estimate(20.0, 0.5))
    assert counters == {"refused": 1}


def test_each_sensor_has_the_noise_of_the_calibration():
    calibration = RoomCalibration(
        sensors={"good": SensorCalibration(noise_variance=0.5), "bad": SensorCalibration(noise_variance=1.5)}
    )
    seen = []
    with penstock.CalculatorGraph(graph_of(["a", "b"], 'sensor: "bad" sensor: "good"')) as graph:
        graph.set_service(CALIBRATION, calibration)
        graph.observe_output_stream("estimate", lambda _, packet: seen.append(packet.payload))
        graph.start_run()
        graph.add_packet_to_input_stream("a", penstock.Packet(10.0, 5))
        graph.add_packet_to_input_stream("b", penstock.Packet(14.0, 5))

    assert seen == [Estimate(pytest.approx(13.0), pytest.approx(0.375))]


def test_a_changed_calibration_takes_effect_in_the_next_run():
    calibration = RoomCalibration(sensors={"door": SensorCalibration(noise_variance=4.0)})
    seen = []
    graph = penstock.CalculatorGraph(graph_of(["a"], 'sensor: "door"'))
    graph.set_service(CALIBRATION, calibration)
    graph.observe_output_stream("estimate", lambda _, packet: seen.append(packet.payload.variance))
    for _ in range(2):
        graph.start_run()
        graph.wait_until_idle(30)
        calibration.calibrate("door", SensorCalibration(noise_variance=9.0))
        graph.add_packet_to_input_stream("a", penstock.Packet(10.0, 5))
        graph.close(30)

    assert seen == [4.0, 9.0]


def test_an_unknown_sensor_ends_the_run_and_the_graph_can_run_again():
    graph = penstock.CalculatorGraph(graph_of(["a"], 'sensor: "door"'))
    graph.start_run()
    with pytest.raises(penstock.GraphRunError, match="no sensor 'door' is calibrated; known are: none"):
        graph.wait_until_done(30)

    graph.set_service(CALIBRATION, RoomCalibration(sensors={"door": SensorCalibration()}))
    graph.start_run()
    graph.close(30)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sensor": ["a"]}, "sensor has 1 names, but there are 2 inputs READING; name each sensor once"),
        (
            {"drift_variance_per_s": -1.0},
            "drift_variance_per_s of the sensor fusion is -1, but must be 0 or more, and finite",
        ),
        (
            {"gate_sigmas": float("nan")},
            "gate_sigmas of the sensor fusion is nan, but must be 0 or more, and finite",
        ),
    ],
)
def test_invalid_options_are_refused_when_the_graph_is_loaded(options, message):
    with pytest.raises(penstock.GraphConfigError, match=message):
        fused([(0, 1.0)], [(0, 1.0)], **options)


def test_a_node_without_a_sensor_is_refused():
    with pytest.raises(penstock.PenstockError, match="READING"):
        penstock.CalculatorGraph(graph_of([]))


def test_it_follows_the_rules_for_calculators():
    services = {CALIBRATION: RoomCalibration()}
    shown = check_calculator("SensorFusionCalculator", services=services)
    gated = check_calculator(
        "SensorFusionCalculator",
        services=services,
        options=SensorFusionCalculatorOptions(drift_variance_per_s=0.5, gate_sigmas=2.0),
    )

    assert shown.packets_out > 0
    assert gated.packets_out > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_readings_of_four_sensors_in_any_order_of_arrival_give_what_a_plain_loop_gives(seed):
    order = random.Random(seed)  # noqa: S311  # a test's order
    sensors = ["a", "b", "c", "d"]
    feeds = {
        name: [(at, 20 + order.gauss(0, 1)) for at in sorted(order.sample(range(1, 400_000), 250))]
        for name in sensors
    }
    seen = []
    config = f"num_threads: 3 {graph_of(sensors, 'drift_variance_per_s: 0.5 gate_sigmas: 4')}"
    with penstock.CalculatorGraph(config) as graph:
        graph.observe_output_stream("estimate", lambda _, p: seen.append((int(p.timestamp), p.payload)))
        graph.start_run()
        waiting = {name: list(feed) for name, feed in feeds.items()}
        while waiting:
            name = order.choice(sorted(waiting))
            at, reading = waiting[name].pop(0)
            graph.add_packet_to_input_stream(name, penstock.Packet(reading, at))
            if not waiting[name]:
                graph.close_input_stream(name)
                del waiting[name]

    assert seen == plain_loop(sensors, feeds)
    assert graph.ledger().adds_up


def plain_loop(sensors, feeds):
    """Return the estimates that a loop over all readings, sorted by time and sensor, computes."""
    followed = RandomWalkFilter(0.5, 4.0)
    expected = {}
    last = None
    for at, _, reading in sorted(
        (at, position, reading) for position, name in enumerate(sensors) for at, reading in feeds[name]
    ):
        if last is not None and at != last:
            followed.wait((at - last) / 1e6)
        last = at
        if followed.take(reading, 1.0):
            expected[at] = followed.estimate
    return list(expected.items())
