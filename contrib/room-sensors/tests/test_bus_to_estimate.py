"""The whole pack together: a thousand readings of four sensors on one bus, fused, at ticks, on threads."""

from __future__ import annotations

import random

import pytest

import penstock
from penstock_room_sensors.calibration import CALIBRATION, RoomCalibration, SensorCalibration
from penstock_room_sensors.kalman import RandomWalkFilter
from penstock_room_sensors.sensor_bus import SENSOR_BUS, SensorBus

PATIENCE_S = 60.0
ADDRESSES = range(1, 5)
TICKS = [400 * number for number in range(250)]
NOISE = {address: 0.5 * address for address in ADDRESSES}
OPTIONS = "type.googleapis.com/penstock_room_sensors"
READ = """
node {{
  calculator: "ReadSensorCalculator"
  name: "read_{address}"
  input_stream: "TICK:tick"
  output_stream: "READING:reading_{address}"
  node_options {{
    [{options}.ReadSensorCalculatorOptions] {{ address: {address} sensor: "sensor_{address}" }}
  }}
}}
"""
FUSE = """
node {{
  calculator: "SensorFusionCalculator"
  {inputs}
  output_stream: "ESTIMATE:estimate"
  node_options {{
    [{options}.SensorFusionCalculatorOptions] {{ {names} drift_variance_per_s: 0.5 }}
  }}
}}
"""
GRAPH = 'num_threads: 2 max_queue_size: 20 input_stream: "tick"' + "".join(
    [
        *(READ.format(address=address, options=OPTIONS) for address in ADDRESSES),
        FUSE.format(
            inputs=" ".join(f'input_stream: "READING:{n - 1}:reading_{n}"' for n in ADDRESSES),
            names=" ".join(f'sensor: "sensor_{n}"' for n in ADDRESSES),
            options=OPTIONS,
        ),
    ]
)


class Scripted:
    """A driver whose sensors give readings from a random seed, one for each call, or no answer."""

    def __init__(self, seed):
        order = random.Random(seed)  # noqa: S311  # a test's data
        self.script = {
            address: [None if order.random() < 0.1 else 20 + order.gauss(0, 1) for _ in TICKS]
            for address in ADDRESSES
        }
        self.is_open = False
        self._next = {address: iter(said) for address, said in self.script.items()}

    def open(self):
        assert not self.is_open
        self.is_open = True

    def read(self, address):
        assert self.is_open
        said = next(self._next[address])
        if said is None:
            raise TimeoutError(f"no answer from {address}")
        return said

    def close(self):
        assert self.is_open
        self.is_open = False


def expected(script):
    """Return the estimates that a loop over the script computes."""
    followed = RandomWalkFilter(0.5)
    found = []
    for number, at in enumerate(TICKS):
        used = [
            followed.take(said[number], NOISE[n]) for n, said in script.items() if said[number] is not None
        ]
        if used:
            found.append((at, followed.estimate))
        followed.wait(400 / 1e6)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_readings_over_one_bus_give_what_a_plain_loop_gives(seed):
    driver = Scripted(seed)
    seen = []
    with penstock.CalculatorGraph(GRAPH) as graph:
        graph.set_service(SENSOR_BUS, SensorBus("rs485", driver))
        graph.set_service(
            CALIBRATION,
            RoomCalibration(
                sensors={f"sensor_{n}": SensorCalibration(noise_variance=NOISE[n]) for n in ADDRESSES}
            ),
        )
        graph.observe_output_stream("estimate", lambda _, p: seen.append((int(p.timestamp), p.payload)))
        graph.start_run()
        for at in TICKS:
            graph.add_packet_to_input_stream("tick", penstock.Packet(None, at))
        graph.close(PATIENCE_S)

    assert [at for at, _ in seen] == [at for at, _ in expected(driver.script)]
    for (_, found), (_, wanted) in zip(seen, expected(driver.script), strict=True):
        assert found.value == pytest.approx(wanted.value, rel=1e-9)
        assert found.variance == pytest.approx(wanted.variance, rel=1e-9)
    silent = sum(said is None for script in driver.script.values() for said in script)
    assert sum(graph.counters[f"read_{n}-unanswered"] for n in ADDRESSES) == silent > 0
    assert graph.ledger().adds_up
    assert not driver.is_open
