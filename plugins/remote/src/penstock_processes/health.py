"""Checks that a worker process starts and answers. Imported when `penstock doctor` runs."""

from __future__ import annotations

import statistics
import sys
from contextlib import closing
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import penstock
from penstock import DoctorCheck
from penstock.errors import PenstockError
from penstock.packs import default_registry
from penstock_processes.process_executor import ProcessExecutor

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROUND_TRIPS = 50
_PATIENCE_S = 60.0
_WHAT = "worker process"
_GRAPH = """
input_stream: "in"
node { calculator: "EchoCalculator" executor: "workers" input_stream: "in" output_stream: "out" }
executor { name: "workers" }
"""


class EchoCalculator(penstock.Calculator):
    """Passes its input on: what the doctor asks a worker to do."""

    @classmethod
    def get_contract(cls, cc: penstock.CalculatorContract) -> None:
        """Declare one input and one output of any type."""
        cc.inputs[0].set_any()
        cc.outputs[0].set_same_as(cc.inputs[0])
        cc.set_timestamp_offset(0)

    def process(self, cc: penstock.CalculatorContext) -> None:
        """Pass the packet on."""
        cc.output.add_packet(cc.input.packet)


def checks() -> Iterator[DoctorCheck]:
    """Yield one check: whether a worker starts, how long that takes, and what a round trip costs."""
    try:
        start, small, frame = _measure()
    except (PenstockError, OSError) as error:
        cure = "read the worker's own words above; `penstock doctor` in a terminal shows them"
        yield DoctorCheck(_WHAT, is_well=False, detail=f"{type(error).__name__}: {error}", cure=cure)
        return
    said = f"started in {start:.1f} s; there and back: {small:.0f} µs, a 720p image {frame:.0f} µs"
    yield DoctorCheck(_WHAT, is_well=True, detail=f"{said}; Python {sys.version.split()[0]}")


def _measure() -> tuple[float, float, float]:
    """Return seconds to start a worker, and median microseconds of a round trip, small and of an image."""
    registry = default_registry().child()
    registry.add("calculator", "EchoCalculator", EchoCalculator)
    with (
        closing(ProcessExecutor(1)) as executor,
        penstock.CalculatorGraph(_GRAPH, registry=registry) as graph,
    ):
        graph.set_executor("workers", executor)
        begin = perf_counter()
        graph.start_run()
        graph.wait_until_idle(_PATIENCE_S)
        start = perf_counter() - begin
        small = _time(graph, 0, 0)
        return start, small, _time(graph, np.zeros((720, 1280, 3), np.uint8), _ROUND_TRIPS)


def _time(graph: penstock.CalculatorGraph, payload: Any, first: int) -> float:
    times = []
    for number in range(_ROUND_TRIPS):
        begin = perf_counter()
        graph.add_packet_to_input_stream("in", penstock.Packet(payload, first + number))
        graph.wait_until_idle(_PATIENCE_S)
        times.append(perf_counter() - begin)
    return statistics.median(times) * 1e6
