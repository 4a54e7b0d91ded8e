"""The graph that is measured and simulated: events split by key over replicas, each in a worker.

A program that runs it is a driver. Each event says how long it works: so long in Python, and so long on a
device, where it uses no processor. `order: PER_KEY` without bounds: no replica waits for another.
"""

from __future__ import annotations

import os
import time
from typing import Final, Literal

import attrs

import penstock

#: Events that a driver has done before it is measured.
WARM_UP: Final = 300

#: Where replicas are.
Where = Literal["driver", "workers", "cluster"]

_SHARDED: Final = """
node {{ calculator: "BenchKeyOf" input_stream: "EVENT:event" output_stream: "OUT:key" }}
node {{
  calculator: "ShardedSubgraph"
  input_stream: "KEY:key"
  input_stream: "event"
  output_stream: "done"
  options {{
    [mediapipe.TemplateSubgraphOptions.ext] {{
      dict {{
        arg {{ key: "node_type" value {{ str: "BenchStepCalculator" }} }}
        arg {{ key: "replicas" value {{ num: {shards} }} }}
        arg {{ key: "executor" value {{ str: "{executor}" }} }}
        arg {{ key: "order" value {{ str: "PER_KEY" }} }}
        arg {{ key: "bound_interval_us" value {{ num: -1 }} }}
      }}
    }}
  }}
}}
"""
_STATELESS: Final = """
node {{
  calculator: "BenchStepCalculator" executor: "{executor}" max_in_flight: {in_flight}
  input_stream: "event" output_stream: "done"
  failure {{ on_error: RESTART retry: 1 }}
}}
"""
_EXECUTORS: Final = {
    "driver": "",
    "workers": """executor {{
      name: "elsewhere" type: "ProcessExecutor"
      options {{ [penstock_processes.ProcessExecutorOptions.ext] {{ num_processes: {workers} }} }}
    }}""",
    "cluster": """executor {{
      name: "elsewhere" type: "RayExecutor"
      options {{ [penstock_ray.RayExecutorOptions.ext] {{ num_actors: {workers} batch: {batch} }} }}
    }}""",
}


@attrs.frozen
class Layout:
    """What one driver has, and what an event costs its worker besides the call."""

    #: Replicas; or copies of a stateless node, which get events in turns.
    shards: int = 8
    #: Processes that they are spread over; shard k is in worker k modulo this.
    workers: int = 8
    #: Microseconds of Python an event.
    compute_us: float = 0.0
    #: Microseconds an event that a device works, during which the worker's processor is free.
    wait_us: float = 0.0
    #: Events that wait before a replica at most.
    queue: int = 100
    #: Events of the driver that wait there or are in calls, at most; 0 is no limit.
    in_flight: int = 0
    #: Whether any replica may take any event.
    stateless: bool = False
    #: Events that go together at most; more than 1 only where they are stateless.
    batch: int = 1
    #: Calls, each with its batch, that a replica has under way at most.
    messages: int = 1


def graph_text(layout: Layout, where: Where) -> str:
    """Return the graph of a driver; the replicas of a stateless layout are copies of one node."""
    settings = {**attrs.asdict(layout), "executor": "" if where == "driver" else "elsewhere"}
    node = _STATELESS if layout.stateless else _SHARDED
    head = f'max_queue_size: {layout.queue} input_stream: "event" output_stream: "done"'
    return "".join([head, _EXECUTORS[where].format(**settings), node.format(**settings)])


@penstock.register_calculator
@penstock.calculator
def bench_key_of(event: tuple) -> str:  # type: ignore[type-arg]  # a payload's class
    """Return the key of an event."""
    key: str = event[0]
    return key


@penstock.register_calculator
class BenchStepCalculator(penstock.Calculator):
    """Works as long as an event says.

    Input: tuples of the key, microseconds of Python and microseconds on a device. Output: tuples of the id
    of this process and the seconds of processor time that it has used.
    """

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Take events, tell what this process has used."""
        cc.inputs[0].set(tuple, "the key, and how long to work")
        cc.outputs[0].set(tuple, "process id and processor time")
        cc.set_timestamp_offset(0)
        cc.declare(stateless=True)

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Work."""
        _, compute_us, wait_us = cc.input.payload
        if compute_us:
            end = time.thread_time() + compute_us * 1e-6
            while time.thread_time() < end:
                pass
        if wait_us:
            time.sleep(wait_us * 1e-6)
        cc.output.add((os.getpid(), time.process_time()), cc.input_timestamp)
