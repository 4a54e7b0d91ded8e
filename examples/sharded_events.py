"""Events of many sensors over eight replicas of a node with state: on threads, in workers, on a cluster.

    python examples/sharded_events.py [--on threads|workers|cluster ...] [--events 5000] [--address HOST:PORT]

Each event is a sensor's name and a value. A node keeps the last values of every sensor and finds after how
many of them they repeat: pure Python, a millisecond an event. One node is all that one core can do; so
events are split by sensor over eight replicas, each of which has its own sensors' values, and joined again
in order. Where the replicas run is one word in the graph, and what comes out is the same everywhere. The
script runs each way that is asked for, and prints how many events each has done in a second.

A cluster needs Ray, which the extra `ray` of Penstock brings. Without an address one is started on this
machine.
"""

from __future__ import annotations

import argparse
import math
from collections import deque
from time import perf_counter

import penstock

GRAPH = """
max_queue_size: 100
input_stream: "event"
output_stream: "period"
executor {{ name: "{on}" type: "{executor}" options {{ {options} }} }}
node {{ calculator: "SensorOf" input_stream: "EVENT:event" output_stream: "OUT:sensor" }}
node {{
  calculator: "ShardedSubgraph"
  input_stream: "KEY:sensor"
  input_stream: "event"
  output_stream: "period"
  options {{
    [mediapipe.TemplateSubgraphOptions.ext] {{
      dict {{
        arg {{ key: "node_type" value {{ str: "PeriodCalculator" }} }}
        arg {{ key: "replicas" value {{ num: 8 }} }}
        arg {{ key: "executor" value {{ str: "{on}" }} }}
      }}
    }}
  }}
}}
"""
EXECUTORS = {
    "threads": ("ThreadPoolExecutor", "[penstock.ThreadPoolExecutorOptions.ext] {{ num_threads: 2 }}"),
    "workers": (
        "ProcessExecutor",
        "[penstock_processes.ProcessExecutorOptions.ext] {{ num_processes: {workers} }}",
    ),
    "cluster": (
        "RayExecutor",
        '[penstock_ray.RayExecutorOptions.ext] {{ address: "{address}" placement: SPREAD batch: 32 }}',
    ),
}
SENSORS = 16
#: The longest period that is looked for.
MOST = 100


@penstock.register_calculator
@penstock.calculator
def sensor_of(event: tuple) -> str:
    """Return the sensor that an event, (sensor, value), comes from."""
    return event[0]


@penstock.register_calculator
class PeriodCalculator(penstock.Calculator):
    """Finds after how many values those of a sensor repeat.

    Input: events, tuples of the sensor's name and a float. Output: tuples of the sensor's name and the
    period in values, an int; 0 until a sensor has had 101 values.
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Take events, give periods."""
        cc.inputs[0].set(tuple, "the sensor's name and its value")
        cc.outputs[0].set(tuple, "the sensor's name and the period of its values")
        cc.set_timestamp_offset(0)

    def open(self, cc: penstock.CalculatorContext) -> None:  # noqa: ARG002  # the interface
        """Begin without values."""
        self._values: dict[str, deque[float]] = {}

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Add the value, and look for the period."""
        sensor, value = cc.input.payload
        values = self._values.setdefault(sensor, deque(maxlen=400))
        values.append(value)
        cc.output.add((sensor, period_of(list(values))), cc.input_timestamp)


def period_of(values: list[float]) -> int:
    """Return the shift, 2 to `MOST`, at which values are most like themselves; 0 if there are too few."""
    if len(values) <= MOST:
        return 0
    return max(range(2, MOST + 1), key=lambda shift: sum(map(float.__mul__, values, values[shift:])))


def events(count: int) -> list[tuple[str, float]]:
    """Return events of sensors in turn; the values of each are a wave of its own length."""
    return [
        (f"sensor {n % SENSORS}", math.sin(2 * math.pi * (n // SENSORS) / (5 + n % SENSORS)))
        for n in range(count)
    ]


def run(on: str, given: list[tuple[str, float]], workers: int, address: str) -> tuple[float, list[object]]:
    """Run the graph; return events per second, and what came out."""
    executor, options = EXECUTORS[on]
    text = GRAPH.format(on=on, executor=executor, options=options.format(workers=workers, address=address))
    got: list[object] = []
    with penstock.CalculatorGraph(text) as graph:
        graph.observe_output_stream("period", lambda _, packet: got.append(packet.payload))
        graph.start_run()  # workers and actors start now
        graph.wait_until_idle()
        begin = perf_counter()
        for number, event in enumerate(given):
            graph.add_packet_to_input_stream("event", penstock.Packet(event, number))
        graph.close()
        spent = perf_counter() - begin
    return len(got) / spent, got


def main() -> None:
    """Run each way, and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--on", nargs="+", choices=list(EXECUTORS), default=["threads", "workers"], help="(threads workers)"
    )
    parser.add_argument("--events", type=int, default=5_000, help="how many (5000)")
    parser.add_argument("--workers", type=int, default=2, help="processes (2)")
    parser.add_argument("--address", default="", help="of a Ray cluster (one on this machine)")
    asked = parser.parse_args()
    given = events(asked.events)
    results = []
    for on in asked.on:
        speed, got = run(on, given, asked.workers, asked.address)
        results.append(got)
        print(f"{on}: {speed:.0f} events/s", flush=True)
    if all(len(got) == len(given) and got == results[0] for got in results):
        print(f"all {len(given)} events came out everywhere, the same and in the same order")
    else:
        print("the results differ")


if __name__ == "__main__":  # workers import this file
    main()
